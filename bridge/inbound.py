"""What comes in from the messenger, parsed once at the edge. Frozen values; no library type gets past here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Place:
    """A topic of a chat; ``topic_id`` None is General (or a chat without topics)."""

    chat_id: int
    topic_id: int | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """Who did it. ``is_anonymous``: an administrator who hides behind the group (no id that could be trusted)."""

    id: int
    name: str = ""
    is_bot: bool = False
    is_anonymous: bool = False


class FileKind(StrEnum):
    """What kind of file a person sent."""

    PHOTO = "photo"
    DOCUMENT = "document"
    AUDIO = "audio"
    VOICE = "voice"
    VIDEO = "video"


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that lies at Telegram; ``size`` in bytes, 0 = not told."""

    kind: FileKind
    file_id: str
    name: str = ""
    media_type: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A text and/or files. ``reply_to`` is a person's own reply, never the implicit one to the topic's creation.

    ``other`` names content we can't take (location, contact, sticker, poll...), "" when there is none.
    ``text`` is the caption when there are files.
    """

    update_id: int
    place: Place
    message_id: int
    sender: Person
    date: float
    text: str = ""
    reply_to: int | None = None
    files: tuple[IncomingFile, ...] = ()
    album_id: str = ""
    other: str = ""
    is_edit: bool = False


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A pressed inline button. ``press_id`` is answered once, within about a minute."""

    update_id: int
    place: Place
    message_id: int
    sender: Person
    press_id: str
    data: str


@dataclass(frozen=True, slots=True)
class ReactionChange:
    """Reactions carry no topic; the message id says where. ``added`` are emoji new in this change."""

    update_id: int
    chat_id: int
    message_id: int
    sender: Person
    added: tuple[str, ...]


class TopicChange(StrEnum):
    """What happened to a topic; its deletion is never told."""

    CREATED = "created"
    RENAMED = "renamed"
    CLOSED = "closed"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """A topic was created, renamed, closed or reopened; ``name`` is set by the first two."""

    update_id: int
    place: Place
    sender: Person
    change: TopicChange
    name: str = ""


@dataclass(frozen=True, slots=True)
class ChatMoved:
    """A basic group became a supergroup: the old id and all old message ids are void."""

    update_id: int
    old_chat_id: int
    new_chat_id: int


@dataclass(frozen=True, slots=True)
class BotMembership:
    """The bot's own rights in a chat changed."""

    update_id: int
    chat_id: int
    is_member: bool
    can_manage_topics: bool


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    """Kept, counted, logged once per ``kind``."""

    update_id: int
    kind: str


Inbound = IncomingMessage | ButtonPress | ReactionChange | TopicEvent | ChatMoved | BotMembership | UnknownUpdate
