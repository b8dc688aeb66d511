"""Telegram's own parser as a judge of message texts, offline: TDLib from the test dependency ``tdjson``.

``parse`` is what TDLib's ``parseTextEntities`` says, the call the Bot API server makes for parse_mode=HTML. ``send``
adds what sending does afterwards: cleaning, repair of entities, trimming, the length check and the budget of 100
entities. Parsing, cleaning and repair run in TDLib itself; trimming, length and budget follow the rules of TDLib's
sources (MessageEntity, MessageContent). It does not know what only Telegram's servers check: unknown users,
premium emoji, keyboards. Bare links come from ``automatic_entities``.

Blocking, but short: 0.1 to 0.9 ms for a usual message. The product runs without it; ask ``is_available`` first.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, cast

TEXT_LIMIT = 4096
"""Code points after parsing and trimming."""
CAPTION_LIMIT = 1024
SOURCE_LIMIT = 1 << 15
"""Bytes of the source with its tags; the Bot API server refuses a longer one before it parses."""
ENTITY_LIMIT = 100
"""Entities beyond are dropped without an error: code, pre, links and quotes count first, styles last."""

_STYLES = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
_NAMES = {
    "PreCode": "pre",
    "TextUrl": "text_link",
    "MentionName": "text_mention",
    "BlockQuote": "blockquote",
    "ExpandableBlockQuote": "expandable_blockquote",
    "CustomEmoji": "custom_emoji",
    "DateTime": "date_time",
    "EmailAddress": "email",
    "BotCommand": "bot_command",
    "PhoneNumber": "phone_number",
    "BankCardNumber": "bank_card_number",
    "MediaTimestamp": "media_timestamp",
}
# parseMarkdown is the one synchronous request that runs the clean-up of a message about to be sent. What it would
# read as Markdown travels as private-use characters.
_MASK = {ord(mark): 0xE100 + place for place, mark in enumerate("*_~|`[]()")}
_UNMASK = {masked: mark for mark, masked in _MASK.items()}
_INVISIBLE = frozenset(
    {0x20, 0x0A, 0xA0, 0x1680, 0x180E, 0x202E, 0x202F, 0x205F, 0x2800, 0x3000, 0xFEFF, 0xFFFC}
    | set(range(0x2000, 0x2010))
    | set(range(0xE0000, 0xE0080))
)

RawEntity = dict[str, Any]
_HTML = {"@type": "textParseModeHTML"}


class TelegramBadRequest(Exception):
    """Telegram's 400; ``description`` is the Bot API's own sentence."""

    def __init__(self, message: str) -> None:
        self.description = "Bad Request: " + _as_sentence(message)
        super().__init__(self.description)


@dataclass(frozen=True, slots=True)
class Entity:
    """A styled range in UTF-16 units; ``type`` is the Bot API's name, ``extra`` its url, language, ..."""

    type: str
    offset: int
    length: int
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as Telegram understands it."""

    text: str
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Sent(Parsed):
    """A text as Telegram stores it; ``dropped`` entities were beyond the budget."""

    dropped: tuple[Entity, ...] = ()


def is_available() -> bool:
    """Whether TDLib can be asked here (``tdjson`` is installed)."""
    return importlib.util.find_spec("tdjson") is not None


def parse(html: str) -> Parsed:
    """What the parser makes of ``html``; raises TelegramBadRequest as the Bot API would."""
    raw = _parse_raw(html)
    return Parsed(raw["text"], _entities(raw["entities"]))


def send(html: str, caption: bool = False) -> Sent:
    """What a person would get; raises TelegramBadRequest as sendMessage (or a caption) would."""
    if not html and not caption:
        raise TelegramBadRequest("Message text is empty")
    return _sent(_parse_raw(html), caption)


def send_markdown(markdown: str) -> Sent:
    """The same for parse_mode=MarkdownV2."""
    if not markdown:
        raise TelegramBadRequest("Message text is empty")
    return _sent(_parse_raw(markdown, {"@type": "textParseModeMarkdown", "version": 2}))


def send_entities(text: str, entities: Sequence[Entity]) -> Sent:
    """The same for a text with ``entities`` beside it."""
    if not text:
        raise TelegramBadRequest("Message text is empty")
    raw = [{"@type": "textEntity", "offset": e.offset, "length": e.length, "type": _raw_type(e)} for e in entities]
    return _sent({"text": text, "entities": raw})


def _sent(parsed: dict[str, Any], caption: bool = False) -> Sent:
    raw = _cleaned(parsed)
    text, kept = _trimmed(raw["text"], raw["entities"])
    if all(ord(char) in _INVISIBLE for char in text):
        if not caption:
            raise TelegramBadRequest("Text must be non-empty")
        if not text:
            return Sent("", ())
    if len(text) > (CAPTION_LIMIT if caption else TEXT_LIMIT):
        raise TelegramBadRequest("Message caption is too long" if caption else "Message is too long")
    budget, dropped = _within_budget(kept)
    return Sent(text, _entities(budget), _entities(dropped))


def automatic_entities(text: str) -> tuple[Entity, ...]:
    """What Telegram itself would link in bare text: addresses, mentions, commands, hashtags."""
    return _entities(_execute({"@type": "getTextEntities", "text": text})["entities"])


# --- TDLib --------------------------------------------------------------------------------------------------------


class _Library(Protocol):
    def td_execute(self, request: bytes) -> bytes | None: ...


@cache
def _library() -> _Library:
    import tdjson  # noqa: PLC0415 - 51 MB, a test dependency: loaded when a judgement is wanted

    library = cast(_Library, tdjson)
    library.td_execute(json.dumps({"@type": "setLogVerbosityLevel", "new_verbosity_level": 0}).encode())
    return library


def _execute(request: dict[str, Any]) -> dict[str, Any]:
    answer = _library().td_execute(json.dumps(request).encode())
    if answer is None:
        raise RuntimeError(f"TDLib gave no answer to {request['@type']}")
    value: dict[str, Any] = json.loads(answer)
    if value["@type"] == "error":
        raise TelegramBadRequest(value["message"])
    return value


def _parse_raw(source: str, mode: Mapping[str, Any] = _HTML) -> dict[str, Any]:
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise TelegramBadRequest("Can't parse entities: Text must be encoded in UTF-8") from None
    if size > SOURCE_LIMIT:
        raise TelegramBadRequest("Text is too long")
    return _execute({"@type": "parseTextEntities", "text": source, "parse_mode": mode})


def _cleaned(raw: dict[str, Any]) -> dict[str, Any]:
    masked = {"@type": "formattedText", "text": raw["text"].translate(_MASK), "entities": raw["entities"]}
    fixed = _execute({"@type": "parseMarkdown", "text": masked})
    return {"text": fixed["text"].translate(_UNMASK), "entities": fixed["entities"]}


# --- the rules of sending that no synchronous request reaches -------------------------------------------------------


def _trimmed(text: str, entities: list[RawEntity]) -> tuple[str, list[RawEntity]]:
    """Blanks go at the end, and at the start as far as the first entity."""
    text = text.rstrip(" \n")
    end = _utf16(text)
    kept = [{**e, "length": min(e["length"], end - e["offset"])} for e in entities if e["offset"] < end]
    first = min((e["offset"] for e in kept), default=end)
    head = min(len(text) - len(text.lstrip(" \n")), first)
    return text[head:], [{**e, "offset": e["offset"] - head} for e in kept]


def _within_budget(entities: list[RawEntity]) -> tuple[list[RawEntity], list[RawEntity]]:
    solid = [e for e in entities if _name(e) not in _STYLES]
    styles = _joined([e for e in entities if _name(e) in _STYLES])
    counted = [e for e in solid if _name(e) != "custom_emoji"] + styles
    free = [e for e in solid if _name(e) == "custom_emoji"]
    budget = sorted(free + counted[:ENTITY_LIMIT], key=_place)
    return budget, counted[ENTITY_LIMIT:]


def _joined(styles: list[RawEntity]) -> list[RawEntity]:
    """Touching runs of one style travel as one."""
    out: list[RawEntity] = []
    last: dict[str, RawEntity] = {}
    for entity in sorted(styles, key=_place):
        before = last.get(_name(entity))
        if before is not None and entity["offset"] <= before["offset"] + before["length"]:
            before["length"] = max(before["length"], entity["offset"] + entity["length"] - before["offset"])
            continue
        last[_name(entity)] = copy = {**entity}
        out.append(copy)
    return sorted(out, key=_place)


def _place(entity: RawEntity) -> tuple[int, int]:
    return entity["offset"], -entity["length"]


def _name(entity: RawEntity) -> str:
    kind: str = entity["type"]["@type"].removeprefix("textEntityType")
    return _NAMES.get(kind, kind.lower())


def _entities(raw: list[RawEntity]) -> tuple[Entity, ...]:
    return tuple(Entity(_name(e), e["offset"], e["length"], _extra(e["type"])) for e in raw)


def _raw_type(entity: Entity) -> dict[str, Any]:
    kinds = {name: kind for kind, name in _NAMES.items()}
    if not entity.extra.get("language"):
        kinds["pre"] = "Pre"
    return {"@type": "textEntityType" + kinds.get(entity.type, entity.type.capitalize()), **entity.extra}


def _extra(kind: dict[str, Any]) -> dict[str, Any]:
    return {
        key: json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
        for key, value in sorted(kind.items())
        if key != "@type" and value not in ("", None)
    }


def _utf16(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)


def _as_sentence(message: str) -> str:
    """The Bot API server lowers the first letter, unless the word is a CODE."""
    if len(message) < 2 or message[1] == "_" or (message[1].isascii() and message[1].isupper()):
        return message
    return message[0].lower() + message[1:]
