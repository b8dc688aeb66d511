"""What a turn looks like from outside: events in, message parts out. Pure: no clock, no delivery, no disk.

Times are monotonic seconds handed in by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agents.contract import (
    AgentEvent,
    AssistantText,
    InputId,
    Plan,
    Retrying,
    TextDelta,
    ToolFinished,
    ToolId,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    Usage,
)
from bridge import cards
from bridge.diffs import FileDiff, read_diff
from bridge.markdown import Part, StyledText
from bridge.sheet import clip
from bridge.texts import told, tr, trn

TOOLS_LIVE = 4
"""Tool lines in the live status."""
TAIL_KEPT = 6000
"""Characters of unfinished text kept for the preview."""
SUBJECT_LIMIT = 80


class AddedState(StrEnum):
    """What became of a text given to the running turn."""

    GIVEN = "given"
    TAKEN = "taken"
    RETURNED = "returned"


@dataclass(slots=True)
class ToolLine:
    """One tool call of the turn."""

    tool: str
    kind: ToolKind
    title: str
    subject: str
    started: float
    is_nested: bool = False
    status: ToolStatus | None = None


@dataclass(slots=True)
class Added:
    """A text the person gave while the turn ran."""

    text: str
    state: AddedState = AddedState.GIVEN


@dataclass(slots=True)
class TurnView:
    """Everything the person may want to see of one turn, gathered event by event."""

    started: float
    folder: str = ""
    """The session's folder: paths below it are shown without it."""
    tools: dict[ToolId, ToolLine] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    tail: str = ""
    plan: Plan | None = None
    retrying: Retrying | None = None
    added: dict[InputId, Added] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files_changed: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Path to lines added and removed."""

    def observe(self, event: AgentEvent, now: float) -> bool:
        """Take an event in; True when what is shown has changed."""
        if not isinstance(event, Retrying):
            self.retrying = None
        match event:
            case TextDelta():
                self.tail = (self.tail + event.text)[-TAIL_KEPT:]
            case AssistantText():
                self.tail = ""
                if event.text.strip():
                    self.texts.append(event.text)
            case ToolStarted():
                self.tools[event.tool_id] = ToolLine(
                    event.tool, event.kind, event.title, self._short(event.subject), now, event.parent is not None
                )
            case ToolFinished():
                self._tool_ended(event)
            case Plan():
                self.plan = event
            case Retrying():
                self.retrying = event
            case _:
                return False
        return True

    def _tool_ended(self, event: ToolFinished) -> None:
        tool = self.tools.get(event.tool_id)
        if tool is None:
            return
        tool.status = event.status
        if tool.kind is not ToolKind.EDIT or event.status is not ToolStatus.OK:
            return
        changes = read_diff(event.diff, tool.subject) if event.diff else ()
        for change in changes:
            path = self._short(change.path)
            added, removed = self.files_changed.get(path, (0, 0))
            self.files_changed[path] = (added + change.added, removed + change.removed)
        if not changes and tool.subject:
            self.files_changed.setdefault(tool.subject, (0, 0))

    def _short(self, subject: str) -> str:
        for separator in ("/", "\\"):
            if self.folder and subject.startswith(self.folder + separator):
                return subject[len(self.folder) + 1 :]
        return subject

    def answer(self, finished: TurnFinished) -> str:
        """The final answer: what the agent calls so, else its last text."""
        return finished.text or (self.texts[-1] if self.texts else "") or self.tail

    def between(self, answer: str) -> list[str]:
        """Texts written on the way, without the answer."""
        texts = self.texts
        if texts and texts[-1].strip() == answer.strip():
            texts = texts[:-1]
        return texts

    def doing(self) -> str:
        """What happens now, in a few words."""
        if self.retrying is not None:
            return retry_text(self.retrying)
        running = [tool for tool in self.tools.values() if tool.status is None]
        if running:
            return clip(running[-1].title or running[-1].tool, SUBJECT_LIMIT)
        return tr("Writing") if self.tail else tr("Thinking")

    def preview(self) -> str:
        """The Markdown that is being written, else the last text."""
        return self.tail or (self.texts[-1] if self.texts else "")


def retry_text(retrying: Retrying) -> str:
    count = f"{retrying.attempt}/{retrying.of}" if retrying.of else str(retrying.attempt)
    return tr("Trying again ({count}): {reason}", count=count, reason=clip(told(retrying.reason), SUBJECT_LIMIT))


def status_part(view: TurnView, now: float, tail: Part | None = None, waiting: str = "") -> Part:
    """The live status: doing now, elapsed, plan, last tools, added texts, and the rendered ``tail`` of the text."""
    calls = list(view.tools.values())
    hidden = len(calls) - TOOLS_LIVE
    listed: list[StyledText | str] = [plan_line(view.plan)] if view.plan and view.plan.steps else []
    if hidden > 0:
        listed.append(trn("{count} earlier step", "{count} earlier steps", hidden))
    listed += [line_of(tool) for tool in calls[-TOOLS_LIVE:]]
    listed += [added_line(added) for added in view.added.values()]
    listed += [f"· {note}" for note in view.notes[-3:]]
    return cards.status_block(doing=view.doing(), tools=listed, elapsed=now - view.started, tail=tail, waiting=waiting)


def log_part(view: TurnView, outcome: TurnFinished | TurnFailed, elapsed: float, answer: str) -> Part:
    """The compact log that the status message becomes at the end of the turn."""
    listed: list[StyledText | str] = [line_of(tool) for tool in view.tools.values()]
    listed += [added_line(added) for added in view.added.values()]
    listed += [f"· {note}" for note in view.notes[-10:]]
    files = [FileDiff(path, *counted, ()) for path, counted in view.files_changed.items()]
    return cards.turn_log(
        title=heading(outcome), tools=listed, files=files, texts=view.between(answer), elapsed=elapsed
    )


def so_far(view: TurnView) -> Part:
    """What a stopped or failed turn had done: tools and files, for the message that tells of its end."""
    done = sum(tool.status is ToolStatus.OK for tool in view.tools.values())
    title = trn("{count} step was done.", "{count} steps were done.", done) if done else tr("Nothing was done yet.")
    files = [FileDiff(path, *counted, ()) for path, counted in view.files_changed.items()]
    last = [line_of(tool) for tool in list(view.tools.values())[-TOOLS_LIVE:]]
    return cards.turn_log(title=title, tools=last, files=files)


def line_of(tool: ToolLine) -> StyledText:
    """One tool call on one line; a helper agent's own calls are marked."""
    name = f"↳ {tool.tool}" if tool.is_nested else tool.tool
    return cards.tool_line(name, tool.subject or tool.title, tool.status)


