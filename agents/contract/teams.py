"""Teams of agents that a person runs in a terminal: seen and spoken to from the hub, never started or ended by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable


class MemberState(StrEnum):
    """active: heard of within five minutes; idle: longer ago; ended: agreed to be shut down."""

    ACTIVE = "active"
    IDLE = "idle"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class TeamMember:
    """``unread`` messages wait in its inbox."""

    name: str
    state: MemberState
    model: str = ""
    cwd: Path | None = None
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Team:
    """A team without its lead, which is the person's own terminal session. ``is_running``: the lead's process lives."""

    name: str
    members: tuple[TeamMember, ...]
    is_running: bool


class TellState(StrEnum):
    """read: the member has emptied its inbox; waiting: the message lies in it; overwritten: another writer lost it."""

    READ = "read"
    WAITING = "waiting"
    OVERWRITTEN = "overwritten"


@dataclass(frozen=True, slots=True)
class TeamReply:
    """What a member wrote to the person; ``key`` is the same each time it is seen."""

    key: str
    sender: str
    text: str


class AgentTeams(Protocol):
    """The teams on this computer."""

    async def list(self) -> Sequence[Team]: ...

    async def tell(self, team: str, member: str, text: str) -> TellState:
        """Put a message into the member's own inbox. Raises AgentError."""

    async def replies(self, team: str) -> Sequence[TeamReply]: ...


@runtime_checkable
class TeamHost(Protocol):
    """A backend whose agents form teams."""

    @property
    def teams(self) -> AgentTeams: ...
