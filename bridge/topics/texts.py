"""What a text in a topic means once it is neither an answer to a card nor one of the hub's commands."""

from __future__ import annotations

from dataclasses import replace

from agents.contract import AgentCommand, FilePart, ImagePart, Prompt
from bridge.commands.parsing import Command, literal, nearest, parse_command
from bridge.commands.table import CommandTable, Where
from bridge.inbound import IncomingFile, IncomingMessage
from bridge.markdown import is_visible
from bridge.sheet import lines, plain
from bridge.texts import mark, tr
from bridge.topics import notices
from bridge.topics.inbox import Prepared
from bridge.topics.joining import Utterance
from bridge.topics.queue import Waiting, WaitState
from bridge.topics.topic import Topic
from bridge.topics.voice import is_voice, take

IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
}
IMAGE_LIMIT = 5_000_000
"""Bytes of a picture that travels inside the prompt; a larger one is given by its path."""
NAMES_OF_OTHERS = {
    "sticker": mark("a sticker"),
    "location": mark("a place"),
    "venue": mark("a place"),
    "contact": mark("a contact"),
    "poll": mark("a poll"),
    "dice": mark("a dice"),
    "game": mark("a game"),
    "story": mark("a story"),
    "checklist": mark("a checklist"),
    "rich_message": mark("a formatted message"),
    "live_photo": mark("a live photo"),
}


async def said(topic: Topic, utterance: Utterance, table: CommandTable, *, is_old: bool = False) -> None:
    """Queue, steer or begin a turn with what a person said."""
    context = topic.context
    for kind in utterance.others:
        context.say(topic.place, other_text(kind), reply_to=utterance.message_id)
    if is_blank(utterance.text) and not utterance.files:
        if not utterance.others:
            context.say(topic.place, tr("That message is empty; nothing was sent to the agent."))
        context.finish(utterance.update_ids)
        return
    if is_voice(utterance):
        take(topic, utterance)
        return
    command = None if utterance.files else parse_command(utterance.text)
    prompt = Prompt(literal(utterance.text))
    if command is not None:
        offered = agent_command(topic, command)
        if offered is None:
            _unknown_command(topic, command, utterance, table)
            return
        prompt = Prompt(command_text(offered, command), is_command=True)
    # The same name in every life of the hub: a waiting text's buttons still work after a restart.
    entry = Waiting(f"text{utterance.message_id}", prompt, utterance)
    if utterance.files:
        entry.state, entry.is_held = WaitState.PREPARING, is_old
        topic.crew.start(_prepare(topic, entry, utterance.files), "files")
    elif is_old:
        entry.state = WaitState.HELD
    topic.add_text(entry)
    await topic.advance()


def is_blank(text: str) -> bool:
    """Whether nothing can be seen of the text."""
    return not is_visible(text)


def other_text(kind: str) -> str:
    """``kind`` is Telegram's own word; one without a name here is left out."""
    if kind not in NAMES_OF_OTHERS:
        return tr("I can't take this. Send text, pictures or files.")
    return tr("I can't take this ({kind}). Send text, pictures or files.", kind=tr(NAMES_OF_OTHERS[kind]))


# --- commands of the agent


def agent_command(topic: Topic, command: Command) -> AgentCommand | None:
    """The agent's own command of that name, None when it has none."""
    offered = topic.context.agent_commands(topic.binding.agent)
    return next((known for known in offered if known.name.casefold() == command.name), None)


def command_text(offered: AgentCommand, command: Command) -> str:
    return f"/{offered.name} {command.arguments}".rstrip()


def _unknown_command(topic: Topic, command: Command, utterance: Utterance, table: CommandTable) -> None:
    offered = [known.name for known in topic.context.agent_commands(topic.binding.agent)]
    close = nearest(command.name, [*table.names(Where.TOPIC), *offered])
    topic.context.say(topic.place, unknown_command_text(command, close), reply_to=utterance.message_id)
    topic.context.finish(utterance.update_ids)


