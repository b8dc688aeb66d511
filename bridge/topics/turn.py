"""One running turn of a topic: what it was begun with, how it is recorded, and how its end is written down."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.contract import Prompt, TurnFailed, TurnFinished
from bridge.context import HubContext
from bridge.inbound import Place
from bridge.messenger import Keyboard
from bridge.presentation import TurnDisplay
from bridge.spending import Spent
from bridge.texts import tr
from bridge.topics.queue import Waiting

CHANGES_KEPT = 500
"""Edits of a session that /diff remembers."""
CONTINUE = "continue"
AGAIN = "again"
CANCEL = "cancel"
STATE_LOST = "failed"
NOT_BEGUN = "not begun"


@dataclass(slots=True)
class RunningTurn:
    """``entries`` were given to the agent; ``started`` is monotonic seconds."""

    id: str
    display: TurnDisplay
    prompt: Prompt
    started: float
    entries: list[Waiting] = field(default_factory=list)
    is_stopping: bool = False
    is_told_silent: bool = False
    is_unsolicited: bool = False
    spent: Spent = field(default_factory=Spent)
    is_capped: bool = False

    @property
    def update_ids(self) -> tuple[int, ...]:
        return tuple(update_id for entry in self.entries for update_id in entry.update_ids)

    @property
    def words_of(self) -> tuple[str, ...]:
        """The denied requests whose words the turn was begun with."""
        return tuple(token for entry in self.entries for token in entry.words_of)


@dataclass(slots=True)
class Changes:
    """(path, unified diff) of the agent's edits, of the last turn and since the session was opened."""

    turn: list[tuple[str, str]] = field(default_factory=list)
    session: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, diff: str) -> None:
        self.turn.append((path, diff))
        self.session.append((path, diff))
        del self.session[:-CHANGES_KEPT]


def begin_turn(
    context: HubContext, place: Place, agent: str, prompt: Prompt, display: TurnDisplay, entries: list[Waiting]
) -> RunningTurn:
    """Write down that the turn begins, before the agent hears of it: a crash in between offers it, never repeats it."""
    turn = RunningTurn(display.turn_id, display, prompt, context.clock.monotonic(), list(entries))
    with context.database.transaction():
        context.turns.begin(turn.id, place, agent, prompt.text, turn.update_ids)
        context.journal.hand(turn.update_ids)
        context.desk.words_given(turn.words_of)
        for entry in entries:
            context.buttons.forget(entry.button)
    display.log.begin(prompt.text)
    return turn


def end_turn(
    context: HubContext,
    turn: RunningTurn,
    outcome: TurnFinished | TurnFailed,
    *,
    background: int,
    offers: tuple[str, ...] = (),
    note: str = "",
) -> None:
    """Post the end and close the records in one commit. ``offers``: CONTINUE, AGAIN, CANCEL add their buttons."""
    labels = {CONTINUE: tr("Continue"), AGAIN: tr("Try again"), CANCEL: tr("Don't run it then")}
    with context.database.transaction():
        keyboard: Keyboard = ()
        if offers:
            keyboard = context.buttons.keyboard(
                turn.display.place, "turn", [(labels[offer], f"{offer}:{turn.id}") for offer in offers]
            )
        turn.display.finish(outcome, background=background, keyboard=keyboard, note=note)
        context.turns.end(turn.id, outcome.outcome.value if isinstance(outcome, TurnFinished) else STATE_LOST)
        context.journal.finish(turn.update_ids)


def continue_prompt(task: str) -> Prompt:
    """What the agent is told after a crash; it may or may not remember the task, so the task is repeated."""
    if not task:
        return Prompt("You were interrupted. Look at what is already done, then go on from there.")
    return Prompt(
        "You were interrupted before this was finished. Look at what is already done, then go on from there; "
        f"do not start over. The task was:\n\n{task}"
    )
