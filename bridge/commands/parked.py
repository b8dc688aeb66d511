"""/parked: sessions whose topic is gone, taken over by another topic with a button."""

from __future__ import annotations

from dataclasses import replace

from agents.contract import HubError
from bridge.bindings import Binding, TopicState
from bridge.commands.table import Call
from bridge.inbound import Place
from bridge.sheet import bold, clip, code, lines, row
from bridge.texts import tr
from bridge.topics.topic import Topic

PARKED = "parked"
SHOWN = 20


async def show_parked(topic: Topic, call: Call) -> None:
    """List what can be taken over here."""
    del call
    found = parked_sessions(topic)
    if not found:
        topic.context.say(topic.place, tr("No session is parked."))
        return
    backends = topic.context.backends
    listed = [
        row(
            bold(name_of(binding)),
            f" · {backends[binding.agent].traits.title if binding.agent in backends else binding.agent} · ",
            code(str(binding.cwd)),
        )
        for binding in found
    ]
    labels = [(clip(name_of(binding), 40), str(binding.place.topic_id)) for binding in found]
    with topic.context.database.transaction():
        keyboard = topic.context.buttons.keyboard(topic.place, PARKED, labels)
        part = lines(
            bold(tr("Sessions of deleted topics")),
            *listed,
            tr("A press brings one here. This topic's own session stays in /sessions."),
        )
        topic.context.say(topic.place, part, keyboard=keyboard)


def parked_sessions(topic: Topic) -> list[Binding]:
    return [
        binding
        for binding in topic.context.bindings.all()
        if binding.state is TopicState.LOST and binding.place.chat_id == topic.place.chat_id and binding.session_id
    ][:SHOWN]


def name_of(binding: Binding) -> str:
    return binding.title or f"#{binding.place.topic_id}"


async def take_over(topic: Topic, value: str) -> None:
    """The chosen session goes on in this topic, and what was on its way to the lost one comes here."""
    lost = topic.context.bindings.get(Place(topic.place.chat_id, int(value)))
    if lost is None or lost.state is not TopicState.LOST:
        raise HubError(tr("That session is not parked any more."))
    if topic.is_busy:
        raise HubError(tr("A turn is running."), tr("Wait for its end, or /stop it first."))
    await topic.start_afresh(topic.binding)
    with topic.context.database.transaction():
        topic.context.bindings.forget(lost.place)
        topic.rebind(
            replace(
                topic.binding,
                agent=lost.agent,
                cwd=lost.cwd,
                session_id=lost.session_id,
                model=lost.model,
                mode=lost.mode,
                effort=lost.effort,
            )
        )
        topic.context.say(topic.place, row("✅ ", tr("Brought here: "), bold(name_of(lost))))
    topic.context.delivery.rehome(lost.place, topic.place)
