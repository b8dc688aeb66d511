"""From the updates of one ACP session to the events of the contract. Pure: no I/O, no clock; fed in wire order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agents.acp.dialect import AcpDialect, SessionNotes
from agents.acp.tools import ToolCall, plain
from agents.acp.wire import (
    CommandsUpdate,
    ConfigOption,
    ConfigUpdate,
    InfoUpdate,
    MessageChunk,
    ModeUpdate,
    OptionValue,
    PlanUpdate,
    PromptResult,
    ToolCallPart,
    ToolUpdate,
    UnknownUpdate,
    Update,
    UsageUpdate,
)
from agents.acp.wire_opening import AgentInfo, Offers
from agents.contract import (
    AgentChoice,
    AgentCommand,
    AgentEvent,
    AssistantText,
    ModeChanged,
    Plan,
    PlanStep,
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
    UnknownEvent,
    Usage,
)


class Offering:
    """What the session lets its user choose, kept up to date; ``event`` tells it whole."""

    def __init__(
        self, dialect: AcpDialect, info: AgentInfo, offers: Offers, cwd: Path, configured_mode: str | None = None
    ) -> None:
        """``configured_mode``: what the settings file on the computer chooses."""
        self._dialect = dialect
        self._configured_mode = configured_mode
        self._info = info
        self._cwd = cwd
        self.offers = offers
        self._commands: tuple[AgentCommand, ...] = ()

    def renew(self, info: AgentInfo, offers: Offers) -> None:
        """The session was opened (again): take what it offers now."""
        self._info = info
        self.offers = offers

    def choose_model(self, model: str) -> None:
        self.offers = replace(self.offers, model=model)

    def choose_option(self, option_id: str, value: str) -> None:
        options = (replace(one, current=value) if one.id == option_id else one for one in self.offers.options)
        self.offers = replace(self.offers, options=tuple(options))

    @property
    def commands(self) -> tuple[AgentCommand, ...]:
        return self._commands

    @property
    def mode(self) -> str:
        option = self.option("mode")
        return self.offers.mode or (option.current if option else "")

    @property
    def has_modes(self) -> bool:
        return bool(self.offers.modes) or self.option("mode") is not None

    @property
    def modes(self) -> tuple[OptionValue, ...]:
        """The modes a chat may choose."""
        option = self.option("mode")
        sent = self.offers.modes or (option.values if option else ())
        return tuple(mode for mode in sent if not self.is_barred(mode.id))

    def is_barred(self, mode: str | None) -> bool:
        """Nothing would be asked in this mode, and the settings file does not choose it."""
        return mode in self._dialect.modes_without_questions and mode != self._configured_mode

    def option(self, category: str) -> ConfigOption | None:
        """The select of a category (mode, model, thought_level)."""
        return next((option for option in self.offers.options if category in {option.category, option.id}), None)

    def take(self, update: CommandsUpdate | ModeUpdate | ConfigUpdate) -> bool:
        """Keep the news; False when nothing changed."""
        before = (self.offers, self._commands)
        if isinstance(update, CommandsUpdate):
            self._commands = tuple(AgentCommand(item.name, item.description) for item in update.commands if item.name)
        elif isinstance(update, ModeUpdate):
            self.offers = replace(self.offers, mode=update.mode)
        else:
            self.offers = replace(self.offers, options=update.options)
        return before != (self.offers, self._commands)

    def event(self, session_id: SessionId) -> SessionStarted:
        model, efforts = self.option("model"), self.option("thought_level")
        return SessionStarted(
            session_id=session_id,
            cwd=self._cwd,
            version=self._info.version,
            model=self.offers.model or (model.current if model else ""),
            mode=self.mode,
            commands=self._commands,
            models=_choices(self.offers.models or (model.values if model else ())),
            modes=tuple(self._dialect.mode(sent, self._info) for sent in self.modes),
            efforts=_choices(efforts.values if efforts else ()),
        )


def _choices(values: tuple[OptionValue, ...]) -> tuple[AgentChoice, ...]:
    return tuple(AgentChoice(value.id, value.name, value.description) for value in values)


class Translator:
    """The story so far of one session: the open block of text, the open tool calls, the last whole text."""

    def __init__(self, dialect: AcpDialect, notes: SessionNotes, offering: Offering, session_id: SessionId) -> None:
        self._dialect = dialect
        self._notes = notes
        self._offering = offering
        self._session_id = session_id
        self._text: list[str] = []
        self._thought: list[str] = []
        self._message_id = ""
        self._calls: dict[str, ToolCall] = {}
        self._started: set[str] = set()
        self._plan: Plan | None = None
        self.answer = ""
        """The last whole text of this turn."""
        self.is_cancelling = False
        """The person stopped the turn: what fails from now on was cancelled."""
        self.usage = Usage()
        self._cost = 0.0
        """What the whole session has cost: agents tell the sum (ACP: session usage), also after a load."""
        self._cost_before = 0.0
        """The same when the running turn began."""

    def name(self, session_id: SessionId) -> None:
        """The session has its id now."""
        self._session_id = session_id

    def add_tokens(self, input_tokens: int, output_tokens: int) -> None:
        """One model request of this turn, for agents that tell each instead of the sum."""
        self.usage = replace(
            self.usage,
            input_tokens=(self.usage.input_tokens or 0) + input_tokens,
            output_tokens=(self.usage.output_tokens or 0) + output_tokens,
        )

    def usage_of(self, result: PromptResult) -> Usage | None:
        """What the turn cost, None when the agent says nothing."""
        usage = replace(
            self.usage,
            input_tokens=self.usage.input_tokens if result.input_tokens is None else result.input_tokens,
            output_tokens=self.usage.output_tokens if result.output_tokens is None else result.output_tokens,
        )
        return None if usage == Usage() else usage

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls.values())

    def begin(self) -> None:
        """A turn starts: what the turn before said is no answer to this one."""
        self.answer = ""
        self.is_cancelling = False
        self._cost_before = self._cost
        self.usage = replace(self.usage, input_tokens=None, output_tokens=None, cost_usd=None)

    def feed(self, update: Update) -> list[AgentEvent]:
        """The events that an update means, in order; an update that changes nothing means none."""
        events: list[AgentEvent] = []
        match update:
            case MessageChunk():
                events = self._take_chunk(update)
            case ToolUpdate():
                events = self._take_tool(update)
            case PlanUpdate():
                events = self._take_plan(update)
            case UsageUpdate():
                events = self._take_usage(update)
            case UnknownUpdate():
                events = [UnknownEvent(update.name, update.raw)]
            case InfoUpdate():
                events = [TitleChanged(update.title)] if update.title else []
            case _:
                events = self._take_offer(update)
        return events

    def _take_usage(self, update: UsageUpdate) -> list[AgentEvent]:
        self.usage = replace(self.usage, context_used=update.used, context_window=update.size)
        if update.cost_usd is None:
            return []
        self._cost = update.cost_usd
        self.usage = replace(self.usage, cost_usd=max(0.0, self._cost - self._cost_before))
        return [SpentSoFar(self.usage)]

    def end(self, *, is_cut_short: bool) -> list[AgentEvent]:
        """The turn is over: close the text and every call that the agent left open."""
        events = self._close_text()
        for call in list(self._calls.values()):
            events += self._start(call)
            events.append(self._closed(call, ToolStatus.CANCELLED if is_cut_short else ToolStatus.OK))
        self._calls.clear()
        self._started.clear()
        self._notes.denied.clear()
        return events

    @property
    def last_words(self) -> str:
        """The text at the very end of the turn so far, also when its block is still open."""
        return "".join(self._text).rstrip() or self.answer

    def forget_last_words(self) -> None:
        """The open block of text turned out to be an error in disguise: it is told as that, not as text."""
        self._text.clear()

    def asked(self, call_id: str, part: ToolCallPart) -> list[AgentEvent]:
        """A permission request names a call: tell its start before the person is asked."""
        call = self._calls.get(call_id)
        if call is not None and part.id != call_id:
            part = replace(part, title=None, kind=None)  # another card of the same call
        merged = (call or ToolCall(call_id)).merge(replace(part, id=call_id, status="pending"))
        self._calls[call_id] = merged
        return self._close_text() + self._start(merged)

    def drop(self, call_id: str) -> None:
        """The call is no tool call after all (a question): never show it."""
        self._calls.pop(call_id, None)

    def call(self, call_id: str) -> ToolCall | None:
        return self._calls.get(call_id)

    def _take_chunk(self, chunk: MessageChunk) -> list[AgentEvent]:
        words = plain(chunk.block) if chunk.block is not None else ""
        if not words or chunk.role == "user":
            return []
        if chunk.role == "thought":
            events = self._close_text(keeps_thought=True)
            self._thought.append(words)
            return events
        events = self._close_thought() + self._close_silent_calls(is_text=True)
        if self._text and chunk.message_id and self._message_id and chunk.message_id != self._message_id:
            events += self._close_text()
        self._message_id = chunk.message_id
        if not self._text:
            words = words.lstrip("\n")
        if words:
            self._text.append(words)
            events.append(TextDelta(words))
        return events

    def _close_thought(self) -> list[AgentEvent]:
        thought, self._thought = "".join(self._thought).strip(), []
        return [Thought(thought)] if thought else []

    def _close_text(self, *, keeps_thought: bool = False) -> list[AgentEvent]:
        events = [] if keeps_thought else self._close_thought()
        whole, self._text = "".join(self._text).rstrip(), []
        if whole:
            self.answer = whole
            events.append(AssistantText(whole))
        return events

    def _take_tool(self, update: ToolUpdate) -> list[AgentEvent]:
        part = update.part
        if not part.id:
            return [UnknownEvent("tool call without an id")]
        known = self._calls.get(part.id)
        if known is None and not update.is_new and part.status in {"completed", "failed"} and part.title is None:
            # News of a call that is over already (it was closed with its turn).
            return []
        events = self._close_text()
        if known is None:
            events += self._close_silent_calls(is_text=False)
        call = (known or ToolCall(part.id)).merge(part)
        self._calls[part.id] = call
        if not call.is_preparing:
            events += self._start(call)
        if call.is_over:
            del self._calls[part.id]
            self._started.discard(part.id)
            events.append(self._finished(call, _status(call)))
        return events

    def _close_silent_calls(self, *, is_text: bool) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        calls = list(self._calls.values())
        for call in [one for one in calls if self._dialect.closes_without_news(one, is_text=is_text)]:
            del self._calls[call.id]
            self._started.discard(call.id)
            events.append(self._closed(call, ToolStatus.OK))
        return events

    def _closed(self, call: ToolCall, status: ToolStatus) -> ToolFinished:
        """A call whose end nobody told: what the person denied did not succeed."""
        return self._finished(call, ToolStatus.DENIED if call.id in self._notes.denied else status)

    def _start(self, call: ToolCall) -> list[AgentEvent]:
        if call.id in self._started:
            return []
        self._started.add(call.id)
        view = self._dialect.view(call)
        return [ToolStarted(ToolId(call.id), view.tool, call.tool_kind, view.title, view.subject)]

    def _finished(self, call: ToolCall, status: ToolStatus) -> ToolFinished:
        if self.is_cancelling and call.kind == "execute" and self._dialect.result(call)[1] is None:
            status = ToolStatus.CANCELLED  # OpenCode 1.18.33 calls a command that was stopped completed
        if status is not ToolStatus.OK:
            if call.id in self._notes.denied:
                status = ToolStatus.DENIED
            elif self.is_cancelling:
                status = ToolStatus.CANCELLED
        diff = call.diff if status is ToolStatus.OK else ""
        output, exit_code = self._dialect.result(call)
        return ToolFinished(ToolId(call.id), status, output, exit_code, diff)

    def _take_plan(self, update: PlanUpdate) -> list[AgentEvent]:
        steps = (
            PlanStep(entry.content, entry.status == "completed", entry.status == "in_progress")
            for entry in update.entries
        )
        plan = Plan(tuple(steps))
        if plan == self._plan:
            return []
        self._plan = plan
        return [plan]

    def _take_offer(self, update: CommandsUpdate | ModeUpdate | ConfigUpdate) -> list[AgentEvent]:
        mode = self._offering.mode
        if not self._offering.take(update):
            return []
        if self._offering.mode != mode:
            return [ModeChanged(self._offering.mode)]
        return [] if isinstance(update, ModeUpdate) else [self._offering.event(self._session_id)]


def _status(call: ToolCall) -> ToolStatus:
    if call.status == "completed":
        return ToolStatus.OK
    return ToolStatus.CANCELLED if call.status == "cancelled" else ToolStatus.FAILED


def begins_something(update: MessageChunk | ToolUpdate) -> bool:
    """Whether an update outside a turn is news for a person: text, or a new tool call."""
    if isinstance(update, MessageChunk):
        return update.role == "agent" and update.block is not None and bool(getattr(update.block, "text", "x").strip())
    return update.is_new