def unknown_command_text(command: Command, close: list[str]) -> str:
    hint = tr("Did you mean {names}?", names=", ".join(f"/{name}" for name in close)) if close else tr("See /help.")
    literally = tr("To send it to the agent as text, write //{name}.", name=command.name)
    return tr("There is no command /{name}.", name=command.name) + f" {hint} {literally}"


# --- files


async def _prepare(topic: Topic, entry: Waiting, files: tuple[IncomingFile, ...]) -> None:
    """Bring the files into the session's folder; the text waits for them."""
    taken = await topic.context.intake.fetch(files, topic.binding.cwd)
    images: list[ImagePart] = []
    others: list[FilePart] = []
    for path, media_type in taken.files:
        kind = IMAGE_TYPES.get(path.suffix.lower())
        if kind and path.stat().st_size <= IMAGE_LIMIT:
            images.append(ImagePart(path.read_bytes(), kind, path.name))
        else:
            others.append(FilePart(path, media_type))
    prompt = replace(entry.prompt, images=tuple(images), files=tuple(others))
    topic.inbox.put(Prepared(entry.id, prompt, taken.left_out))


def adopt(topic: Topic, entry: Waiting) -> None:
    """A text that waited in a topic that is gone waits here now; its files may still have to be fetched."""
    entry.card = ""
    entry.hold()
    topic.line.add(entry)
    if entry.state is WaitState.PREPARING and entry.said is not None:
        topic.crew.start(_prepare(topic, entry, entry.said.files), "files")


async def prepared(topic: Topic, item: Prepared) -> None:
    """The files are there (or were left out, which is said)."""
    entry = topic.line.by_id(item.entry_id)
    if entry is None:
        return
    if item.left_out:
        topic.context.say(topic.place, lines(*item.left_out), reply_to=entry.message_id)
    prompt = replace(item.prompt, text=entry.prompt.text)
    if is_blank(prompt.text) and not prompt.images and not prompt.files:
        topic.line.remove(entry)
        topic.context.finish(entry.update_ids)
        return
    entry.prompt = prompt
    entry.state = WaitState.HELD if entry.is_held else WaitState.READY
    notices.offer_held(topic)
    await topic.advance()


# --- edits


def edited(topic: Topic, message: IncomingMessage) -> None:
    """An edited message: its new text counts while it waits, else it is said that it does not.

    The update of an edit that counts stays open as long as the text waits: the next hub would take the old text else.
    """
    if topic.joiner.replace(message):
        return
    entry = topic.line.by_message(message.message_id)
    known = topic.recent_texts.get(message.message_id)
    if entry is not None and entry.said is not None:
        known = next((old.text for old in entry.said.messages if old.message_id == message.message_id), None)
        if entry.state is not WaitState.GIVEN and known != message.text:
            _take_edit(topic, entry, entry.said.changed(message))
            return
    topic.context.finish((message.update_id,))
    if known is None and parse_command(message.text) is not None:
        topic.context.say(topic.place, late_command_text(), reply_to=message.message_id)
    if known is None or known == message.text:
        return
    topic.context.say(
        topic.place,
        tr("The agent has the old text already; the change was not applied. Send it as a new message."),
        reply_to=message.message_id,
    )


def late_command_text() -> str:
    """What is said of a command that a person made by changing a message."""
    return tr("A changed message is not taken as a command. Send it as a new message.")


def _take_edit(topic: Topic, entry: Waiting, utterance: Utterance) -> None:
    entry.said = utterance
    entry.prompt = replace(entry.prompt, text=literal(utterance.text), is_command=False)
    if entry.card:
        topic.context.delivery.revise(
            entry.card,
            plain("✏️ " + tr("Changed. The new text will be used.")),
            keyboard=notices.waiting_keyboard(topic, entry),
        )
