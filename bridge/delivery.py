"""How the rooms of the bridge speak to the outbox: durable, paced, addressed by key, never by a sleep.

A *key* names one logical message for its whole life ("card:<ask id>", "status:<turn id>"): it can be revised
before it was sent, and the newest revision wins. Implemented by ``bridge.outbox``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeVar

from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import FileUpload, Keyboard

T = TypeVar("T")


class MessageClass(IntEnum):
    """Classes of the budget, most urgent first."""

    PROMPT = 0
    REPLY = 1
    FINAL = 2
    STATUS = 3
    CLOSING = 4
    PROGRESS = 5


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message. ``rings`` only for what needs a person; with ``files`` the ``part`` is their caption."""

    place: Place
    part: Part
    klass: MessageClass
    key: str = ""
    keyboard: Keyboard = ()
    rings: bool = False
    reply_to: int | None = None
    files: tuple[FileUpload, ...] = ()


@dataclass(frozen=True, slots=True)
class DeliveryState:
    """What became of a message: ``message_id`` None = not (yet) sent; ``failure`` a sentence when it never will be."""

    message_id: int | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class TopicLost:
    """A topic can't be written to: deleted, or closed (``is_closed``). What was on its way there is kept, parked."""

    place: Place
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class ChatMovedTo:
    """The group was upgraded: ids must be rewritten everywhere, old message ids are void. Told once for a chat."""

    old_chat_id: int
    new_chat_id: int


@dataclass(frozen=True, slots=True)
class WaitingUntil:
    """Telegram asked to leave a chat alone until ``until`` (wall clock, seconds)."""

    chat_id: int
    until: float


@dataclass(frozen=True, slots=True)
class RightsLost:
    """The bot lacks a right; ``is_for_chat``: nothing can be sent there until it is back (kicked, muted)."""

    chat_id: int
    reason: str
    is_for_chat: bool = True


@dataclass(frozen=True, slots=True)
class TokenRefused:
    """Telegram no longer accepts the bot's token; messages are kept."""


@dataclass(frozen=True, slots=True)
class StoreTrouble:
    """The outbox can't write its database (disk full): nothing is sent until it can."""

    reason: str


DeliveryEvent = TopicLost | ChatMovedTo | WaitingUntil | RightsLost | TokenRefused | StoreTrouble


class Delivery(Protocol):
    """The durable, paced way out."""

    def post(self, message: Outgoing) -> str:
        """Write the message durably and return its key; it is sent when the budget allows. Never blocks.

        Joins the caller's open store transaction when there is one.
        """

    def revise(
        self, key: str, part: Part, *, keyboard: Keyboard = (), klass: MessageClass = MessageClass.CLOSING
    ) -> None:
        """Change a posted message: in the queue, or by an edit. Revisions coalesce; an equal text is not sent.

        An unknown key is ignored with a log line.
        """

    def drop(self, key: str) -> None:
        """Forget a message that was not sent yet; of a sent one, progress that was not shown yet. Else no effect."""

    async def outcome(self, key: str) -> DeliveryState:
        """Wait until the message was sent or has failed for good."""

    def confirm(self, key: str, message_id: int) -> None:
        """A person acted on this message, so it is there: settles a send whose reply was lost."""

    def has_edit_waiting(self, key: str) -> bool:
        """Whether the message will be edited anyway: what it shows by then may be revised at no cost."""

    def is_known(self, key: str) -> bool:
        """Whether this message is there or on its way (also across restarts)."""

    def key_of(self, chat_id: int, message_id: int) -> str | None:
        """Which logical message a sent message is (also across restarts)."""

    def typing(self, place: Place) -> None:
        """Show "typing" if its own bucket allows; dropped otherwise."""

    async def paced(self, chat_id: int, call: Callable[[], Awaitable[T]]) -> T:
        """Make another call that counts (create a topic, delete, react) when the budget allows, as a command reply.

        Raises what ``call`` raises; FloodWaitError is honoured for the whole chat before it is raised.
        """

    def resume(self, place: Place) -> None:
        """A topic can be written to again: what was parked for it goes out."""

    def rehome(self, old: Place, new: Place) -> None:
        """What is parked for a lost topic goes to another one."""

    def resume_chat(self, chat_id: int) -> None:
        """The bot is back in a chat, or has its rights again."""

    def move_chat(self, old_chat_id: int, new_chat_id: int) -> None:
        """A group was upgraded: rewrite every row once; a second call does nothing."""
