"""Judges the texts of messages: by TDLib where it is installed, by our own strict reader elsewhere.

Plain texts and given entities are always judged by our own rules, since there is nothing to parse in them.
Markdown modes are refused: nobody here should send them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol

from bridge.simulator import tdlib
from bridge.simulator.chats import Entity
from bridge.simulator.entities import SentText, finish, order
from bridge.simulator.errors import SOURCE_TOO_LONG, TEXT_EMPTY, ApiError, bad_request
from bridge.simulator.html import read_html

SOURCE_LIMIT = 1 << 15
"""Bytes of the source with its tags, refused before it is parsed."""


class Judge(Protocol):
    """Turns Telegram HTML into what is stored, or raises ApiError with Telegram's sentence."""

    def html(self, source: str, *, is_caption: bool) -> SentText: ...


class OwnJudge:
    """Our own reader of Telegram's HTML."""

    def html(self, source: str, *, is_caption: bool) -> SentText:
        text, entities = read_html(source)
        return finish(text, entities, is_caption=is_caption)


class TdlibJudge:
    """Telegram's own parser."""

    def html(self, source: str, *, is_caption: bool) -> SentText:
        try:
            sent = tdlib.send(source, caption=is_caption)
        except tdlib.TelegramBadRequest as error:
            raise ApiError(400, error.description) from None
        entities = (Entity(item.type, item.offset, item.length, _extra(item)) for item in sent.entities)
        return SentText(sent.text, tuple(sorted(entities, key=order)), len(sent.dropped))


def best_judge() -> Judge:
    """TDLib if it is here."""
    return TdlibJudge() if tdlib.is_available() else OwnJudge()


def judge_text(judge: Judge, source: str, mode: str, entities: Any = None, *, is_caption: bool = False) -> SentText:
    """The text as stored. ``entities`` is the Bot API's array, looked at only when no mode is given."""
    if not source and not is_caption:
        raise bad_request(TEXT_EMPTY)
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise bad_request("strings must be encoded in UTF-8") from None
    if size > SOURCE_LIMIT:
        raise bad_request(SOURCE_TOO_LONG)
    if mode.lower() == "html":
        return judge.html(source, is_caption=is_caption)
    if mode:
        raise bad_request("unsupported parse_mode")
    return finish(source, _given(entities), is_caption=is_caption)


def _given(entities: Any) -> Iterable[Entity]:
    if not isinstance(entities, list):
        return ()
    known = []
    for item in entities:
        if not isinstance(item, dict) or "type" not in item:
            raise bad_request("can't parse MessageEntity: type not found")
        extra = tuple((k, v) for k, v in sorted(item.items()) if k in {"url", "language", "custom_emoji_id"})
        known.append(Entity(str(item["type"]), int(item.get("offset", 0)), int(item.get("length", 0)), extra))
    return known


def _extra(item: tdlib.Entity) -> tuple[tuple[str, object], ...]:
    """TDLib's own words for a time become the letters of the Bot API."""
    fields = dict(item.extra)
    form = fields.pop("formatting_type", None)
    if form is not None:
        fields["date_time_format"] = _letters(json.loads(form))
    return tuple(sorted(fields.items()))


def _letters(form: dict[str, Any]) -> str:
    if form["@type"] == "dateTimeFormattingTypeRelative":
        return "r"
    date, time = (form.get(key, {}).get("@type", "") for key in ("date_precision", "time_precision"))
    letters = {"dateTimePartPrecisionLong": ("D", "T"), "dateTimePartPrecisionShort": ("d", "t")}
    return "w" * bool(form.get("show_day_of_week")) + letters.get(date, ("", ""))[0] + letters.get(time, ("", ""))[1]


def commands_in(text: str) -> tuple[Entity, ...]:
    """The command at the start of a person's text, marked as Telegram marks it."""
    if not text.startswith("/"):
        return ()
    end = next((at for at, char in enumerate(text) if char.isspace()), len(text))
    word = text[1:end].partition("@")[0]
    return (Entity("bot_command", 0, end),) if word.isascii() and word.replace("_", "").isalnum() else ()