def added_line(added: Added) -> str:
    ends = {
        AddedState.GIVEN: tr("waits for the agent to take it"),
        AddedState.TAKEN: tr("taken by the agent"),
        AddedState.RETURNED: tr("not taken"),
    }
    return f"↪ {clip(added.text, 60)} — {ends[added.state]}"


def plan_line(plan: Plan) -> str:
    done = sum(step.is_done for step in plan.steps)
    current = next((step.text for step in plan.steps if step.is_current), "")
    return f"☑ {done}/{len(plan.steps)} {clip(current, SUBJECT_LIMIT)}".rstrip()


def heading(outcome: TurnFinished | TurnFailed) -> str:
    """First line of the compact log."""
    if isinstance(outcome, TurnFailed):
        return "⚠️ " + tr("Failed")
    return "⏹ " + tr("Stopped") if outcome.outcome is TurnOutcome.INTERRUPTED else "✅ " + tr("Done")


def footer(usage: Usage | None, elapsed: float, background: int = 0, turn: int = 0) -> Part:
    """The small last line under an answer: turn, time, cost or tokens, share of the context, what still runs."""
    notes = [tr("turn {number}", number=turn)] if turn else []
    if background:
        notes.append(trn("{count} task still runs", "{count} tasks still run", background))
    return cards.footer(usage, elapsed=elapsed, note=" · ".join(notes))
