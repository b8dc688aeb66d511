"""The contract between coding agents and the bridge.

Everything a coding agent can say (events, permission requests, questions, files) and everything the hub can ask
of it (prompt, steer, interrupt, archive) in one vocabulary. Adapters under ``agents/<kind>`` translate a protocol
into these values; the bridge never sees a wire shape. Standard library only, no I/O, usable from any thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NewType, Protocol

SessionId = NewType("SessionId", str)
"""The agent's own name of a session (Claude: UUID, Codex: thread id, ACP: sessionId)."""
AskId = NewType("AskId", str)
"""One permission request or question, unique over all processes and process generations of this hub's life."""
InputId = NewType("InputId", str)
"""One prompt or steering text handed to an agent; random, made by the adapter."""
ToolId = NewType("ToolId", str)
"""One tool call as the agent names it; unique inside a session."""


# --- errors -----------------------------------------------------------------------------------------------------


class HubError(Exception):
    """Base of every error a person may see: what happened, what to do, and the technical detail.

    ``title`` is one sentence without a token, key or prompt text; ``hint`` says what to do next;
    ``detail`` is for logs and the "more" button (program, path tried, last lines of stderr).
    """

    def __init__(self, title: str, hint: str = "", detail: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.hint = hint
        self.detail = detail


class AgentError(HubError):
    """An agent could not do what was asked."""


class AgentNotFoundError(AgentError):
    """The agent's program is not on this computer (detail: every path tried)."""


class AgentVersionError(AgentError):
    """The agent's program is too old, or its version can't be told."""


class AgentNotLoggedInError(AgentError):
    """The agent needs a login that only the person can do at the desk (hint: the command)."""


class AgentGoneError(AgentError):
    """The agent's process ended or never answered; open it again with ``SessionSpec.resume``."""


class SessionNotFoundError(AgentError):
    """The session to resume does not exist any more."""


# --- what goes to an agent --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture that travels inside the prompt."""

    data: bytes
    media_type: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file that already lies below the session's folder; the agent is told its path."""

    path: Path
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person wants done.

    ``text`` is delivered literally: no slash dispatch and no ``@path`` expansion, unless ``is_command`` says that
    it is one of the agent's own slash commands (then ``text`` begins with "/").
    """

    text: str
    images: tuple[ImagePart, ...] = ()
    files: tuple[FilePart, ...] = ()
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """How to open a session. ``None`` means the agent's own default.

    ``topic_key`` is unique and stable per topic ([a-z0-9]+); adapters use it to name what must not collide
    between topics of one process (MCP servers of Hermes).
    """

    cwd: Path
    topic_key: str
    resume: SessionId | None = None
    model: str | None = None
    mode: str | None = None
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class AgentLaunch:
    """The user's settings for one agent: replaces the program found, adds arguments and environment."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    mode: str | None = None


# --- asking the person ------------------------------------------------------------------------------------------


class ToolKind(StrEnum):
    """What a tool call does, as far as the agent says."""

    READ = "read"
    EDIT = "edit"
    EXECUTE = "execute"
    NETWORK = "network"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class AgentOption:
    """One of the agent's own answers to a permission request; shown in the audit, never chosen beyond "once"."""

    id: str
    label: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """The agent asks before it acts. ``subject`` is the exact command, path or address, never shortened.

    ``plan`` (Markdown) is set when the request is "approve this plan and leave plan mode".
    ``time_limit`` is how many seconds the agent itself waits before it denies (Hermes: 60), None = for ever.
    ``arguments`` is the tool's input as indented JSON where ``subject`` can't show it all (MCP tools).
    ``sub_agent`` names the helper of the agent that asks, empty for the agent itself.
    """

    id: AskId
    tool: str
    kind: ToolKind
    title: str
    subject: str
    cwd: Path
    reason: str = ""
    diff: str = ""
    plan: str = ""
    arguments: str = ""
    sub_agent: str = ""
    options: tuple[AgentOption, ...] = ()
    time_limit: float | None = None
    tool_id: ToolId | None = None


class Verdict(StrEnum):
    """The only two things an agent is ever told; "allow" always means once."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a permission request. ``reason`` reaches the agent with a denial where the protocol can."""

    verdict: Verdict
    reason: str = ""

    @property
    def is_allowed(self) -> bool:
        return self.verdict is Verdict.ALLOW


class QuestionKind(StrEnum):
    CHOICE = "choice"
    TEXT = "text"
    NUMBER = "number"
    CONFIRM = "confirm"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Choice:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``key`` is the agent's name for the answer; labels may be of any length."""

    key: str
    text: str
    header: str = ""
    kind: QuestionKind = QuestionKind.CHOICE
    choices: tuple[Choice, ...] = ()
    is_multiple: bool = False
    allows_free_text: bool = True
    is_required: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """Questions that the agent asks together and wants answered together."""

    id: AskId
    questions: tuple[Question, ...]
    title: str = ""
    sub_agent: str = ""
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The chosen labels or the typed text of one question; no values = skipped."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """The person does not answer (or time is up); ``reason`` reaches the agent where the protocol can."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file the agent wants the person to have; the path may be relative to the session's folder."""

    path: Path
    caption: str = ""


@dataclass(frozen=True, slots=True)
class FileDelivery:
    """What really became of a file: ``detail`` is a sentence for the agent."""

    is_delivered: bool
    detail: str


class UserChannel(Protocol):
    """The human on the other side, as one session sees them.

    Cancelling a task that awaits ``request`` or ``ask`` counts as a time-out: the agent is told "deny".
    """

    async def request(self, ask: PermissionRequest) -> Decision:
        """Wait for a decision. Never raises for "no answer": time-out and shutdown are denials with a reason."""

    async def ask(self, ask: QuestionRequest) -> Answers | Declined:
        """Wait for answers."""

    async def told(self, ask_id: AskId, *, delivered: bool) -> None:
        """The decision's bytes were taken by the agent's process (drained to its pipe), or could not be."""

    async def withdrawn(self, ask_id: AskId, why: str) -> None:
        """The agent cancelled its own request; the pending ``request``/``ask`` call is ended by the channel."""

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        """Hand a file to the person; checks that the path is inside the session's folder."""


# --- what an agent says -----------------------------------------------------------------------------------------


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
    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    tool_id: ToolId
    tool: str
    kind: ToolKind
    title: str
    subject: str = ""
    parent: ToolId | None = None


class ToolStatus(StrEnum):
    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class ToolFinished:
    tool_id: ToolId
    status: ToolStatus
    output: str = ""
    exit_code: int | None = None
    diff: str = ""


@dataclass(frozen=True, slots=True)
class PlanStep:
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


class TurnOutcome(StrEnum):
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over. ``text`` is the final answer ("" when the agent said nothing)."""

    outcome: TurnOutcome
    text: str = ""
    usage: Usage | None = None


class FailureKind(StrEnum):
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
    windows: tuple[QuotaWindow, ...]
    is_exhausted: bool = False


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class BackgroundTasks:
    """The whole set of what runs beside the turn; empty = nothing."""

    tasks: tuple[BackgroundTask, ...]


@dataclass(frozen=True, slots=True)
class BackgroundAbandoned:
    """These were ended together with the session."""

    tasks: tuple[BackgroundTask, ...]


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: str


@dataclass(frozen=True, slots=True)
class TitleChanged:
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
    | TurnFinished
    | TurnFailed
    | Retrying
    | Quota
    | BackgroundTasks
    | BackgroundAbandoned
    | ModeChanged
    | TitleChanged
    | UnknownEvent
    | ProcessExited
)


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


class LoginState(StrEnum):
    LOGGED_IN = "logged in"
    LOGGED_OUT = "not logged in"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AgentHealth:
    """What was found on this computer. ``problem``/``hint`` are sentences; empty = fine."""

    kind: str
    title: str
    program: Path | None = None
    version: str = ""
    login: LoginState = LoginState.UNKNOWN
    problem: str = ""
    hint: str = ""
    is_usable: bool = False


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session of the past, begun by the hub or in a terminal."""

    id: SessionId
    cwd: Path
    title: str
    updated: datetime
    is_live: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A frozen copy of a session's history: no project files, no login data.

    ``folder`` holds the agent's own files; the bridge adds the manifest and the checksum.
    """

    kind: str
    session_id: SessionId
    agent_version: str
    title: str
    cwd: Path
    folder: Path


class SessionArchive(Protocol):
    """/save, /restore, /sessions and /resume."""

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]: ...

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot: ...

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        """Make a new session with the snapshot's past in ``cwd``; open it with ``SessionSpec.resume``."""

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        """The command a person types at the desk to go on."""


class AgentBackend(Protocol):
    """One kind of agent on this computer."""

    @property
    def kind(self) -> str:
        """Short stable name: claude, codex, qwen, hermes, demo, or the name of an ACP entry in the settings."""

    @property
    def traits(self) -> AgentTraits: ...

    @property
    def archive(self) -> SessionArchive | None: ...

    async def probe(self) -> AgentHealth:
        """Look at the program without starting a turn; never raises."""

    async def open(self, spec: SessionSpec, channel: UserChannel) -> AgentSession:
        """Start or join a process and open (or resume) a session.

        Raises AgentNotFoundError, AgentVersionError, AgentNotLoggedInError, SessionNotFoundError, AgentGoneError.
        """

    async def close(self) -> None:
        """End every process of this backend. Never raises."""
