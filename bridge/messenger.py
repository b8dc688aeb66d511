"""The seam to a messenger: what the outbox and the router need of one, and how it fails.

Implemented by ``bridge.telegram.client``; the simulator stands behind the same client, not behind this seam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agents.contract import HubError
from bridge.inbound import Place
from bridge.markdown.part import Part


@dataclass(frozen=True, slots=True)
class Button:
    """An inline button: ``data`` (at most 64 bytes) comes back as ButtonPress, or ``url`` opens."""

    label: str
    data: str = ""
    url: str = ""


Keyboard = tuple[tuple[Button, ...], ...]
"""Rows of buttons; () = none."""


@dataclass(frozen=True, slots=True)
class FileUpload:
    """A file on its way to the messenger. Photo and album form are chosen by the client by ``is_photo``."""

    path: Path
    name: str
    is_photo: bool = False


# --- failures, each meaning one thing to do -----------------------------------------------------------------------


class MessengerError(HubError):
    """A call did not succeed."""


class FloodWaitError(MessengerError):
    """429: nothing may be called in this chat for ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__("Telegram asks to wait", detail=f"retry after {seconds:.0f} s")
        self.seconds = seconds


class MarkupRefusedError(MessengerError):
    """400 can't parse entities: send the plain slice."""


class TooLongError(MessengerError):
    """400 message is too long: split again."""


class NotModifiedError(MessengerError):
    """400 message is not modified: as good as done."""


class MessageGoneError(MessengerError):
    """400 message to edit (or reply to) not found."""


class TopicGoneError(MessengerError):
    """400 message thread not found: the topic was deleted, or topics are off."""


class TopicClosedError(MessengerError):
    """400 TOPIC_CLOSED."""


class ChatMovedError(MessengerError):
    """400 with migrate_to_chat_id."""

    def __init__(self, new_chat_id: int) -> None:
        super().__init__("The group was upgraded to a supergroup")
        self.new_chat_id = new_chat_id


class ForbiddenError(MessengerError):
    """403 or a 400 for missing rights: said in tray and log.

    ``is_for_chat``: nothing at all can be sent to the chat (kicked, muted); else only this call lacks a right.
    """

    is_for_chat: bool = True


class UnauthorizedError(MessengerError):
    """401/404: the token is wrong or revoked."""


class PressExpiredError(MessengerError):
    """400 query is too old: the press can't be answered any more; nothing to do."""


class OtherPollerError(MessengerError):
    """409: another program polls this bot."""


class UnreachableError(MessengerError):
    """The call surely did not reach the server (no connection): safe to send again."""


class OutcomeUnknownError(MessengerError):
    """The reply was lost: the message may have been delivered. Never sent again blindly."""


class RefusedError(MessengerError):
    """Any other 400: a bug of ours or an odd input."""


class Messenger(Protocol):
    """One bot account. Each method is one call; it raises only MessengerError and never retries."""

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
        """Send and return the message id."""

    async def edit_text(
        self, chat_id: int, message_id: int, part: Part, *, keyboard: Keyboard = (), as_plain: bool = False
    ) -> None: ...

    async def send_files(
        self,
        place: Place,
        files: Sequence[FileUpload],
        *,
        caption: Part | None = None,
        keyboard: Keyboard = (),
        is_silent: bool = True,
    ) -> int:
        """Send one file, or an album of 2-10; returns the first message id."""

    async def answer_press(self, press_id: str, text: str = "", *, is_alert: bool = False) -> None: ...

    async def show_typing(self, place: Place) -> None: ...

    async def react(self, chat_id: int, message_id: int, emoji: str) -> None: ...

    async def create_topic(self, chat_id: int, name: str) -> int: ...

    async def rename_topic(self, place: Place, name: str) -> None: ...

    async def delete_message(self, chat_id: int, message_id: int) -> None: ...

    async def download(self, file_id: str, to: Path) -> None:
        """At most 20 MiB; raises RefusedError beyond."""

    async def count_members(self, chat_id: int) -> int:
        """How many members a chat has, the bot included."""

    async def set_commands(self, chat_id: int, commands: Sequence[tuple[str, str]], language: str = "") -> None: ...
