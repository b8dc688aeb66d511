"""What Telegram's server remembers: accounts, chats, topics, posts. State only; the rules are elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

TOPIC_COLORS = (7322096, 16766590, 13338331, 9367192, 16749490, 16478047)
"""The six colours a topic may be created with (Bot API: createForumTopic)."""

GENERAL = 1
"""The id of General where an id is needed; messages there carry none."""


@dataclass(frozen=True, slots=True)
class Account:
    """A person or a bot."""

    id: int
    name: str
    username: str = ""
    is_bot: bool = False
    language: str = "en"


ANONYMOUS = Account(1087968824, "Group", "GroupAnonymousBot", is_bot=True)
"""What stands in ``from`` when an administrator hides behind the group."""


@dataclass(slots=True)
class BotRights:
    """The bot's standing in a chat; switches for tests. ``reads_all``: administrator, or privacy mode off."""

    is_member: bool = True
    was_kicked: bool = False
    is_admin: bool = True
    privacy: bool = True
    can_manage_topics: bool = True
    can_delete_messages: bool = True
    can_pin_messages: bool = True
    can_send_text: bool = True
    can_send_documents: bool = True
    can_send_photos: bool = True

    @property
    def reads_all(self) -> bool:
        return self.is_admin or not self.privacy

    def may(self, right: str) -> bool:
        """Whether an administrator's right is held."""
        return self.is_admin and bool(getattr(self, right))


@dataclass(frozen=True, slots=True)
class Entity:
    """``offset`` and ``length`` in UTF-16 units; ``extra`` are the Bot API's further fields (url, language...)."""

    type: str
    offset: int
    length: int
    extra: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """An inline button: ``data`` comes back when it is pressed, ``url`` opens, ``copy`` is copied."""

    label: str
    data: str = ""
    url: str = ""
    copy: str = ""
    style: str = ""


Keyboard = tuple[tuple[Key, ...], ...]


@dataclass(frozen=True, slots=True)
class Media:
    """A file in a post; ``kind`` as in the Bot API: photo, document, audio, voice, video, animation."""

    kind: str
    file_id: str
    unique_id: str
    name: str
    media_type: str
    size: int
    width: int = 0
    height: int = 0


@dataclass(slots=True)
class Topic:
    """A topic of a forum; ``id`` is the message id of the service message that created it."""

    id: int
    name: str
    color: int
    creator_id: int
    icon: str = ""
    is_closed: bool = False
    is_deleted: bool = False


@dataclass(slots=True)
class Post:
    """A message. ``text`` is the caption when there is ``media``; ``service`` is the Bot API's field and value."""

    id: int
    chat_id: int
    sender: Account
    date: float
    topic_id: int | None = None
    text: str = ""
    entities: tuple[Entity, ...] = ()
    media: Media | None = None
    album_id: str = ""
    reply_to: int | None = None
    keyboard: Keyboard = ()
    edits: int = 0
    edit_date: float = 0.0
    is_silent: bool = False
    is_anonymous: bool = False
    service: tuple[str, object] | None = None
    reactions: dict[int, tuple[str, ...]] = field(default_factory=dict)
    is_deleted: bool = False
    other: str = ""

    @property
    def is_topic_creation(self) -> bool:
        return self.service is not None and self.service[0] == "forum_topic_created"


@dataclass(slots=True)
class Chat:
    """A group, a forum group or a private chat. ``instance`` is the Bot API's chat_instance."""

    id: int
    kind: str
    title: str
    is_forum: bool = False
    instance: str = ""
    rights: BotRights = field(default_factory=BotRights)
    members: dict[int, Account] = field(default_factory=dict)
    admins: set[int] = field(default_factory=set)
    owner_id: int = 0
    topics: dict[int, Topic] = field(default_factory=dict)
    posts: dict[int, Post] = field(default_factory=dict)
    pinned: list[int] = field(default_factory=list)
    last_id: int = 0
    migrated_to: int | None = None
    is_general_closed: bool = False
    is_general_hidden: bool = False
    general_name: str = "General"
    is_started: bool = True

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def post(self, message_id: int) -> Post | None:
        """The message unless it is deleted or was never there."""
        post = self.posts.get(message_id)
        return None if post is None or post.is_deleted else post

    def live_topics(self) -> list[Topic]:
        return [topic for topic in self.topics.values() if not topic.is_deleted]

    def posts_of(self, topic_id: int | None) -> Iterator[Post]:
        """The living messages of a topic, oldest first; None = General."""
        return (post for post in self.posts.values() if post.topic_id == topic_id and not post.is_deleted)
