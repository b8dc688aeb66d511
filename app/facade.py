"""What window, tray and command line may ask of a running hub: frozen rows out, plain verbs in. No Qt here.

The engine builds a ``Snapshot`` in its own thread and hands it over whole, so the window never reads live state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from agents.contract import Answers, Question
from app.health import HubView


class SessionState(StrEnum):
    """What a session does, as the Sessions page shows it."""

    WORKING = "working"
    WAITING = "waiting"
    IDLE = "idle"
    ASLEEP = "asleep"
    PARKED = "parked"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One topic with its session. Times are wall-clock seconds; ``memory`` in bytes, 0 = not known."""

    key: str
    topic: str
    chat_id: int
    topic_id: int | None
    agent: str
    folder: str
    state: SessionState
    since: float
    cost_usd: float | None = None
    memory: int = 0
    session_id: str = ""

    @property
    def link(self) -> str:
        """The topic's address in Telegram; "" for chats that have none."""
        text = str(self.chat_id)
        if not text.startswith("-100"):
            return ""
        return f"https://t.me/c/{text[4:]}" + (f"/{self.topic_id}" if self.topic_id else "")


@dataclass(frozen=True, slots=True)
class AskRow:
    """One open permission request or question."""

    id: str
    topic: str
    agent: str
    title: str
    subject: str
    risk: str
    asked_at: float
    expires_at: float
    is_permission: bool = True
    is_destructive: bool = False
    details: str = ""
    """The change, the plan or all arguments."""
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One project rule; made and undone in the window only."""

    id: str
    folder: str
    tool: str
    pattern: str
    made_at: float


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One decision of the past."""

    id: str
    at: float
    who: str
    way: str
    what: str
    verdict: str
    delivered: str


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """One update that was dropped because its chat or sender is not on the list."""

    key: str
    at: float
    reason: str
    chat_id: int
    user_id: int
    name: str


@dataclass(frozen=True, slots=True)
class HealthRow:
    """One line of the Health page; ``is_fine`` None = neither good nor bad. ``link``: an https address, or ""."""

    name: str
    value: str
    is_fine: bool | None = None
    hint: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class HubSnapshot:
    """Everything a window shows, at one moment."""

    view: HubView = field(default_factory=HubView)
    sessions: tuple[SessionRow, ...] = ()
    asks: tuple[AskRow, ...] = ()
    rules: tuple[RuleRow, ...] = ()
    audit: tuple[AuditRow, ...] = ()
    rejected: tuple[RejectedRow, ...] = ()
    health: tuple[HealthRow, ...] = ()
    pending: tuple[str, ...] = ()


class Facade(Protocol):
    """Verbs of the window; each runs in the engine's loop and may raise HubError."""

    async def snapshot(self) -> HubSnapshot: ...

    async def pause(self, is_paused: bool) -> None: ...

    async def decide(self, ask_id: str, *, allow: bool, confirmed: bool, reason: str) -> str:
        """Decide an open request; returns the sentence to show. ``confirmed``: the second step of a destructive one."""

    async def answer(self, ask_id: str, answers: Answers) -> str:
        """Answer all questions of an open request; returns the sentence to show."""

    async def make_rule(self, ask_id: str) -> str:
        """Allow what this request asks for the whole project from now on, and this request too."""

    async def undo_rule(self, rule_id: str) -> None: ...

    async def stop_session(self, key: str) -> None: ...

    async def reset_session(self, key: str) -> None: ...

    async def hibernate_session(self, key: str) -> None: ...

    async def desk_command(self, key: str) -> tuple[tuple[str, ...], str]:
        """Close the session's process; returns the command and the folder to go on with in a terminal."""

    async def unlock(self) -> None:
        """Open a locked hub: the person sits at the computer, no code is needed."""

    async def lock_now(self) -> None:
        """Lock at once; raises HubError when the lock is switched off."""

    async def keep_lock_secret(self, secret: str) -> None:
        """Keep a proven secret in the keyring, switch the lock on with it and leave it open for now."""

    async def accept_pending(self) -> None:
        """Say yes to security-relevant changes that were made in the settings file."""

    async def apply_settings(self, changes: Mapping[str, Any]) -> None:
        """Check and write changed settings ("hub.language": "ru"), then use them without a restart where possible."""
