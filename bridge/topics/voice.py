"""Voice notes of one topic: understood, shown, and run only by a person's word - as it is, or corrected by a reply."""

from __future__ import annotations

import asyncio
import logging
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agents.contract import HubError, Prompt
from bridge.cards import error_notice
from bridge.delivery import MessageClass
from bridge.inbound import FileKind, IncomingMessage
from bridge.markdown import Part, keep_head
from bridge.sheet import bold, lines, plain
from bridge.texts import tr
from bridge.topics.joining import Utterance
from bridge.topics.queue import Waiting
from bridge.uploads import DOWNLOAD_LIMIT, DOWNLOAD_TIMEOUT
from bridge.voice import VoiceError, transcribe

if TYPE_CHECKING:
    from bridge.topics.topic import Topic

log = logging.getLogger(__name__)

VOICE = "voice"
SHOWN = 3_000
"""UTF-16 units of the text in the card; the agent gets all of it."""


@dataclass(slots=True)
class VoiceNote:
    """One voice note that waits for a person's word; ``card`` is the key of its message."""

    id: str
    said: Utterance
    card: str
    text: str = ""


def is_voice(utterance: Utterance) -> bool:
    """Whether it is a voice note and nothing else (a sound file is a file)."""
    return bool(utterance.files) and all(file.kind is FileKind.VOICE for file in utterance.files)


def take(topic: Topic, utterance: Utterance) -> None:
    """Begin to turn it into text, or say what is missing."""
    context = topic.context
    if not context.config.voice.is_set:
        context.say(
            topic.place,
            lines(
                bold(tr("I can't listen yet: no program for voice notes is set.")),
                tr("Set [voice] command or url in the settings. Nothing was given to the agent."),
            ),
            reply_to=utterance.message_id,
        )
        context.finish(utterance.update_ids)
        return
    card = context.say(topic.place, "🎙 " + tr("Listening…"), reply_to=utterance.message_id)
    note = VoiceNote(context.new_id(), utterance, card)
    topic.voice_notes[note.id] = note
    topic.crew.start(_understand(topic, note), "voice note")


async def _understand(topic: Topic, note: VoiceNote) -> None:
    """Download, turn into text, show. Errors are said in the card; the sound is not kept."""
    context = topic.context
    folder = context.data / "voice" / note.id
    try:
        texts = []
        for number, file in enumerate(note.said.files):
            if file.size > DOWNLOAD_LIMIT:
                raise VoiceError(tr("The voice note is larger than 20 MB; bots can't get it from Telegram."))
            sound = folder / f"voice-{number}.ogg"
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True, mode=0o700)
            async with asyncio.timeout(DOWNLOAD_TIMEOUT):
                await context.messenger.download(file.file_id, sound)
            texts.append(await transcribe(sound, context.config.voice))
        note.text = "\n\n".join(text for text in (note.said.text, *texts) if text.strip())
        _show(topic, note)
    except (HubError, TimeoutError, OSError) as error:
        log.info("a voice note was not understood: %r", error)
        told = error if isinstance(error, HubError) else VoiceError(tr("The voice note could not be taken."))
        _close(topic, note, lines(error_notice(told), tr("Nothing was given to the agent.")))
        context.finish(note.said.update_ids)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _show(topic: Topic, note: VoiceNote) -> None:
    with topic.context.database.transaction():
        choices = [(tr("Run"), f"run:{note.id}"), (tr("Drop"), f"drop:{note.id}")]
        keyboard = topic.context.buttons.keyboard(topic.place, VOICE, choices)
        part = lines(
            "🎙 " + tr("I understood:"),
            bold(keep_head(note.text, SHOWN)),
            tr("Run it, or reply to this message with the right text."),
        )
        topic.context.delivery.revise(note.card, part, keyboard=keyboard, klass=MessageClass.REPLY)


async def pressed(topic: Topic, value: str, menu: str) -> None:
    """Run or Drop."""
    action, _, note_id = value.partition(":")
    note = topic.voice_notes.get(note_id)
    if note is None:
        if menu:
            topic.context.delivery.revise(menu, plain(tr("This voice note is done with. Send it again.")))
        return
    if action == "run":
        await _run(topic, note, note.text)
        return
    _close(topic, note, plain("🗑 " + tr("Dropped. The agent did not get it.")))
    topic.context.finish(note.said.update_ids)


async def corrected(topic: Topic, message: IncomingMessage) -> bool:
    """A reply to the card of a voice note is what the person meant. False: it is a reply to something else."""
    if message.reply_to is None or not topic.voice_notes or message.files or not message.text.strip():
        return False
    key = topic.context.delivery.key_of(topic.place.chat_id, message.reply_to)
    note = next((note for note in topic.voice_notes.values() if note.card == key and note.text), None)
    if note is None:
        return False
    members = (*note.said.messages, message)
    await _run(topic, replace_messages(note, members), message.text)
    return True


def replace_messages(note: VoiceNote, members: tuple[IncomingMessage, ...]) -> VoiceNote:
    """The note with the reply among its messages, so that both updates end together."""
    return replace(note, said=Utterance(members, note.said.edits))


async def _run(topic: Topic, note: VoiceNote, text: str) -> None:
    _close(topic, note, lines("🎙 " + tr("Given to the agent:"), bold(keep_head(text, SHOWN))))
    topic.add_text(Waiting(topic.context.new_id(), Prompt(text), note.said))
    await topic.advance()


def _close(topic: Topic, note: VoiceNote, part: Part) -> None:
    topic.voice_notes.pop(note.id, None)
    topic.context.delivery.revise(note.card, part)
