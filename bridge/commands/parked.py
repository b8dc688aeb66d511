"""/parked: sessions whose topic is gone, taken over by another topic with a button, with all that waits there."""

from __future__ import annotations

from functools import partial

from agents.contract import HubError
from bridge.bindings import Binding, TopicState
from bridge.commands.table import Call
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.sheet import bold, clip, code, lines, row
from bridge.texts import tr, trn
from bridge.topics import moving, notices
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
    labels = [(clip(name_of(binding), 40), str(binding.place.topic_id)) for binding, _ in found]
    with topic.context.database.transaction():
        keyboard = topic.context.buttons.keyboard(topic.place, PARKED, labels)
        part = lines(
            bold(tr("Sessions of deleted topics")),
            *(_entry(topic, binding, waiting) for binding, waiting in found),
            tr("A press brings one here, with all that waits. This topic's own session stays in /sessions."),
        )
        topic.context.say(topic.place, part, keyboard=keyboard)


def _entry(topic: Topic, binding: Binding, waiting: int) -> Part:
    backend = topic.context.backends.get(binding.agent)
    return row(
        bold(name_of(binding)),
        f" · {backend.traits.title if backend else binding.agent} · ",
        code(str(binding.cwd)),
        " · " + trn("{count} text waits", "{count} texts wait", waiting) if waiting else "",
    )


def parked_sessions(topic: Topic) -> list[tuple[Binding, int]]:
    """Lost topics with something to bring here, and how many texts wait in each."""
    waiting = {other.place: moving.texts_waiting(other) for other in topic.context.topics()}
    return [
        (binding, waiting.get(binding.place, 0))
        for binding in topic.context.bindings.all()
        if binding.state is TopicState.LOST
        and binding.place.chat_id == topic.place.chat_id
        and (binding.session_id or waiting.get(binding.place, 0))
    ][:SHOWN]


def name_of(binding: Binding) -> str:
    return binding.title or f"#{binding.place.topic_id}"


async def take_over(topic: Topic, value: str) -> None:
    """The chosen session goes on in this topic; what waits there and what was on its way there comes here.

    ``value`` is the lost topic's number, with a "!" before it if a turn that still runs may be stopped.
    """
    place = Place(topic.place.chat_id, int(value.removeprefix("!")))
    lost = topic.context.bindings.get(place)
    if lost is None or lost.state is not TopicState.LOST:
        raise moving.not_parked()
    if topic.is_busy:
        raise HubError(tr("A turn is running."), tr("Wait for its end, or /stop it first."))
    owner = topic.context.bindings.holder(lost.agent, lost.session_id) if lost.session_id else None
    if owner is not None and owner.place != topic.place:
        raise HubError(
            tr("That session belongs to the topic “{title}”.", title=name_of(owner)), tr("Send /parked there.")
        )
    await topic.close_session(tr("Another session was brought here."))
    try:
        await topic.context.hand_over(place, partial(_take, topic), is_sure=value.startswith("!"))
    except moving.StillRunsError as error:
        _ask(topic, lost, error)
        return
    notices.offer_held(topic, reason=tr("Written in the topic that is gone. Run it now?"))


def _take(topic: Topic, lost: Topic) -> None:
    with topic.context.database.transaction():
        topic.context.say(topic.place, row("✅ ", tr("Brought here: "), bold(name_of(lost.binding))))
        moving.move(lost, topic)


def _ask(topic: Topic, lost: Binding, error: HubError) -> None:
    with topic.context.database.transaction():
        choices = [(tr("Stop it and bring it here"), f"!{lost.place.topic_id}")]
        keyboard = topic.context.buttons.keyboard(topic.place, PARKED, choices)
        part = lines(bold(error.title), tr("Its answer comes here too if you bring it later."))
        topic.context.say(topic.place, part, keyboard=keyboard)
