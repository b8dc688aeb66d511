"""Shows one turn: when to send and revise its status, and how its end is delivered. Thin; what is shown comes
from ``bridge.presenter``. Event loop's thread; never blocks, never waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.contract import (
    AgentEvent,
    AssistantText,
    InputId,
    Thought,
    ToolFinished,
    ToolId,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    Usage,
)
from bridge.config import Verbosity
from bridge.context import HubContext
from bridge.delivery import MessageClass, Outgoing
from bridge.inbound import Place
from bridge.markdown import TEXT_LIMIT, Part, render, render_tail, stack, utf16_length
from bridge.messenger import FileUpload, Keyboard
from bridge.presenter import Added, AddedState, TurnView, footer, log_part, so_far, status_part
from bridge.sheet import EMPTY, bold, clip, italic, lines, plain, row
from bridge.texts import told, tr, trn
from bridge.trickle import Trickle
from bridge.turn_log import TurnLog, fenced

STATUS_AFTER = 5.0
"""Seconds a turn must live before it gets a status message."""
REVISE_EVERY = 1.0
REVISE_PER_TOPIC = 0.25
"""Seconds between two revisions, at least and for each busy topic. This only bounds the work of drawing: the outbox
paces the edits and wants the newest text for each."""
IDLE_EVERY = 15.0
IDLE_PER_TOPIC = 12.0
"""The same for a status in which only the elapsed time changed: it is not worth an edit of the common budget."""
TYPING_EVERY = 4.5
TAIL_LIMIT = 900
PARTS_IN_CHAT = 3
OUTPUT_SHOWN = 1500
"""Characters of a tool's output in a message of its own (verbosity "full"): about two screens of a phone."""
THOUGHT_SHOWN = 600


