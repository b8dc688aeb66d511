"""Who may speak to the hub, and where: everything else is dropped with one log line that says why.

Pure apart from the log. It never answers anybody; what a refused person is told is the hub's business.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bridge.config import BridgeConfig, Role
from bridge.inbound import (
    BotMembership,
    ButtonPress,
    ChatMoved,
    Inbound,
    IncomingMessage,
    Person,
    ReactionChange,
    TopicEvent,
    UnknownUpdate,
)

log = logging.getLogger(__name__)

KEPT_REFUSALS = 50


class Refusal(StrEnum):
    """Why an update goes no further."""

    FOREIGN_CHAT = "chat is not on the list"
    FOREIGN_USER = "user is not on the list"
    ANONYMOUS = "anonymous administrator"
    BOT = "sent by a bot"
    UNKNOWN = "unknown kind of update"


@dataclass(frozen=True, slots=True)
class Refused:
    """One dropped update: ids, reason and wall clock, never its text; ``name`` is for the window only."""

    update_id: int
    kind: str
    chat_id: int
    user_id: int
    reason: Refusal
    at: float = 0.0
    name: str = ""

    def line(self) -> str:
        return f"dropped {self.kind} {self.update_id} in chat {self.chat_id} from user {self.user_id}: {self.reason}"


class Gate:
    """Judges each update once. ``recent`` and ``counts`` are for the window."""

    def __init__(self, config: BridgeConfig, now: Callable[[], float] = lambda: 0.0) -> None:
        self._now = now
        self._chats: frozenset[int] = config.chats
        self._users: Mapping[int, Role] = config.users
        self._moved_chats: set[int] = set()
        self.recent: deque[Refused] = deque(maxlen=KEPT_REFUSALS)
        self.counts: Counter[Refusal] = Counter()

    def reconfigure(self, config: BridgeConfig) -> None:
        self._chats, self._users = config.chats, config.users

    def follow_move(self, old_chat_id: int, new_chat_id: int) -> None:
        """A chat that was allowed stays allowed under its new id."""
        if self._is_ours(old_chat_id):
            self._moved_chats.add(new_chat_id)

    def role_of(self, person: Person) -> Role | None:
        return None if person.is_anonymous or person.is_bot else self._users.get(person.id)

    def judge(self, update: Inbound) -> Refused | None:
        """None = go on. A refusal is counted, kept and logged here, exactly once."""
        reason = self._reason(update)
        if reason is None:
            return None
        sender = getattr(update, "sender", None)
        refused = Refused(
            update_id=update.update_id,
            kind=update.kind if isinstance(update, UnknownUpdate) else type(update).__name__,
            chat_id=chat_of(update),
            user_id=sender.id if isinstance(sender, Person) else 0,
            reason=reason,
            at=self._now(),
            name=sender.name if isinstance(sender, Person) else "",
        )
        self.counts[reason] += 1
        self.recent.append(refused)
        log.info("%s", refused.line())
        return refused

    def _reason(self, update: Inbound) -> Refusal | None:
        if isinstance(update, UnknownUpdate):
            return Refusal.UNKNOWN
        if not self._is_ours(chat_of(update)):
            return Refusal.FOREIGN_CHAT
        if isinstance(update, ChatMoved | BotMembership):
            return None
        return self._reason_of(update.sender)

    def _reason_of(self, sender: Person) -> Refusal | None:
        if sender.is_anonymous:
            return Refusal.ANONYMOUS
        if sender.is_bot:
            return Refusal.BOT
        return None if sender.id in self._users else Refusal.FOREIGN_USER

    def _is_ours(self, chat_id: int) -> bool:
        return chat_id in self._chats or chat_id in self._moved_chats


def chat_of(update: Inbound) -> int:
    """The chat an update is about, 0 when it has none."""
    match update:
        case IncomingMessage() | ButtonPress() | TopicEvent():
            return update.place.chat_id
        case ReactionChange() | BotMembership():
            return update.chat_id
        case ChatMoved():
            return update.old_chat_id
        case _:
            return 0
