"""Telegram as the bridge's Messenger: each method is one Bot API call and raises only MessengerError.

Nothing is retried, paced or remembered here; that is the outbox's. Lives in the event loop's thread.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from telegram import InputFile

from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import FileUpload, Keyboard, NotModifiedError, OutcomeUnknownError, RefusedError
from bridge.redaction import quiet_http_logs
from bridge.telegram.api import CALL_POOL, POLL_POOL, ApiAddress, ApiBot, ApiRequest, fetch
from bridge.telegram.failures import FileTooBigError, NoTextError
from bridge.texts import tr

PHOTO_LIMIT = 10_000_000
"""Bytes; a larger picture goes out as a document."""
UPLOAD_LIMIT = 50_000_000
DOWNLOAD_LIMIT = 20 << 20
CAPTION_LIMIT = 1024
"""UTF-16 units; Bot API: sendDocument."""

UPDATE_KINDS = (
    "message",
    "edited_message",
    "callback_query",
    "message_reaction",
    "my_chat_member",
)
"""Told to Telegram with every poll: left out, an older setting of another program would stay in force."""


@dataclass(frozen=True, slots=True)
class BotAccount:
    """Who the bot is. ``reads_all``: privacy mode is off, so it sees plain messages without being administrator."""

    id: int
    username: str
    name: str
    reads_all: bool


@dataclass(frozen=True, slots=True)
class ChatFacts:
    """What a chat is and what the bot may do there, for the set-up and the doctor."""

    id: int
    title: str
    type: str
    is_forum: bool
    is_member: bool
    is_administrator: bool
    can_manage_topics: bool
    can_delete_messages: bool
    can_pin_messages: bool


class TelegramClient:
    """One bot account on the Bot API. Use as an async context manager; ``close`` is bounded by the caller."""

    def __init__(self, token: str, address: ApiAddress) -> None:
        quiet_http_logs()
        self._address = address
        self._polls = ApiRequest(address, pool=POLL_POOL)
        self._calls = ApiRequest(address, pool=CALL_POOL)
        self._file_root = f"{address.file_root()}{token}/"
        self._bot = ApiBot(
            token,
            base_url=address.call_root(),
            base_file_url=address.file_root(),
            request=self._calls,
            get_updates_request=self._polls,
        )

    async def __aenter__(self) -> Self:
        await self._polls.initialize()
        await self._calls.initialize()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._polls.shutdown()
        await self._calls.shutdown()

    # --- polling

    async def updates(self, offset: int | None, seconds: int) -> list[Mapping[str, object]]:
        """The next updates as they came; waits up to ``seconds`` (at most 50) at the server.

        ``offset`` confirms everything before it. Raises MessengerError.
        """
        parameters = {
            "offset": offset,
            "timeout": seconds,
            "limit": 100,
            "allowed_updates": json.dumps(UPDATE_KINDS),
        }
        found = await self._bot.call("getUpdates", parameters, read_timeout=seconds + 10.0)
        return [update for update in found if isinstance(update, dict)] if isinstance(found, list) else []

    async def renew_polls(self) -> None:
        """Throw away the connection of a silent poll and start with a fresh one."""
        await self._polls.shutdown()
        await self._polls.initialize()

    # --- facts

    async def me(self) -> BotAccount:
        """Who the bot is; also the cheapest way to see whether the token works."""
        found = _object(await self._bot.call("getMe", {}))
        return BotAccount(
            id=int(found.get("id", 0)),
            username=str(found.get("username", "")),
            name=str(found.get("first_name", "")),
            reads_all=found.get("can_read_all_group_messages") is True,
        )

    async def chat_facts(self, chat_id: int, bot_id: int) -> ChatFacts:
        """What the chat is and the bot's rights in it. Two calls."""
        chat = _object(await self._bot.call("getChat", {"chat_id": chat_id}))
        member = _object(await self._bot.call("getChatMember", {"chat_id": chat_id, "user_id": bot_id}))
        status = member.get("status")
        is_admin = status in ("administrator", "creator")

        def has(right: str) -> bool:
            return is_admin and member.get(right) is True

        return ChatFacts(
            id=int(chat.get("id", chat_id)),
            title=str(chat.get("title") or chat.get("first_name") or ""),
            type=str(chat.get("type", "")),
            is_forum=chat.get("is_forum") is True,
            is_member=is_admin or status == "member" or (status == "restricted" and member.get("is_member") is True),
            is_administrator=is_admin,
            can_manage_topics=has("can_manage_topics"),
            can_delete_messages=has("can_delete_messages"),
            can_pin_messages=has("can_pin_messages"),
        )

    async def webhook_url(self) -> str:
        """The address a webhook is set to, "" when there is none."""
        return str(_object(await self._bot.call("getWebhookInfo", {})).get("url") or "")

    async def remove_webhook(self) -> None:
        """Let polling work again; what waits at Telegram is kept."""
        await self._bot.call("deleteWebhook", {"drop_pending_updates": False})

    # --- Messenger

    async def send_text(
        self,
        place: Place,
        part: Part,
        *,
        keyboard: Keyboard = (),
        is_silent: bool = True,
        reply_to: int | None = None,
        as_plain: bool = False,
    ) -> int:
        """Send one message; returns its id."""
        parameters = {
            **_address_of(place),
            **_text_of(part, as_plain=as_plain),
            "disable_notification": True if is_silent else None,
            "reply_parameters": _reply(reply_to),
            "reply_markup": _markup(keyboard),
        }
        return _message_id(await self._bot.call("sendMessage", parameters))

    async def edit_text(
        self, chat_id: int, message_id: int, part: Part, *, keyboard: Keyboard = (), as_plain: bool = False
    ) -> None:
        """Change a message's text and buttons; a file's caption when the message is a file."""
        target = {"chat_id": chat_id, "message_id": message_id, "reply_markup": _markup(keyboard)}
        try:
            await self._bot.call("editMessageText", {**target, **_text_of(part, as_plain=as_plain)})
        except NoTextError:
            await self._bot.call("editMessageCaption", {**target, **_caption_of(part, as_plain=as_plain)})

    async def send_files(
        self,
        place: Place,
        files: Sequence[FileUpload],
        *,
        caption: Part | None = None,
        keyboard: Keyboard = (),
        is_silent: bool = True,
    ) -> int:
        """Send one file, or an album of 2-10 (without buttons: albums can't have any)."""
        shared: dict[str, object] = {**_address_of(place), "disable_notification": True if is_silent else None}
        contents = [await asyncio.to_thread(_read, file) for file in files]
        as_photos = all(
            file.is_photo and len(content) <= PHOTO_LIMIT for file, content in zip(files, contents, strict=True)
        )
        kind = "photo" if as_photos else "document"
        words = _caption_of(caption) if caption is not None else {}
        if len(files) == 1:
            upload = InputFile(contents[0], filename=files[0].name)
            parameters = {**shared, kind: upload, **words, "reply_markup": _markup(keyboard)}
            return _message_id(await self._bot.call(f"send{kind.capitalize()}", parameters))
        uploads = [
            InputFile(content, filename=file.name, attach=True) for file, content in zip(files, contents, strict=True)
        ]
        media = [{"type": kind, "media": upload.attach_uri} for upload in uploads]
        media[0] |= {key: str(value) for key, value in words.items() if value is not None}
        attached = {f"file{number}": upload for number, upload in enumerate(uploads)}
        found = await self._bot.call("sendMediaGroup", {**shared, "media": json.dumps(media), **attached})
        return _message_id(found[0] if isinstance(found, list) and found else None)

    async def answer_press(self, press_id: str, text: str = "", *, is_alert: bool = False) -> None:
        """Answer a press with a toast of at most 200 characters; free of the budget."""
        parameters = {"callback_query_id": press_id, "text": text[:200] or None, "show_alert": is_alert or None}
        await self._bot.call("answerCallbackQuery", parameters)

    async def show_typing(self, place: Place) -> None:
        """Show "typing" for five seconds."""
        await self._bot.call("sendChatAction", {**_address_of(place), "action": "typing"})

    async def react(self, chat_id: int, message_id: int, emoji: str) -> None:
        """Set the bot's one reaction; "" takes it away."""
        reaction = [{"type": "emoji", "emoji": emoji}] if emoji else []
        parameters = {"chat_id": chat_id, "message_id": message_id, "reaction": json.dumps(reaction)}
        await self._bot.call("setMessageReaction", parameters)

    async def create_topic(self, chat_id: int, name: str) -> int:
        """Make a topic (counts as a message in the budget); returns its id."""
        found = _object(await self._bot.call("createForumTopic", {"chat_id": chat_id, "name": name[:128]}))
        topic_id = found.get("message_thread_id")
        if not isinstance(topic_id, int):
            raise OutcomeUnknownError("The new topic has no id in the answer")
        return topic_id

    async def rename_topic(self, place: Place, name: str) -> None:
        """Give a topic another name; the same name is as good as done."""
        parameters: dict[str, object] = {"chat_id": place.chat_id, "name": name[:128]}
        if place.topic_id is not None:
            await self._topic_call("editForumTopic", {**parameters, "message_thread_id": place.topic_id})
        else:
            await self._topic_call("editGeneralForumTopic", parameters)

    async def reopen_topic(self, place: Place) -> None:
        """Open a closed topic; an open one is as good as done."""
        if place.topic_id is not None:
            parameters = {"chat_id": place.chat_id, "message_thread_id": place.topic_id}
            await self._topic_call("reopenForumTopic", parameters)
        else:
            await self._topic_call("reopenGeneralForumTopic", {"chat_id": place.chat_id})

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        """Delete a message; own ones up to 48 hours old."""
        await self._bot.call("deleteMessage", {"chat_id": chat_id, "message_id": message_id})

    async def download(self, file_id: str, to: Path) -> None:
        """Fetch a person's file, at most 20 MiB."""
        found = _object(await self._bot.call("getFile", {"file_id": file_id}))
        path, size = found.get("file_path"), found.get("file_size", 0)
        if not isinstance(path, str) or not path:
            raise RefusedError("Telegram gave no address for the file")
        if Path(path).is_absolute():
            # A Bot API server of one's own, started with --local, names a file on this computer.
            await asyncio.to_thread(shutil.copyfile, path, to)
            return
        if isinstance(size, int) and size > DOWNLOAD_LIMIT:
            raise FileTooBigError(tr("The file is too big: Telegram gives bots at most 20 MB."))
        content = await fetch(self._calls, self._file_root + quote(path), read_timeout=60.0)
        await asyncio.to_thread(to.write_bytes, content)

    async def count_members(self, chat_id: int) -> int:
        """How many members a chat has, the bot included."""
        count = await self._bot.call("getChatMemberCount", {"chat_id": chat_id})
        return count if isinstance(count, int) else 0

    async def set_commands(self, chat_id: int, commands: Sequence[tuple[str, str]], language: str = "") -> None:
        """The command list of one chat, in one language ("" = all others)."""
        parameters = {
            "commands": json.dumps([{"command": name, "description": text[:256]} for name, text in commands]),
            "scope": json.dumps({"type": "chat", "chat_id": chat_id}),
            "language_code": language or None,
        }
        await self._bot.call("setMyCommands", parameters)

    async def _topic_call(self, method: str, parameters: Mapping[str, object]) -> None:
        try:
            await self._bot.call(method, parameters)
        except NotModifiedError:
            return


