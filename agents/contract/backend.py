"""One kind of agent on this computer, and one conversation with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from agents.contract.archive import SessionArchive
from agents.contract.asks import UserChannel
from agents.contract.events import AgentEvent
from agents.contract.ids import InputId, SessionId
from agents.contract.prompts import Prompt, SessionSpec


class AgentSession(Protocol):
    """One conversation with an agent. All methods belong to the engine's event loop."""

    @property
    def session_id(self) -> SessionId | None:
        """The id to resume by; None until the agent has told one."""

    @property
    def pid(self) -> int | None:
        """The process that serves this session (it may serve others too), None when it is gone."""

    @property
    def last_heard(self) -> float:
        """Monotonic seconds of the last byte from the agent."""

    @property
    def events(self) -> AsyncIterator[AgentEvent]:
        """One consumer; ends after ProcessExited."""

    async def prompt(self, prompt: Prompt) -> InputId:
        """Begin a turn. Returns when the agent's process has the bytes; raises AgentGoneError otherwise.

        Only while no turn runs; a caller that has more queues it or calls ``steer``.
        """

    async def steer(self, prompt: Prompt) -> InputId | None:
        """Give a text to the running turn. None: not possible now, queue it. InputConsumed/InputReturned follow."""

    async def interrupt(self) -> None:
        """Stop the running turn; TurnFinished(INTERRUPTED) follows. Open requests are withdrawn. Idle: no effect."""

    async def stop_background(self) -> None:
        """End what the session left running in the background."""

    async def set_mode(self, mode: str) -> None: ...

    async def set_model(self, model: str) -> None: ...

    async def set_effort(self, effort: str) -> None: ...

    async def close(self) -> None:
        """End the session and, when nothing else uses it, its process with all its children. Never raises."""


class ReasonPath(StrEnum):
    """How a denial's reason reaches the agent."""

    IN_PROTOCOL = "in the protocol"
    FOLLOW_UP = "by a follow-up message"


@dataclass(frozen=True, slots=True)
class AgentTraits:
    """What this kind of agent can do, measured; the bridge decides by these, never by the agent's name."""

    title: str
    reason_path: ReasonPath
    can_steer: bool
    is_process_shared: bool
    ends_turn_on_denial: bool = False
    can_ask_questions: bool = True
    default_mode: str = ""
    runs_unasked: str = ""
    """What ``default_mode`` lets pass, to be read after "Runs without asking: ": no capital letter, no full stop."""


class LoginState(StrEnum):
    """Whether the agent has an account to work with."""

    LOGGED_IN = "logged in"
    LOGGED_OUT = "not logged in"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AgentHealth:
    """What was found on this computer. ``problem``/``hint`` are sentences; empty = fine.

    ``detail`` is for the "more" button: every place that was tried.
    """

    kind: str
    title: str
    program: Path | None = None
    version: str = ""
    login: LoginState = LoginState.UNKNOWN
    problem: str = ""
    hint: str = ""
    is_usable: bool = False
    detail: str = ""


class AgentBackend(Protocol):
    """One kind of agent on this computer."""

    @property
    def kind(self) -> str:
        """Short stable name: claude, codex, qwen, hermes, demo, or the name of an ACP entry in the settings."""

    @property
    def traits(self) -> AgentTraits: ...

    @property
    def archive(self) -> SessionArchive | None: ...

    async def locate(self) -> None:
        """Look whether the program is there, without starting it. Raises AgentNotFoundError."""

    async def probe(self) -> AgentHealth:
        """Look at the program without starting a turn; never raises."""

    async def open(self, spec: SessionSpec, channel: UserChannel) -> AgentSession:
        """Start or join a process and open (or resume) a session.

        Raises AgentNotFoundError, AgentVersionError, AgentNotLoggedInError, SessionNotFoundError, AgentGoneError.
        """

    async def close(self) -> None:
        """End every process of this backend. Never raises."""
