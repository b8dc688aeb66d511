"""The hub's own buttons in a topic: waiting texts, held texts, sessions, turns, long answers."""

from __future__ import annotations

from agents.contract import Prompt
from bridge.commands import choices, folder_picker, parked
from bridge.commands.pressed import PRESSED
from bridge.delivery import MessageClass
from bridge.markdown import render
from bridge.presentation import answer_path
from bridge.sheet import plain
from bridge.texts import tr
from bridge.topics import notices, parking
from bridge.topics.inbox import Chosen
from bridge.topics.queue import Waiting
from bridge.topics.topic import Topic
from bridge.topics.turn import CANCEL, CONTINUE, continue_prompt

ALL_LIMIT = 20
"""Messages that "Show all here" may post; a group takes about twenty a minute."""


async def chosen(topic: Topic, item: Chosen) -> None:
    """Do what a button says; one that is used up does nothing."""
    match item.pressed.verb:
        case notices.QUEUE:
            await _queue(topic, item.pressed.value)
        case notices.HELD:
            await _held(topic, item.pressed.value)
        case notices.SESSION:
            await _session(topic, item.pressed.value)
        case choices.PICK:
            what, _, value = item.pressed.value.partition(":")
            await choices.apply(topic, what, value, menu_of(topic, item))
        case folder_picker.FOLDER:
            await folder_picker.walk(topic, item.pressed.value, menu_of(topic, item))
        case parked.PARKED:
            await parked.take_over(topic, item.pressed.value)
        case "turn":
            await _turn(topic, item)
        case "all":
            _show_all(topic, item)
        case verb if verb in PRESSED:
            await PRESSED[verb](topic, item.pressed.value, menu_of(topic, item))


def menu_of(topic: Topic, item: Chosen) -> str:
    """The key of the message whose button was pressed, "" when it is not known any more."""
    return topic.context.delivery.key_of(topic.place.chat_id, item.message_id) or ""


async def _queue(topic: Topic, value: str) -> None:
    action, _, entry_id = value.partition(":")
    entry = topic.line.by_id(entry_id)
    if entry is None:
        return
    if action == "drop":
        topic.drop(entry)
        return
    entry.is_after_turn = False
    if topic.turn is None or not await topic.steer(entry):
        if entry.card:
            text = tr("The agent can't take it now. It runs after this turn.")
            topic.context.delivery.revise(entry.card, plain("⏳ " + text))
        await topic.advance()


async def _held(topic: Topic, value: str) -> None:
    if value == "drop":
        for entry in topic.line.held:
            topic.drop(entry)
        notices.settle_held(topic, "🗑 " + tr("Dropped. The agent did not get it."))
        return
    topic.release_held()
    notices.settle_held(topic, "▶ " + tr("Given to the agent."))
    await topic.advance()


async def _session(topic: Topic, value: str) -> None:
    match value:
        case "fresh":
            await topic.start_afresh(topic.binding)
            topic.release_held()
            await topic.advance()
        case "again":
            topic.release_held()
            await topic.advance()
        case "stop":
            await topic.interrupt()
        case _:
            topic.active_at = topic.context.clock.monotonic()
            if topic.turn is not None:
                topic.turn.is_told_silent = False


async def _turn(topic: Topic, item: Chosen) -> None:
    """Continue or try again a turn that was cut off or failed; each button once."""
    action, _, turn_id = item.pressed.value.partition(":")
    context, record, waiting = topic.context, topic.context.turns.get(turn_id), topic.line.by_turn(turn_id)
    if not context.buttons.works(item.pressed.id):  # two taps may wait in line together
        return
    if action == CANCEL or record is None:
        context.buttons.forget(item.pressed.id)
        if waiting is not None:
            topic.drop(waiting)
        parking.settle(topic, turn_id)
        known = tr("It will not run by itself. Send it again when you want it.")
        unknown = tr("That turn is not known any more. Send the task again.")
        context.say(topic.place, known if record else unknown)
        return
    if action == CONTINUE:
        prompt = continue_prompt(record.prompt)
    else:
        prompt = topic.last_prompts.get(turn_id) or Prompt(record.prompt)
    if waiting is None:
        topic.line.put_first(Waiting(context.new_id(), prompt, resumes=turn_id, button=item.pressed.id))
    topic.release_held()
    notices.settle_held(topic, "▶ " + tr("Given to the agent."))
    await topic.advance()


def _show_all(topic: Topic, item: Chosen) -> None:
    """The rest of a long answer as messages."""
    context = topic.context
    if not context.buttons.forget(item.pressed.id):
        return
    path = answer_path(context.data, item.pressed.value)
    try:
        answer = path.read_text(encoding="utf-8")
    except OSError:
        context.say(topic.place, tr("That answer is not kept any more; open the file above."))
        return
    parts = list(render(answer))
    if len(parts) > ALL_LIMIT:
        context.say(topic.place, tr("That would be {count} messages. Open the file above.", count=len(parts)))
        return
    for part in parts[1:]:
        context.say(topic.place, part, klass=MessageClass.REPLY)
