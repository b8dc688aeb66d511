"""A turn that a usage limit refused waits for the told reset and then goes on by itself, unless a person cancels it."""

from __future__ import annotations

from dataclasses import replace

from agents.contract import FailureKind, Prompt, TurnFailed
from bridge.bindings import TopicState
from bridge.texts import tr
from bridge.topics.queue import Waiting
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
    left = topic.binding.parked_until - topic.context.clock.now()
    return topic.context.clock.monotonic() + min(max(left, 0.0), LOOK)


async def wake(topic: Topic) -> None:
    """Run the parked task if its time has come and nothing else runs."""
    binding = topic.binding
    if not binding.parked_turn or topic.turn is not None or topic.context.clock.now() < binding.parked_until:
        return
    if binding.state is TopicState.LOST:  # nobody would see what it does
        return
    record = topic.context.turns.get(binding.parked_turn)
    prompt = topic.last_prompts.get(binding.parked_turn)
    forget(topic)
    if record is None:
        return
    topic.context.say(topic.place, "▶ " + tr("The limit is over; the task goes on."))
    topic.line.put_first(Waiting(topic.context.new_id(), prompt or Prompt(record.prompt)))
    await topic.advance()


def forget(topic: Topic) -> None:
    """Nothing is parked any more."""
    topic.rebind(replace(topic.binding, parked_turn="", parked_until=0.0))
