"""A turn that a usage limit refused waits for the told reset and then goes on by itself, unless a person cancels it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agents.contract import FailureKind, Prompt, TurnFailed
from bridge.bindings import TopicState
from bridge.texts import tr
from bridge.topics.queue import Waiting

if TYPE_CHECKING:
    from bridge.topics.topic import Topic

MARGIN = 60.0
"""Seconds after the told reset before the turn is tried again."""
LONGEST = 8 * 24 * 3600.0
"""A reset further away is not believed."""
LOOK = 300.0
"""Seconds between two looks at the wall clock, which may be set or stand still meanwhile."""


def park(topic: Topic, failed: TurnFailed) -> bool:
    """Remember the failed turn that runs now; False when its failure tells no usable reset."""
    if failed.resets_at is None or topic.turn is None or failed.kind is not FailureKind.QUOTA:
        return False
    until = failed.resets_at.timestamp() + MARGIN
    if not 0 < until - topic.context.clock.now() < LONGEST:
        return False
    topic.rebind(replace(topic.binding, parked_turn=topic.turn.id, parked_until=until))
    return True


def due(topic: Topic) -> float | None:
    """When ``wake`` should be asked again, in monotonic seconds; None: nothing is parked."""
    if not topic.binding.parked_turn or topic.binding.state is TopicState.LOST:
        return None
    if topic.line.by_turn(topic.binding.parked_turn):
        return None
    left = topic.binding.parked_until - topic.context.clock.now()
    return topic.context.clock.monotonic() + min(max(left, 0.0), LOOK)


async def wake(topic: Topic) -> None:
    """Run the parked task if its time has come and nothing else runs."""
    binding = topic.binding
    if not binding.parked_turn or topic.turn is not None or topic.context.clock.now() < binding.parked_until:
        return
    if topic.line.by_turn(binding.parked_turn) or binding.state is TopicState.LOST:  # there nobody would see it
        return
    record = topic.context.turns.get(binding.parked_turn)
    if record is None:
        settle(topic, binding.parked_turn)
        return
    prompt = topic.last_prompts.get(binding.parked_turn) or Prompt(record.prompt)
    topic.context.say(topic.place, "▶ " + tr("The limit is over; the task goes on."))
    topic.line.put_first(Waiting(topic.context.new_id(), prompt, resumes=binding.parked_turn))
    await topic.advance()


def settle(topic: Topic, *turn_ids: str) -> None:
    """These turns go on now, or never: what was remembered of them is done with. Joins the caller's transaction."""
    if topic.binding.parked_turn and topic.binding.parked_turn in turn_ids:
        topic.rebind(replace(topic.binding, parked_turn="", parked_until=0.0))
