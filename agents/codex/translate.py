"""What a thread tells, in the contract's events. Pure: it keeps the state of one session and does no I/O.

Facts it rests on (Codex 0.171.0): items still open when a turn is interrupted get no end; a message cut by a lost
connection is completed and then written again from its start; commands may outlive their turn; helpers have threads
of their own whose messages are not the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agents.codex.diffs import unified
from agents.codex.failures import retrying, turn_failed
from agents.codex.limits import KnownLimits
from agents.codex.wire.events import (
    CodexEvent,
    ItemCompleted,
    ItemStarted,
    Limits,
    NameChanged,
    Steps,
    TextPiece,
    Tokens,
    Trouble,
    TurnBegan,
    TurnEnded,
    Unknown,
)
from agents.codex.wire.items import (
    AgentMessage,
    Command,
    FileChange,
    Item,
    PlanText,
    Reasoning,
    SubAgent,
    ToolCall,
    UnknownItem,
    UserMessage,
)
from agents.contract import (
    AgentEvent,
    AssistantText,
    BackgroundTask,
    BackgroundTasks,
    InputConsumed,
    InputId,
    InputReturned,
    Plan,
    PlanStep,
    SpentSoFar,
    TextDelta,
    Thought,
    TitleChanged,
    ToolFinished,
    ToolId,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UnknownEvent,
    Usage,
)

_STATUSES = {"failed": ToolStatus.FAILED, "declined": ToolStatus.DENIED}
RUNS_ON = "It still runs in the background."
TITLE = 120
"""Letters of a command in its title; the subject has all of it."""


@dataclass(slots=True)
class _Turn:
    """What is known of the root's running turn."""

    id: str
    input: int = 0
    output: int = 0
    context: int | None = None
    window: int | None = None
    retries: int = 0
    text: str = ""
    messages: dict[str, str] = field(default_factory=dict)

    @property
    def usage(self) -> Usage | None:
        if self.context is None:
            return None
        return Usage(self.input, self.output, context_used=self.context, context_window=self.window)


@dataclass(frozen=True, slots=True)
class _Open:
    """A tool call that is not over; a command or a helper may outlive the turn."""

    thread: str
    title: str
    is_command: bool = False
    is_helper: bool = False


