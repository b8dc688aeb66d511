"""A topic that is gone lets everything go to another one: its session, its turns, and every text that waits here.

The lost topic's own actor ends what runs; then one synchronous step, in one commit, moves all of it, so that no crash
and no message in between finds a half.
"""

from __future__ import annotations

from dataclasses import replace

from agents.contract import HubError
from bridge.bindings import Binding, TopicState
from bridge.commands.table import CommandTable
from bridge.texts import tr
from bridge.topics import voice
from bridge.topics.inbox import HandOver
from bridge.topics.texts import adopt, said
from bridge.topics.topic import Topic
from bridge.topics.turn import Changes


class StillRunsError(HubError):
    """A turn would have to be stopped first."""


def not_parked() -> HubError:
    return HubError(tr("That session is not parked any more."))


def texts_waiting(topic: Topic) -> int:
    """How many things a person said wait in the topic."""
    return len(topic.line.entries) + len(topic.voice_notes) + topic.joiner.count


async def hand_over(lost: Topic, item: HandOver, table: CommandTable) -> bool:
    """End what runs in the lost topic and give everything away. False: something came meanwhile and goes first.

    Raises HubError; nothing was given away then.
    """
    if lost.binding.state is not TopicState.LOST:
        raise not_parked()
    if lost.is_busy and not item.is_sure:
        raise StillRunsError(tr("A turn still runs in that session."))
    await lost.session_died(HubError(tr("Stopped: the session goes on in another topic.")))
    if lost.retry_at is not None:  # the end of its turn is not written down yet
        raise HubError(tr("The database can't be written; messages wait."), tr("Free some disk space."))
    lost.hold_all()
    for utterance in lost.joiner.flush():
        await said(lost, utterance, table, is_old=True)
    if not lost.inbox.is_empty:
        lost.inbox.put(item)
        return False
    item.take(lost)
    return True


def move(lost: Topic, topic: Topic) -> None:
    """Everything of ``lost`` belongs to ``topic`` from now on. Raises StoreError; nothing has changed then."""
    context, old, new = topic.context, lost.place, topic.place
    notes = list(lost.voice_notes.values())
    said_here = [entry.update_ids for entry in lost.line.entries] + [note.said.update_ids for note in notes]
    with context.database.transaction():
        context.bindings.forget(old)
        context.bindings.move_topic(old, new)
        context.journal.move([update_id for update_ids in said_here for update_id in update_ids], new)
        context.desk.words_moved(old, new)
        topic.rebind(with_past_of(topic.binding, lost.binding))
        for key in (lost.binding.held_notice, *(entry.card for entry in lost.line.entries)):
            context.delivery.drop(key)
        context.delivery.rehome(old, new)
    topic.started, topic.usage, topic.changes = None, lost.usage, Changes()
    topic.last_prompts |= lost.last_prompts
    for entry in lost.line.entries:
        adopt(topic, entry)
    for note in notes:
        voice.take(topic, note.said)


def with_past_of(binding: Binding, lost: Binding) -> Binding:
    """The topic with the session, the folder and the choices of a lost one."""
    return replace(
        binding,
        agent=lost.agent,
        cwd=lost.cwd,
        session_id=lost.session_id,
        model=lost.model,
        mode=lost.mode,
        effort=lost.effort,
        parked_turn=lost.parked_turn or binding.parked_turn,
        parked_until=lost.parked_until if lost.parked_turn else binding.parked_until,
    )
