"""What an agent says while it works."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from agents.contract.asks import ToolKind
from agents.contract.ids import InputId, SessionId, ToolId


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A slash command the agent offers; ``name`` without the slash."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """A mode, model or effort level the agent really offers."""

    id: str
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The session is known to the agent. Comes once after opening, and again whenever its id or offers change."""

    session_id: SessionId
    cwd: Path
    version: str = ""
    model: str = ""
    mode: str = ""
    commands: tuple[AgentCommand, ...] = ()
    models: tuple[AgentChoice, ...] = ()
    modes: tuple[AgentChoice, ...] = ()
    efforts: tuple[AgentChoice, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn runs. ``is_unsolicited``: the agent began by itself (a background task ended)."""

    is_unsolicited: bool = False


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text while it is written: a preview, replaced by the AssistantText that follows."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantText:
    """A whole block of text (Markdown). The last one before TurnFinished is the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model thinks; shown only where the person asks for everything."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins; ``parent`` is the call of a helper agent it belongs to."""

    tool_id: ToolId
    tool: str
    kind: ToolKind
    title: str
    subject: str = ""
    parent: ToolId | None = None


class ToolStatus(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call is over; ``output`` may be megabytes long."""

    tool_id: ToolId
    status: ToolStatus
    output: str = ""
    exit_code: int | None = None
    diff: str = ""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of the agent's own list."""

    text: str
    is_done: bool = False
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The agent's list of steps, whole each time."""

    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True)
class InputConsumed:
    """A steered or queued input reached the model."""

    input_id: InputId


@dataclass(frozen=True, slots=True)
class InputReturned:
    """A steered or queued input did not reach the model; the hub still has it and may queue it again."""

    input_id: InputId
    why: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a turn cost, as far as the agent says; None = not said."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    context_used: int | None = None
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class SpentSoFar:
    """What the running turn has cost until now, where the agent tells it; ``TurnFinished`` has the last word."""

    usage: Usage


class TurnOutcome(StrEnum):
    """How a turn ended that did not fail."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over. ``text`` is the final answer ("" when the agent said nothing)."""

    outcome: TurnOutcome
    text: str = ""
    usage: Usage | None = None


class FailureKind(StrEnum):
    """Why a turn failed, as far as it changes what to do."""

    LOGIN = "login"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    NETWORK = "network"
    TOO_LONG = "too_long"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended by an error; the session lives on. ``resets_at`` is set when a quota tells its reset."""

    kind: FailureKind
    title: str
    hint: str = ""
    detail: str = ""
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """The agent tries its model again by itself; ``delay`` in seconds."""

    attempt: int
    of: int | None
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class QuotaWindow:
    """``used`` is a share from 0 to 1."""

    name: str
    used: float
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of the account's allowance."""

    windows: tuple[QuotaWindow, ...]
    is_exhausted: bool = False


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """Something that runs beside the turn."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class BackgroundTasks:
    """The whole set of what runs beside the turn; empty = nothing."""

    tasks: tuple[BackgroundTask, ...]


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The session's permission mode is another one now."""

    mode: str


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The agent named its session."""

    title: str


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """Something this version of the adapter has no name for; counted and logged once per ``name``."""

    name: str
    raw: str = field(repr=False, default="")


@dataclass(frozen=True, slots=True)
class ProcessExited:
    """The last event of a session. ``stderr`` holds at most the last 100 lines."""

    exit_code: int | None
    was_expected: bool
    hint: str = ""
    stderr: str = field(repr=False, default="")


AgentEvent = (
    SessionStarted
    | TurnStarted
    | TextDelta
    | AssistantText
    | Thought
    | ToolStarted
    | ToolFinished
    | Plan
    | InputConsumed
    | InputReturned
    | SpentSoFar
    | TurnFinished
    | TurnFailed
    | Retrying
    | Quota
    | BackgroundTasks
    | ModeChanged
    | TitleChanged
    | UnknownEvent
    | ProcessExited
)