class Translation:
    """The state of one session: its thread and those of its helpers."""

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self.helpers: dict[str, str] = {}
        self.helper_turns: dict[str, str] = {}
        self.background: dict[str, str] = {}
        self._turn: _Turn | None = None
        self._expected = 0
        self._steered: dict[InputId, None] = {}
        self._open: dict[str, _Open] = {}
        self._patches: dict[str, FileChange] = {}
        self._held: str = ""
        self._shown: str = ""
        self._limits = KnownLimits()
        self._handlers: dict[type, Callable[[Any], list[AgentEvent]]] = {
            TurnBegan: self._turn_began,
            TurnEnded: self._turn_ended,
            ItemStarted: self._item_started,
            ItemCompleted: self._item_completed,
            TextPiece: self._text_piece,
            Tokens: self._tokens,
            Limits: self._limits.learn,
            Trouble: self._trouble,
            NameChanged: lambda event: [TitleChanged(event.name)] if event.name else [],
            Steps: self._steps,
            Unknown: lambda event: [UnknownEvent(event.method, event.raw)],
        }

    @property
    def turn_id(self) -> str | None:
        """The running turn of the root, None when it is idle."""
        return self._turn.id if self._turn else None

    @property
    def tasks(self) -> tuple[BackgroundTask, ...]:
        return tuple(BackgroundTask(item, title) for item, title in self.background.items())

    def expect_turn(self) -> None:
        """A turn was asked for: the next one that begins is no surprise."""
        self._expected += 1

    def unexpect_turn(self) -> None:
        """The turn that was asked for will not come."""
        self._expected = max(0, self._expected - 1)

    def steered(self, input_id: InputId) -> None:
        """A text was handed to the running turn; the end of the turn gives it back unless it was read."""
        self._steered[input_id] = None

    def not_steered(self, input_id: InputId) -> None:
        """Codex did not take it."""
        self._steered.pop(input_id, None)

    def patch(self, item: str) -> FileChange | None:
        """The patch an approval belongs to: it came with the item, the approval has none."""
        return self._patches.get(item)

    def running_commands(self) -> set[str]:
        """The items of all commands of this turn that have not ended."""
        return {item for item, call in self._open.items() if call.is_command}

    def translate(self, event: CodexEvent) -> list[AgentEvent]:
        """The events for the bridge, in order."""
        before: list[AgentEvent] = []
        if self._held and not isinstance(event, Limits) and self._is_root(event):
            before = self._release(is_cut=isinstance(event, Trouble) and event.will_retry)
        handler = self._handlers.get(type(event))
        return before + (handler(event) if handler else [])

    def lost(self) -> list[AgentEvent]:
        """The process is gone: close what is open. The turn itself is not ended here."""
        events = [
            *self._release(is_cut=False),
            *self._unfinished_messages(),
            *self._close_open(None, ToolStatus.CANCELLED),
        ]
        events += self._return_steered("Codex has ended.")
        self._turn, self._expected = None, 0
        self.background.clear()
        return events

    def forget_background(self, items: set[str]) -> list[AgentEvent]:
        """These commands were ended by us."""
        gone = [item for item in items if self.background.pop(item, None) is not None]
        return [BackgroundTasks(self.tasks)] if gone else []

    # -- turns

    def _turn_began(self, event: TurnBegan) -> list[AgentEvent]:
        if event.thread != self.thread:
            self.helper_turns[event.thread] = event.turn
            return []
        if self._turn and self._turn.id == event.turn:
            return []
        is_expected = self._expected > 0
        self.unexpect_turn()
        self._turn = _Turn(event.turn)
        return [TurnStarted(is_unsolicited=not is_expected)]

    def _turn_ended(self, event: TurnEnded) -> list[AgentEvent]:
        is_interrupted = event.status == "interrupted"
        if event.thread != self.thread:
            self.helper_turns.pop(event.thread, None)
            return self._close_open(event.thread, ToolStatus.CANCELLED)
        if self._turn is None and not self._expected:
            return []  # it has ended before
        turn = self._turn or _Turn(event.turn)
        events = self._unfinished_messages()
        had_background = bool(self.background)
        if not is_interrupted:
            events += self._leave_running()
        events += self._close_open(None, ToolStatus.CANCELLED)
        if self.background or had_background:
            events.append(BackgroundTasks(self.tasks))
        events += self._return_steered("The turn was over before it was read.")
        if self._turn is None:
            self.unexpect_turn()
        self._turn = None
        if event.status == "failed":
            return [*events, turn_failed(event.problem, self._limits.resets_at)]
        outcome = TurnOutcome.INTERRUPTED if is_interrupted else TurnOutcome.COMPLETED
        return [*events, TurnFinished(outcome, turn.text or event.last_text, turn.usage)]

    def _unfinished_messages(self) -> list[AgentEvent]:
        """Text of a message that never ended: the person saw it being written, so it stays."""
        if self._turn is None:
            return []
        texts = [said for said in self._turn.messages.values() if said.strip()]
        self._turn.messages.clear()
        if texts:
            self._turn.text = texts[-1]
        return [AssistantText(said) for said in texts]

    def _leave_running(self) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        for item, call in list(self._open.items()):
            if call.is_command or call.is_helper:
                del self._open[item]
                self.background[item] = call.title
                events.append(ToolFinished(ToolId(item), ToolStatus.OK, RUNS_ON))
        return events

    def _close_open(self, thread: str | None, status: ToolStatus) -> list[AgentEvent]:
        """End every open call (of ``thread``): nothing will."""
        items = [item for item, call in self._open.items() if thread in {None, call.thread}]
        for item in items:
            del self._open[item]
            self._patches.pop(item, None)
        return [ToolFinished(ToolId(item), status) for item in items]

    def _return_steered(self, why: str) -> list[AgentEvent]:
        returned = list(self._steered)
        self._steered.clear()
        return [InputReturned(input_id, why) for input_id in returned]

    # -- items

    def _item_started(self, event: ItemStarted) -> list[AgentEvent]:
        item = event.item
        if isinstance(item, UserMessage):
            return self._consumed(item)
        if isinstance(item, SubAgent):
            return self._helper(item)
        if isinstance(item, FileChange):
            self._patches[item.id] = item
        started = self._started(event.thread, item)
        return [] if started is None else [started]

    def _started(self, thread: str, item: Item) -> ToolStarted | None:
        shape = _shape(item)
        if shape is None or item.id in self._open:
            return None
        tool, kind, title, subject = shape
        self._open[item.id] = _Open(thread, title, is_command=isinstance(item, Command))
        parent = None if thread == self.thread else ToolId(thread)
        return ToolStarted(ToolId(item.id), tool, kind, title, subject, parent)

    def _item_completed(self, event: ItemCompleted) -> list[AgentEvent]:
        item = event.item
        if isinstance(item, UserMessage):
            return self._consumed(item)
        if isinstance(item, SubAgent):
            return self._helper(item)
        if isinstance(item, UnknownItem):
            return [UnknownEvent(f"item {item.type}", item.raw)]
        if _shape(item) is not None:
            return self._tool_completed(event.thread, item)
        return self._said(item) if event.thread == self.thread else []

    def _said(self, item: Item) -> list[AgentEvent]:
        if isinstance(item, AgentMessage | PlanText):
            if self._turn:
                self._turn.messages.pop(item.id, None)
            is_question = isinstance(item, AgentMessage) and bool(item.questions)
            self._held = "" if is_question else item.text  # the question's own card has the same words
        elif isinstance(item, Reasoning) and item.text.strip():
            return [Thought(item.text)]
        return []

    def _tool_completed(self, thread: str, item: Item) -> list[AgentEvent]:
        if item.id in self.background:
            del self.background[item.id]
            return [BackgroundTasks(self.tasks)]
        events: list[AgentEvent] = []
        if item.id not in self._open:
            if self._turn is None:
                return []  # closed with its turn already
            started = self._started(thread, item)
            events = [] if started is None else [started]
        self._open.pop(item.id, None)
        self._patches.pop(item.id, None)
        return [*events, _finished(item)]

    def _helper(self, item: SubAgent) -> list[AgentEvent]:
        key = ToolId(item.thread_id)
        if item.kind == "started" and item.thread_id not in self.helpers:
            name = item.path.rpartition("/")[2] or "helper"
            self.helpers[item.thread_id] = name
            self._open[key] = _Open(self.thread, f"helper {name}", is_helper=True)
            return [ToolStarted(key, "helper", ToolKind.OTHER, f"helper {name}", item.path)]
        if item.kind in {"completed", "interrupted"} and key in self.background:
            del self.background[key]
            return [BackgroundTasks(self.tasks)]
        if item.kind in {"completed", "interrupted"} and key in self._open:
            del self._open[key]
            return [ToolFinished(key, ToolStatus.OK if item.kind == "completed" else ToolStatus.CANCELLED)]
        return []

    def _consumed(self, item: UserMessage) -> list[AgentEvent]:
        input_id = InputId(item.client_id)
        if input_id not in self._steered:
            return []
        del self._steered[input_id]
        return [InputConsumed(input_id)]

    # -- text

    def _text_piece(self, event: TextPiece) -> list[AgentEvent]:
        if event.thread != self.thread or self._turn is None or not event.text:
            return []
        so_far = self._turn.messages.get(event.item, "") + event.text
        self._turn.messages[event.item] = so_far
        if not self._shown:
            return [TextDelta(event.text)]
        return self._written_again(so_far)

    def _written_again(self, so_far: str) -> list[AgentEvent]:
        """A text that was cut comes again from its start: show only what is new."""
        if self._shown.startswith(so_far):
            return []
        shown, self._shown = self._shown, ""
        return [TextDelta(so_far.removeprefix(shown) if so_far.startswith(shown) else f"\n\n{so_far}")]

    def _release(self, *, is_cut: bool) -> list[AgentEvent]:
        """A finished message goes out with the next event: only that tells whether it was cut."""
        held, self._held = self._held, ""
        self._shown = held if is_cut else ""
        if is_cut or not held.strip():
            return []
        if self._turn:
            self._turn.text = held
        return [AssistantText(held)]

    def _is_root(self, event: CodexEvent) -> bool:
        return getattr(event, "thread", self.thread) == self.thread

    # -- the rest

    def _tokens(self, event: Tokens) -> list[AgentEvent]:
        if event.thread == self.thread and self._turn:
            self._turn.input += event.input
            self._turn.output += event.output
            self._turn.context, self._turn.window = event.total, event.window
            if self._turn.usage and event.input + event.output:
                return [SpentSoFar(self._turn.usage)]
        return []

    def _trouble(self, event: Trouble) -> list[AgentEvent]:
        """An error that is final comes again with the turn's end; a helper's is the helper's."""
        if not event.will_retry or event.thread != self.thread or self._turn is None:
            return []
        told = retrying(event.problem, self._turn.retries)
        self._turn.retries += 1
        return [told]

    def _steps(self, event: Steps) -> list[AgentEvent]:
        if event.thread != self.thread:
            return []
        steps = (PlanStep(step.text, step.status == "completed", step.status == "inProgress") for step in event.steps)
        return [Plan(tuple(steps))]