# --- shapes of the wire -------------------------------------------------------------------------------------------


def _object(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _message_id(found: object) -> int:
    message_id = _object(found).get("message_id")
    if not isinstance(message_id, int):
        raise OutcomeUnknownError("The answer names no message")
    return message_id


def _address_of(place: Place) -> dict[str, object]:
    """General has no id on the wire: 1 would be answered with "message thread not found"."""
    topic_id = None if place.topic_id in (None, 1) else place.topic_id
    return {"chat_id": place.chat_id, "message_thread_id": topic_id}


def _text_of(part: Part, *, as_plain: bool) -> dict[str, object]:
    return {
        "text": part.text if as_plain else part.html,
        "parse_mode": None if as_plain else "HTML",
        "link_preview_options": '{"is_disabled":true}',
    }


def _caption_of(part: Part, *, as_plain: bool = False) -> dict[str, object]:
    if as_plain:
        return {"caption": part.text, "parse_mode": None}
    return {"caption": part.html, "parse_mode": "HTML"} if part.html else {}


def _reply(message_id: int | None) -> str | None:
    if message_id is None:
        return None
    return json.dumps({"message_id": message_id, "allow_sending_without_reply": True})


def _markup(keyboard: Keyboard) -> str | None:
    if not keyboard:
        return None
    rows = [
        [
            {"text": button.label, "url": button.url}
            if button.url
            else {"text": button.label, "callback_data": button.data}
            for button in row
        ]
        for row in keyboard
    ]
    return json.dumps({"inline_keyboard": rows}, ensure_ascii=False)


def _read(file: FileUpload) -> bytes:
    """The file's bytes; blocks. Raises RefusedError with a sentence for the person."""
    try:
        size = file.path.stat().st_size
        if size > UPLOAD_LIMIT:
            raise FileTooBigError(tr("The file {name} is too big: Telegram takes at most 50 MB.", name=file.name))
        if size == 0:
            raise RefusedError(tr("The file {name} is empty; Telegram takes no empty files.", name=file.name))
        return file.path.read_bytes()
    except OSError as error:
        raise RefusedError(tr("The file {name} can't be read.", name=file.name), detail=str(error)) from error
