"""What Claude Code says, as the contract's events: one object per session, no I/O, no clock.

It keeps only what a later message needs: whether a turn runs, which inputs wait, which tool calls are open. Requests
of the program (permissions, MCP) are not its business.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from agents.claude.failures import failure, is_interrupted
from agents.claude.messages import (
    Assistant,
    Background,
    Delta,
    HelperStarted,
    Init,
    Json,
    Lifecycle,
    Message,
    ModeNow,
    Note,
    RateLimit,
    Result,
    Retry,
    TextBlock,
    ThinkingBlock,
    TitleNow,
    ToolResult,
    ToolUse,
    Unknown,
    UserTurn,
)
from agents.claude.tools import describe, patch_text
from agents.claude.wire import objects_of, text_of
from agents.contract import (
    AgentEvent,
    AssistantText,
    BackgroundTask,
    BackgroundTasks,
    InputConsumed,
    InputId,
    InputReturned,
    ModeChanged,
    Plan,
    PlanStep,
    Quota,
    QuotaWindow,
    Retrying,
    SessionId,
    SessionStarted,
    SpentSoFar,
    TextDelta,
    Thought,
    TitleChanged,
    ToolFinished,
    ToolId,
    ToolStarted,
    ToolStatus,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UnknownEvent,
    Usage,
)

_TODO_TOOL = "TodoWrite"


class Translator:
    """The state of one session as far as events need it."""

    def __init__(self, started: SessionStarted, *, is_resumed: bool = False) -> None:
        self.started = started
        self.is_running = False
        self.last_text = ""
        self.background: tuple[BackgroundTask, ...] = ()
        self.helpers: dict[str, str] = {}
        self._prompts: set[InputId] = set()
        self._steered: set[InputId] = set()
        self._tools: dict[str, None] = {}
        self._error = ""
        self._resets_at: float | None = None
        self._context: int | None = None
        # The program's sum goes on from where the session was, so a resumed one hides its first turn's share.
        self._spent: dict[str, tuple[int, int]] = {}
        self._cost_before: float | None = None if is_resumed else 0.0
        self._note = ""
        self._has_receipts = False

    @property
    def is_busy(self) -> bool:
        """A turn runs, or one is about to: the program has a prompt that it has not begun."""
        return self.is_running or bool(self._prompts)

    def prompted(self, input_id: InputId) -> None:
        """A prompt is on its way to the program."""
        self._prompts.add(input_id)

    def steered(self, input_id: InputId) -> None:
        """A text for the running turn is on its way to the program."""
        self._steered.add(input_id)

    def forgotten(self, input_id: InputId) -> None:
        """The input could not be written after all."""
        self._prompts.discard(input_id)
        self._steered.discard(input_id)

    def unanswered(self, why: str) -> list[AgentEvent]:
        """The program is gone: what it had not read goes back."""
        returned = [InputReturned(input_id, why) for input_id in sorted(self._steered)]
        self._steered.clear()
        self._prompts.clear()
        self.is_running = False
        return [*returned]

    def events(self, message: Message) -> list[AgentEvent]:
        """The events of one message, in their order."""
        found: list[AgentEvent] = []
        match message:
            case Delta(text):
                found = [*self._begun(), TextDelta(text)]
            case Assistant():
                found = self._assistant(message)
            case UserTurn(blocks, _):
                found = [self._finished(block) for block in blocks if isinstance(block, ToolResult)]
            case Result():
                found = self._ended(message)
            case Lifecycle(input_id, state):
                found = self._lifecycle(InputId(input_id), state)
            case Init():
                found = self._renewed(message)
            case _:
                found = self._aside(message)
        return found

    def _aside(self, message: Message) -> list[AgentEvent]:
        """Messages that say something beside the turn."""
        found: list[AgentEvent] = []
        match message:
            case Retry(attempt, of, delay, error):
                self._error = error
                found = [Retrying(attempt, of, delay, error.replace("_", " "))]
            case RateLimit():
                found = [self._quota(message)]
            case Background(tasks):
                self.background = tuple(BackgroundTask(task, title) for task, title in tasks)
                found = [BackgroundTasks(self.background)]
            case HelperStarted(helper, name):
                self.helpers[helper] = name
            case ModeNow(mode):
                found = self.mode_is(mode)
            case TitleNow(title):
                found = [TitleChanged(title)]
            case Note(text):
                self._note = text
                found = [Thought(text)]
            case Unknown(name, raw):
                found = [UnknownEvent(name, raw)]
        return found

    def mode_is(self, mode: str) -> list[AgentEvent]:
        """The mode as the program says; nothing when it is the known one."""
        if mode == self.started.mode:
            return []
        self.started = _replaced(self.started, self.started.session_id, self.started.model, mode)
        return [ModeChanged(mode)]

    def _renewed(self, init: Init) -> list[AgentEvent]:
        changed: list[AgentEvent] = self.mode_is(init.mode) if init.mode else []
        if init.session_id != self.started.session_id or init.model != self.started.model:
            changed += self._moved(init.session_id, init.model, self.started.mode)
        return changed

    def _moved(self, session_id: str, model: str, mode: str) -> list[AgentEvent]:
        if not session_id:
            return []
        self.started = _replaced(self.started, SessionId(session_id), model, mode)
        return [self.started]

    def _begun(self) -> list[AgentEvent]:
        """The model speaks. A prompt of ours begins with its receipt; without one the program began by itself."""
        if self.is_running:
            return []
        is_unsolicited = self._has_receipts or not self._prompts
        self._begin()
        return [TurnStarted(is_unsolicited)]

    def _begin(self) -> None:
        self.is_running = True
        self.last_text = ""
        self._note = ""
        self._error = ""
        self._spent = {}

    def _lifecycle(self, input_id: InputId, state: str) -> list[AgentEvent]:
        self._has_receipts = True
        if state == "started":
            return self._taken(input_id)
        if state != "cancelled":
            return []
        if input_id in self._steered:
            self._steered.discard(input_id)
            return [InputReturned(input_id, "The turn was stopped.")]
        if input_id in self._prompts:
            self._prompts.discard(input_id)
            return [] if self.is_running else [TurnFinished(TurnOutcome.INTERRUPTED)]
        return []

    def _taken(self, input_id: InputId) -> list[AgentEvent]:
        if input_id not in self._steered and input_id not in self._prompts:
            return []
        # A prompt that met a turn which the program had begun meanwhile becomes a part of that turn.
        is_told = input_id in self._steered or self.is_running
        self._steered.discard(input_id)
        self._prompts.discard(input_id)
        found: list[AgentEvent] = [InputConsumed(input_id)] if is_told else []
        if not self.is_running:
            self._begin()
            found.append(TurnStarted())
        return found

    def _assistant(self, message: Assistant) -> list[AgentEvent]:
        if message.error:
            self._error = message.error
            return self._begun()
        found = [] if message.parent else self._begun()
        if message.context_tokens is not None and not message.parent:
            self._context = message.context_tokens
        for block in message.blocks:
            if isinstance(block, ToolUse):
                found += self._called(block, message.parent)
            elif isinstance(block, ThinkingBlock) and block.text:
                found.append(Thought(block.text))
            elif isinstance(block, TextBlock) and block.text:
                found.append(self._said(block.text, message.parent))
        return [*found, *self._spent_on(message)]

    def _spent_on(self, message: Assistant) -> list[AgentEvent]:
        """The tokens of this turn so far: every block of one answer of the model repeats the answer's own count."""
        if message.context_tokens is None or not message.answer_id:
            return []
        before = self._spent.get(message.answer_id, (0, 0))
        now = (message.context_tokens, max(before[1], message.output_tokens))
        if now == before:
            return []
        self._spent[message.answer_id] = now
        inputs, outputs = (sum(counts) for counts in zip(*self._spent.values(), strict=True))
        return [SpentSoFar(Usage(inputs, outputs))]

    def _said(self, text: str, parent: str) -> AgentEvent:
        if parent:
            return Thought(text)  # a helper's words are not the answer
        self.last_text = text
        return AssistantText(text)

    def _called(self, call: ToolUse, parent: str) -> list[AgentEvent]:
        words = describe(call.name, call.arguments)
        self._tools[call.id] = None
        started = ToolStarted(
            tool_id=ToolId(call.id),
            tool=call.name,
            kind=words.kind,
            title=words.title,
            subject=words.subject,
            parent=ToolId(parent) if parent else None,
        )
        return [started, *([_plan(call.arguments)] if call.name == _TODO_TOOL else [])]

    def _finished(self, result: ToolResult) -> AgentEvent:
        self._tools.pop(result.tool_id, None)
        return ToolFinished(
            tool_id=ToolId(result.tool_id),
            status=_status(result),
            output=result.text,
            exit_code=_exit_code(result),
            diff=patch_text(result.path, result.patch),
        )

    def _ended(self, result: Result) -> list[AgentEvent]:
        usage = self._usage(result)
        found = self._moved_by(result)
        if not self.is_running and not result.is_error and not result.text:
            return found  # a wake-up without a word: after a resume the program only notes lost background work
        found += self._begun()
        if is_interrupted(result):
            # The calls of a helper that was cut off get no result of their own.
            found += [ToolFinished(ToolId(tool_id), ToolStatus.CANCELLED) for tool_id in self._tools]
            self._tools.clear()
            found.append(TurnFinished(TurnOutcome.INTERRUPTED, self.last_text, usage))
        elif result.is_error:
            found.append(failure(result, self._error, when(self._resets_at)))
        else:
            found.append(TurnFinished(TurnOutcome.COMPLETED, result.text or self.last_text or self._note, usage))
        self.is_running = False
        if not self._has_receipts:
            self._prompts.clear()
        return found

    def _moved_by(self, result: Result) -> list[AgentEvent]:
        """``/clear`` goes on under another id, and only its result says which (measured on 2.1.332)."""
        if not result.session_id or result.session_id == self.started.session_id:
            return []
        return self._moved(result.session_id, self.started.model, self.started.mode)

    def _usage(self, result: Result) -> Usage:
        is_known = result.total_cost is not None and self._cost_before is not None
        cost = max(0.0, (result.total_cost or 0.0) - (self._cost_before or 0.0)) if is_known else None
        self._cost_before = result.total_cost if result.total_cost is not None else self._cost_before
        return Usage(result.input_tokens, result.output_tokens, cost, self._context, result.context_window)

    def _quota(self, limit: RateLimit) -> Quota:
        is_exhausted = limit.status == "rejected"
        self._resets_at = limit.resets_at if is_exhausted else None
        windows = [QuotaWindow(name.replace("_", " "), used, when(resets)) for name, used, resets in limit.windows]
        if not windows and limit.kind:
            windows.append(QuotaWindow(limit.kind.replace("_", " "), float(is_exhausted), when(limit.resets_at)))
        return Quota(tuple(windows), is_exhausted)


def when(stamp: float | None) -> datetime | None:
    """An epoch stamp in seconds; a number that is no date is none."""
    try:
        return None if stamp is None else datetime.fromtimestamp(stamp, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _replaced(old: SessionStarted, session_id: SessionId, model: str, mode: str) -> SessionStarted:
    return SessionStarted(
        session_id, Path(old.cwd), old.version, model, mode, old.commands, old.models, old.modes, old.efforts
    )


def _plan(arguments: Json) -> Plan:
    return Plan(
        tuple(
            PlanStep(text_of(todo, "content"), todo.get("status") == "completed", todo.get("status") == "in_progress")
            for todo in objects_of(arguments, "todos")
        )
    )


def _status(result: ToolResult) -> ToolStatus:
    if result.decision == "reject" or result.not_run == "permission-rule":
        return ToolStatus.DENIED
    if result.not_run:
        return ToolStatus.CANCELLED
    return ToolStatus.FAILED if result.is_error else ToolStatus.OK


def _exit_code(result: ToolResult) -> int | None:
    """A failed command's text begins with "Exit code N" (measured)."""
    first, _, _ = result.text.partition("\n")
    number = first.removeprefix("Exit code ")
    return int(number) if result.is_error and number != first and number.isdigit() else None