def _shape(item: Item) -> tuple[str, ToolKind, str, str] | None:
    """Tool, kind, title and subject of an item that is a tool call."""
    if isinstance(item, Command):
        kind = ToolKind.READ if item.is_reading else ToolKind.EXECUTE
        first = item.command.strip().split("\n")[0]
        return "shell", kind, first if len(first) <= TITLE else f"{first[: TITLE - 1]}…", item.command
    if isinstance(item, FileChange):
        paths = [change.path for change in item.changes]
        title = f"change {paths[0].rpartition('/')[2]}" if len(paths) == 1 else f"change {len(paths)} files"
        return "apply_patch", ToolKind.EDIT, title, "\n".join(paths)
    if isinstance(item, ToolCall):
        return item.tool, item.kind, item.title, item.subject
    return None


def _finished(item: Item) -> ToolFinished:
    if isinstance(item, Command):
        status = _STATUSES.get(item.status, ToolStatus.OK)
        return ToolFinished(ToolId(item.id), status, item.output, item.exit_code)
    if isinstance(item, FileChange):
        return ToolFinished(ToolId(item.id), _STATUSES.get(item.status, ToolStatus.OK), diff=unified(item.changes))
    if isinstance(item, ToolCall):
        return ToolFinished(ToolId(item.id), _STATUSES.get(item.status, ToolStatus.OK), item.output)
    return ToolFinished(ToolId(item.id), ToolStatus.OK)
