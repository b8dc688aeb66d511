"""Spend caps of one topic: a warning at 80 %, an interruption at 100 %, and no new turn beyond a cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.contract import TurnFailed, TurnFinished, Usage
from bridge.markdown.part import Part
from bridge.sheet import bold, lines
from bridge.spending import WARN_AT, Reading, Scope, Spent, readings, spent
from bridge.texts import tr

if TYPE_CHECKING:
    from bridge.topics.topic import Topic


async def spending(topic: Topic, usage: Usage) -> None:
    """The running turn has cost ``usage`` so far."""
    turn = topic.turn
    if turn is None:
        return
    turn.spent = topic.context.ledger.running[turn.id] = spent(usage)
    reached = _look(topic, turn.spent, turn.id)
    if reached is not None and not turn.is_capped:
        turn.is_capped = True
        topic.context.say(topic.place, cap_part(reached, tr("The turn was interrupted.")), rings=True)
        await topic.interrupt()


def ended(topic: Topic, outcome: TurnFinished | TurnFailed) -> None:
    """Write down what the turn cost, before it is forgotten."""
    turn = topic.turn
    if turn is None:
        return
    topic.context.ledger.running.pop(turn.id, None)
    told = spent(outcome.usage) if isinstance(outcome, TurnFinished) else Spent()
    cost = told if told != Spent() else turn.spent
    if cost == Spent():
        return
    reached = _look(topic, cost, turn.id)
    topic.context.ledger.add(topic.binding.agent, topic.binding.session_id or "", cost)
    if reached is not None and not turn.is_capped:
        late = tr("The agent told what the turn cost only at its end.")
        topic.context.say(topic.place, cap_part(reached, late), rings=True)


def refuses_turn(topic: Topic) -> bool:
    """Whether the session's or the day's cap is used up: then what waits is held, and that is said."""
    limits = topic.context.config.limits
    if not limits.is_set:
        return False
    for reading in readings(limits, Spent(), session_spent(topic), topic.context.ledger.of_day()):
        if reading.is_reached and reading.scope is not Scope.TURN:
            topic.hold_all()
            topic.context.say(topic.place, cap_part(reading, tr("Your text is kept: /queue shows it.")), rings=True)
            return True
    return False


def session_spent(topic: Topic) -> Spent:
    session_id = topic.binding.session_id
    return topic.context.ledger.of_session(topic.binding.agent, session_id) if session_id else Spent()


def _look(topic: Topic, turn: Spent, turn_id: str) -> Reading | None:
    """Warn about every cap that is nearly used up, once; the first one that is used up is returned."""
    context = topic.context
    limits, ledger = context.config.limits, context.ledger
    if not limits.is_set:
        return None
    reached = None
    day = ledger.of_day() + ledger.of_others(turn_id) + turn
    for reading in readings(limits, turn, session_spent(topic) + turn, day):
        if reading.is_reached:
            reached = reached or reading
        elif reading.share >= WARN_AT:
            what = {Scope.TURN: turn_id, Scope.SESSION: str(topic.binding.session_id), Scope.DAY: ledger.today}
            key = f"{reading.scope}:{what[reading.scope]}:{'$' if reading.text.startswith('$') else ''}"
            if key not in ledger.told:
                ledger.told.add(key)
                text = tr("{share} % of the cap {name} is used", share=int(reading.share * 100), name=name_of(reading))
                context.say(topic.place, f"⚠️ {text} ({reading.text}).")
    return reached


def name_of(reading: Reading) -> str:
    return {Scope.TURN: tr("for a turn"), Scope.SESSION: tr("for a session"), Scope.DAY: tr("for a day")}[reading.scope]


def cap_part(reading: Reading, end: str) -> Part:
    """A cap is used up: which, how much, and what to do."""
    advice = {
        Scope.TURN: tr("The next text begins a new turn. The cap stands in the settings: [limits]."),
        Scope.SESSION: tr("/reset begins a fresh session. The cap stands in the settings: [limits]."),
        Scope.DAY: tr("It is free again tomorrow. The cap stands in the settings: [limits]."),
    }
    return lines(
        bold("🛑 " + tr("The cap {name} is used up", name=name_of(reading)) + f" ({reading.text})."),
        end,
        advice[reading.scope],
    )