class TurnDisplay:
    """One turn's messages. ``show_all`` is the verb of the button under a long answer."""

    def __init__(
        self, context: HubContext, place: Place, turn_id: str, verbosity: Verbosity, *, folder: str = ""
    ) -> None:
        now = context.clock.monotonic()
        self._context = context
        self.place = place
        self.turn_id = turn_id
        self._verbosity = verbosity
        self._started = now
        self._started_wall = context.clock.now()
        self.view = TurnView(now, folder)
        self.log = TurnLog(log_path(context.data, turn_id), now)
        self._target: str | None = None
        self._head = EMPTY
        self._behind: dict[str, Part] = {}
        """Former cards whose verdict still waits for its edit: that edit shows the status of then as well."""
        self._passed: dict[str, Part] = {}
        """Those that were shown so; the status of then goes from them at the end, when edits are cheaper."""
        self._due_dirty = self._due_idle = now
        self._typed_at = float("-inf")
        self._is_dirty = False
        self._unposted: AssistantText | None = None
        self._number = context.turns.count(place) + 1
        self._trickle = Trickle(now)

    @property
    def elapsed(self) -> float:
        return self._context.clock.monotonic() - self._started

    # --- while it runs

    def observe(self, event: AgentEvent) -> None:
        now = self._context.clock.monotonic()
        self.log.observe(event, now)
        self._is_dirty |= self.view.observe(event, now)
        if self._verbosity is Verbosity.FULL:
            self._post_between(event)

    def note(self, text: str) -> None:
        """A line of the hub's own for status and log, for example an automatic decision."""
        self.view.notes.append(text)
        self._is_dirty = True

    def added(self, input_id: InputId, text: str) -> None:
        self.view.added[input_id] = Added(text)
        self._is_dirty = True

    def added_became(self, input_id: InputId, state: AddedState) -> None:
        if input_id in self.view.added:
            self.view.added[input_id].state = state
            self._is_dirty = True

    def due(self) -> float | None:
        """When ``refresh`` has something to do, in monotonic seconds."""
        typing = self._typed_at + TYPING_EVERY
        if self._verbosity is Verbosity.QUIET:
            return typing
        if self._target is None:
            return min(typing, self._started + STATUS_AFTER)
        return self._due_dirty if self._is_dirty else self._due_idle

    def refresh(self) -> None:
        """Do what is due: typing, the first status, or a revision."""
        now = self._context.clock.monotonic()
        self._follow_card()
        if self._target is None and now >= self._typed_at + TYPING_EVERY:
            self._typed_at = now
            self._context.delivery.typing(self.place)
        if self._verbosity is Verbosity.QUIET:
            return
        if self._target is None:
            if now >= self._started + STATUS_AFTER:
                self._post_status()
        elif (due := self.due()) is not None and now >= due:
            self._show(self._status(), MessageClass.PROGRESS)

    def card_decided(self) -> bool:
        """A card of this turn was answered: from now on it carries the live status. False: it is left alone."""
        self._follow_card()
        card = self._context.desk.answered_card(self.place)
        return card is not None and (card.key, card.head) == (self._target, self._head)

    def _follow_card(self) -> None:
        card = self._context.desk.answered_card(self.place)
        if card is None or card.decided_at < self._started_wall or self._verbosity is Verbosity.QUIET:
            return
        if card.key == self._target and card.head == self._head:
            return
        if self._target is not None and card.key != self._target:
            if self._head.text and self._context.delivery.has_edit_waiting(self._target):
                self._behind[self._target] = self._head
            else:
                # Cosmetic: a closing edit for it would double the calls a card costs, and finals would wait for them.
                self._context.delivery.revise(self._target, self._left_behind(), klass=MessageClass.PROGRESS)
        self._target, self._head = card.key, card.head
        self._show(self._status(), MessageClass.CLOSING)

    def _left_behind(self) -> Part:
        return self._head if self._head.text else plain("⤵ " + tr("The status goes on below."))

    def _post_status(self) -> None:
        self._target = self._context.delivery.post(
            Outgoing(self.place, self._status(), MessageClass.STATUS, key=status_key(self.turn_id))
        )
        self._was_shown()

    def _was_shown(self) -> None:
        now, busy = self._context.clock.monotonic(), self._context.busy_topics()
        self._is_dirty = False
        self._due_dirty = now + max(REVISE_EVERY, REVISE_PER_TOPIC * busy)
        self._due_idle = now + max(IDLE_EVERY, IDLE_PER_TOPIC * busy)

    def _status(self) -> Part:
        tail = self.view.preview()
        rendered = render_tail(tail, TAIL_LIMIT) if tail else None
        is_asking = self._context.desk.has_open_permission(self.place)
        waiting = tr("Waits for your answer.") if is_asking else ""
        return status_part(self.view, self._context.clock.monotonic(), rendered, waiting)

    def _show(self, part: Part, klass: MessageClass) -> None:
        if self._target is None:
            return
        delivery = self._context.delivery
        for key, head in list(self._behind.items()):
            if delivery.has_edit_waiting(key):
                delivery.revise(key, stack(head, part), klass=MessageClass.PROGRESS)
            else:
                self._passed[key] = self._behind.pop(key)
        delivery.revise(self._target, stack(self._head, part) if self._head.text else part, klass=klass)
        self._was_shown()

    def _post_between(self, event: AgentEvent) -> None:
        """Verbosity "full": texts on the way and tool output as messages of their own, the answer left out."""
        if isinstance(event, ToolStarted | AssistantText) and self._unposted is not None:
            self._post_text(self._unposted.text)
        if isinstance(event, AssistantText):
            self._unposted = event
        elif isinstance(event, Thought) and event.text.strip():
            self._post_on_the_way([row("💭 ", italic(clip(event.text, THOUGHT_SHOWN)))])
        elif isinstance(event, ToolFinished) and event.output.strip():
            self._post_output(event.tool_id, event.output)

    def _post_text(self, text: str) -> None:
        self._unposted = None
        parts = render(text)
        if len(parts) > 1:
            parts = [lines(parts[0], "… /log")] if utf16_length(parts[0].text) + 8 <= TEXT_LIMIT else parts[:1]
        self._post_on_the_way(parts)

    def _post_on_the_way(self, parts: Sequence[Part]) -> None:
        """Messages of a running turn, as far as the chat and a person bear them."""
        for part in parts:
            if not self._trickle.take(self._context.clock.monotonic(), self._context.busy_topics()):
                continue
            count = self._trickle.told()
            head = left_out_text(count) if count else ""
            shown = lines(head, part) if head and utf16_length(head + part.text) < TEXT_LIMIT else part
            self._context.delivery.post(Outgoing(self.place, shown, MessageClass.PROGRESS))

    def _post_output(self, tool_id: ToolId, output: str) -> None:
        tool = self.view.tools.get(tool_id)
        cut = output if len(output) <= OUTPUT_SHOWN else output[:OUTPUT_SHOWN] + "\n… /log"
        title = f"**{tool.tool}**\n" if tool else ""
        self._post_on_the_way(render(f"{title}{fenced(cut)}"))

    # --- its end

    def finish(
        self, outcome: TurnFinished | TurnFailed, *, background: int = 0, keyboard: Keyboard = (), note: str = ""
    ) -> None:
        """Post the end of the turn and turn the status into the log. Joins the caller's transaction."""
        elapsed = self.elapsed
        self.log.observe(outcome, self._context.clock.monotonic())
        self._follow_card()
        if isinstance(outcome, TurnFinished) and outcome.outcome is TurnOutcome.COMPLETED:
            answer = self.view.answer(outcome)
            if self._unposted is not None and self._unposted.text.strip() != answer.strip():
                self._post_text(self._unposted.text)
            self._post_answer(answer, self._foot(outcome.usage, elapsed, background))
        else:
            answer = ""
            usage = outcome.usage if isinstance(outcome, TurnFinished) else None
            self._post_broken(outcome, lines(note, self._foot(usage, elapsed, background)), keyboard)
        if self._target is not None:
            former, self._behind, self._passed = self._behind | self._passed, {}, {}
            for key, head in former.items():  # only the verdict stays on them
                self._context.delivery.revise(key, head, klass=MessageClass.PROGRESS)
            self._show(log_part(self.view, outcome, elapsed, answer), MessageClass.CLOSING)

    def _foot(self, usage: Usage | None, elapsed: float, background: int) -> Part:
        missing = self._trickle.missing
        left_out = italic(left_out_text(missing)) if missing else EMPTY
        return lines(left_out, footer(usage, elapsed, background, self._number))

    def _post_answer(self, answer: str, foot: Part) -> None:
        parts = render(answer)
        if not parts:
            done = plain("✅ " + tr("Done. The agent left no text."))
            self._final(lines(done, so_far(self.view) if self.view.tools else EMPTY, foot))
            return
        if len(parts) > PARTS_IN_CHAT:
            self._final(parts[0])
            self._post_whole(answer, foot)
            return
        parts[-1] = with_foot(parts[-1], foot)
        for index, part in enumerate(parts):
            self._final(part, index)

    def _final(self, part: Part, index: int = 0, keyboard: Keyboard = ()) -> None:
        """The first message of the end rings, the rest follows silently."""
        key = f"final:{self.turn_id}" + (f":{index}" if index else "")
        self._context.delivery.post(
            Outgoing(self.place, part, MessageClass.FINAL, key=key, keyboard=keyboard, rings=index == 0)
        )

    def _post_whole(self, answer: str, foot: Part) -> None:
        path = write_answer(self._context.data, self.turn_id, answer)
        caption = lines(tr("The whole answer"), foot)
        keyboard = self._context.buttons.keyboard(self.place, "all", [(tr("Show all here"), self.turn_id)])
        self._context.delivery.post(
            Outgoing(
                self.place,
                caption,
                MessageClass.FINAL,
                key=f"answer:{self.turn_id}",
                keyboard=keyboard,
                files=(FileUpload(path, "answer.md"),),
            )
        )

    def _post_broken(self, outcome: TurnFinished | TurnFailed, foot: Part, keyboard: Keyboard) -> None:
        """Stopped or failed: what happened, what was done so far, and the last text."""
        if isinstance(outcome, TurnFailed):
            reset = ""
            if outcome.resets_at is not None:
                reset = tr("Free again at {time}.", time=outcome.resets_at.astimezone().strftime("%d.%m. %H:%M"))
            head = lines(bold(f"⚠️ {told(outcome.title)}"), told(outcome.hint), reset)
            text = self.view.preview()
        else:
            head = bold("⏹ " + tr("Stopped."))
            text = outcome.text or self.view.preview()
        tail = render_tail(text, TAIL_LIMIT) if text.strip() else EMPTY
        end = lines(head, so_far(self.view), foot)
        self._final(stack(tail, end) if tail.text else end, keyboard=keyboard)


def left_out_text(count: int) -> str:
    """What verbosity "full" did not show."""
    return trn("{count} message was left out: /log has all.", "{count} messages were left out: /log has all.", count)


def with_foot(part: Part, foot: Part) -> Part:
    """The small line below a part; left out where it does not fit."""
    fits = utf16_length(part.text) + utf16_length(foot.text) + 2 <= TEXT_LIMIT
    return stack(part, foot) if foot.text and fits else part


def status_key(turn_id: str) -> str:
    """The key of a turn's status message."""
    return f"status:{turn_id}"


def log_path(data: Path, turn_id: str) -> Path:
    """Where a turn's whole record lies."""
    return data / "turns" / f"{turn_id}.md"


def answer_path(data: Path, turn_id: str) -> Path:
    return data / "turns" / f"{turn_id}-answer.md"


def write_answer(data: Path, turn_id: str, answer: str) -> Path:
    path = answer_path(data, turn_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(answer, encoding="utf-8", errors="replace")
    return path
