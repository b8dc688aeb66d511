"""What an agent's event means for its topic."""

from __future__ import annotations

import logging
from dataclasses import replace

from agents.contract import (
    AgentEvent,
    AgentGoneError,
    BackgroundTasks,
    InputConsumed,
    InputReturned,
    ModeChanged,
    ProcessExited,
    Prompt,
    Quota,
    SessionStarted,
    SpentSoFar,
    TitleChanged,
    ToolFinished,
    ToolStatus,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    UnknownEvent,
)
from bridge.messenger import MessengerError
from bridge.presenter import AddedState
from bridge.sheet import clip
from bridge.texts import tr
from bridge.topics import limits, notices, parking
from bridge.topics.queue import WaitState
from bridge.topics.topic import Topic
from bridge.topics.turn import AGAIN, CANCEL

log = logging.getLogger(__name__)

TOPIC_NAME_LIMIT = 128


async def heard(topic: Topic, event: AgentEvent) -> None:
    """Take one event of the topic's living session."""
    topic.active_at = topic.context.clock.monotonic()
    match event:
        case SessionStarted():
            topic.session_known(event)
        case TurnStarted():
            _turn_started(topic, event)
        case SpentSoFar():
            await limits.spending(topic, event.usage)
        case TurnFinished():
            await topic.end(event)
        case TurnFailed():
            is_parked = parking.park(topic, event)
            note = tr("Then this task goes on by itself.") if is_parked else ""
            await topic.end(event, offers=(AGAIN, CANCEL) if is_parked else (AGAIN,), note=note)
        case InputConsumed() | InputReturned():
            await _input_settled(topic, event)
        case ProcessExited():
            await process_exited(topic, event)
        case _:
            _noticed(topic, event)


def _noticed(topic: Topic, event: AgentEvent) -> None:
    match event:
        case BackgroundTasks():
            topic.background.are(event.tasks, topic.context.clock.monotonic())
        case Quota():
            topic.quota = event
        case ModeChanged():
            topic.rebind(replace(topic.binding, mode=event.mode))
            if topic.started is not None:
                topic.started = replace(topic.started, mode=event.mode)
        case TitleChanged():
            _titled(topic, event.title)
        case UnknownEvent():
            pass  # the adapter has counted and logged it
        case _:
            if topic.turn is None:
                log.debug("%s outside a turn", type(event).__name__)
            else:
                topic.turn.display.observe(event)
                _remember_change(topic, event)


def _remember_change(topic: Topic, event: AgentEvent) -> None:
    """Edits that were really made, for /diff."""
    if isinstance(event, ToolFinished) and event.diff and event.status is ToolStatus.OK and topic.turn is not None:
        tool = topic.turn.display.view.tools.get(event.tool_id)
        topic.changes.add(tool.subject if tool else "", event.diff)


def _turn_started(topic: Topic, event: TurnStarted) -> None:
    """The hub's own turns are begun before the agent says so; any other one is the agent's own."""
    if topic.turn is not None:
        return
    entries = topic.line.given
    prompt = Prompt("\n\n".join(entry.prompt.text for entry in entries))
    for entry in entries:
        topic.line.remove(entry)
    topic.new_turn(prompt, entries, is_unsolicited=event.is_unsolicited or not entries)


async def _input_settled(topic: Topic, event: InputConsumed | InputReturned) -> None:
    entry = topic.line.by_input(event.input_id)
    if entry is None:
        return
    turn = topic.turn
    if isinstance(event, InputConsumed):
        topic.line.remove(entry)
        topic.context.desk.words_given(entry.words_of)
        if turn is None:
            topic.context.finish(entry.update_ids)
            return
        turn.entries.append(entry)
        topic.context.turns.add_updates(turn.id, entry.update_ids)
        turn.display.added_became(event.input_id, AddedState.TAKEN)
        return
    if turn is not None:
        turn.display.added_became(event.input_id, AddedState.RETURNED)
    topic.take_back(entry)
    was_stopped = turn is None or turn.is_stopping
    entry.state = WaitState.HELD if was_stopped and topic.is_stopped else WaitState.READY
    if turn is None:
        notices.offer_held(topic)
    await topic.advance()


async def process_exited(topic: Topic, event: ProcessExited) -> None:
    """The session's process is gone. Expected and idle: silence. In a turn: what was done, and a button."""
    if event.was_expected and topic.turn is None:
        await topic.close_session(tr("The session was closed."))
        return
    code = "" if event.exit_code is None else f" ({event.exit_code})"
    error = AgentGoneError(
        tr("{agent} ended unexpectedly{code}.", agent=topic.title, code=code),
        event.hint or tr("The next text resumes the session."),
        event.stderr[-2000:],
    )
    was_in_turn = topic.turn is not None
    await topic.session_died(error)
    if not was_in_turn:
        log.info("an idle session of topic %s ended by itself%s", topic.binding.topic_key, code)


def topic_name(title: str) -> str:
    """A title as Telegram takes it."""
    return clip(title, TOPIC_NAME_LIMIT)


def _titled(topic: Topic, title: str) -> None:
    """The topic's name follows the session's, unless a person named it."""
    name = topic_name(title)
    if topic.binding.is_named_by_hand or not name or name == topic.binding.title:
        return
    topic.rebind(replace(topic.binding, title=name))
    if topic.place.topic_id is not None:
        topic.crew.start(_rename(topic, name), "rename")


async def _rename(topic: Topic, name: str) -> None:
    """The name is a comfort: a refusal is logged and that is all."""
    context, place = topic.context, topic.place
    try:
        await context.delivery.paced(place.chat_id, lambda: context.messenger.rename_topic(place, name))
    except MessengerError as error:
        log.info("a topic could not be renamed: %s", error.title)
