"""What the parts of the desk share: settings of now, clock, ids, registry, settlement, rules, lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bridge.clock import Clock
from bridge.config import BridgeConfig
from bridge.inbound import Person
from bridge.messenger import Keyboard
from bridge.pending import cards
from bridge.pending.records import AskKind, Decider
from bridge.pending.registry import LiveAsk, Registry
from bridge.pending.rulebook import Rulebook
from bridge.pending.settlement import Settlement
from bridge.store import Database


class RemoteLock(Protocol):
    """The second factor as the desk sees it; implemented by ``bridge.lock``."""

    @property
    def is_locked(self) -> bool: ...

    def touch(self) -> None:
        """A person who is on the list did something."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """Shared by the door, the waiting side and the incoming side; belongs to one desk."""

    config: Callable[[], BridgeConfig]
    database: Database
    clock: Clock
    new_id: Callable[[], str]
    registry: Registry
    settlement: Settlement
    rules: Rulebook
    lock: RemoteLock | None = None

    @property
    def is_locked(self) -> bool:
        return self.lock is not None and self.lock.is_locked

    def decider(self, person: Person) -> Decider:
        """A person of the chat with the role the settings of now give; nobody anonymous and no bot has one."""
        role = None if person.is_bot or person.is_anonymous else self.config().users.get(person.id)
        return Decider.of(person, role)

    def keyboard(self, live: LiveAsk) -> Keyboard:
        """The buttons an open request has now."""
        if live.kind is AskKind.QUESTION:
            return cards.question_keyboard(live)
        return cards.permission_keyboard(live, offers_session=self.config().allows_session_scope)

    def redraw(self, live: LiveAsk) -> None:
        """Show an open request as it is now."""
        self.settlement.revise(live, cards.open_card(live, is_locked=self.is_locked), self.keyboard(live))

    def time_left(self, live: LiveAsk) -> float:
        """By the stricter clock: the monotonic one may stand still while the computer sleeps."""
        return min(live.expires_at - self.clock.now(), live.due - self.clock.monotonic())
