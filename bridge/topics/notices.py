"""What a topic says about itself: waiting texts, held texts, failures to open. Texts and buttons only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agents.contract import BackgroundTask, HubError, SessionNotFoundError
from bridge.bindings import TopicState
from bridge.cards import error_notice
from bridge.delivery import MessageClass
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import Keyboard
from bridge.sheet import bold, clip, lines, plain
from bridge.texts import told, tr, trn

if TYPE_CHECKING:
    from bridge.context import HubContext
    from bridge.topics.queue import Waiting
    from bridge.topics.topic import Topic

QUEUE = "queue"
HELD = "held"
SESSION = "session"
SHOWN_TEXTS = 5


def card_of(topic: Topic, entry: Waiting) -> str:
    """The key of the card that shows a person's text waiting, the same in every life of the hub; else ""."""
    if entry.message_id is None:
        return ""
    return f"waits:{topic.place.chat_id}:{topic.place.topic_id}:{entry.message_id}"


def post_waiting(topic: Topic, entry: Waiting) -> str:
    """Show that a text waits, on the card that it has or a new one; returns the card's key."""
    context, key = topic.context, card_of(topic, entry)
    with context.database.transaction():
        keyboard, part = waiting_keyboard(topic, entry), plain(waiting_text(topic))
        if key and context.delivery.is_known(key):
            context.delivery.revise(key, part, keyboard=keyboard, klass=MessageClass.REPLY)
            return key
        return context.say(topic.place, part, keyboard=keyboard, reply_to=entry.message_id, key=key)


def waiting_keyboard(topic: Topic, entry: Waiting) -> Keyboard:
    """Give it now (where the agent can take it) and Drop."""
    choices = [(tr("Drop"), f"drop:{entry.id}")]
    if topic.turn is not None and topic.traits.can_steer and not entry.is_command:
        choices.insert(0, (tr("Give it now"), f"steer:{entry.id}"))
    return topic.context.buttons.keyboard(topic.place, QUEUE, choices)


def waiting_text(topic: Topic) -> str:
    if topic.context.is_paused:
        return "⏸ " + tr("The hub is paused. This runs when it goes on.")
    if not topic.context.may_start_turns:
        return "🔒 " + tr("The hub is locked. This runs after /unlock.")
    if topic.context.desk.has_open_permission(topic.place):
        return "⏳ " + tr("Waits until you have answered the open request.")
    return "⏳ " + tr("Waits until this turn is done.")


def given_part() -> Part:
    return plain("↪ " + tr("Given to the running turn."))


def started_part() -> Part:
    return plain("▶ " + tr("Started."))


def dropped_part() -> Part:
    return plain("🗑 " + tr("Dropped. The agent did not get it."))


def offer_held(topic: Topic, *, reason: str = "", rings: bool = False, is_asked: bool = False) -> None:
    """One message for everything that waits for the person's word in this topic; not twice for the same texts."""
    held = topic.line.held
    ids = tuple(entry.id for entry in held)
    if not held or (ids == topic.offered and not is_asked):
        return
    if topic.binding.state is TopicState.LOST:  # they are offered where the session goes on
        return
    topic.offered = ids
    context = topic.context
    count = trn("{count} message was not run.", "{count} messages were not run.", len(held))
    texts = [plain("• " + (clip(entry.prompt.text, 120) or tr("files"))) for entry in held[:SHOWN_TEXTS]]
    more = len(held) - SHOWN_TEXTS
    part = lines(
        bold(reason or count),
        *texts,
        trn("… and {count} more", "… and {count} more", more) if more > 0 else "",
    )
    with context.database.transaction():
        _withdraw(topic, tr("See the newer message below."))
        for entry in held:
            if entry.card:
                context.delivery.revise(entry.card, plain("⏸ " + tr("Held. See the message below.")))
                entry.card = ""
        keyboard = context.buttons.keyboard(topic.place, HELD, [(tr("Run"), "run"), (tr("Drop"), "drop")])
        key = context.say(topic.place, part, keyboard=keyboard, rings=rings)
        topic.rebind(replace(topic.binding, held_notice=key))


def settle_held(topic: Topic, text: str) -> None:
    """The notice of held texts is done with."""
    _withdraw(topic, text)
    if topic.binding.held_notice:
        topic.rebind(replace(topic.binding, held_notice=""))


def _withdraw(topic: Topic, text: str) -> None:
    """Take the buttons off the former notice, or the notice itself if it was not sent yet."""
    key = topic.binding.held_notice
    if key:
        topic.context.delivery.drop(key)
        topic.context.delivery.revise(key, plain(text))


def say_opening_failed(topic: Topic, error: HubError) -> None:
    """The session could not be opened or resumed; the texts are kept."""
    context, place = topic.context, topic.place
    if isinstance(error, SessionNotFoundError):
        part = lines(
            bold("⚠️ " + tr("This topic's session can't be found any more.")),
            told(error.hint),
            tr("Your text is kept. Start a fresh session with it?") if topic.line.held else "",
        )
        keyboard = context.buttons.keyboard(
            place, SESSION, [(tr("Fresh session"), "fresh"), (tr("Try again"), "again")]
        )
    else:
        kept = tr("Your text is kept.") if topic.line.held else ""
        part, keyboard = lines(error_notice(error), kept), retry_keyboard(context, place)
    context.say(place, part, keyboard=keyboard, rings=True)


def retry_keyboard(context: HubContext, place: Place) -> Keyboard:
    return context.buttons.keyboard(place, SESSION, [(tr("Try again"), "again")])


def say_ended_with_session(topic: Topic, tasks: Sequence[BackgroundTask]) -> None:
    """Name the background work that a closed session took along."""
    if tasks:
        names = ", ".join(clip(task.title, 60) for task in tasks)
        topic.context.say(topic.place, tr("Ended together with the session: {names}", names=names))


def say_silent(topic: Topic, minutes: int) -> None:
    """A running agent has said nothing for long."""
    context = topic.context
    keyboard = context.buttons.keyboard(topic.place, SESSION, [(tr("Stop"), "stop"), (tr("Keep waiting"), "wait")])
    context.say(
        topic.place,
        lines(
            bold("🤫 " + tr("{agent} has said nothing for {minutes} min.", agent=topic.title, minutes=minutes)),
            tr("It may be working on something long, or be stuck."),
        ),
        keyboard=keyboard,
        rings=True,
        klass=MessageClass.REPLY,
    )


def gone(topic: Topic) -> HubError:
    """The session ended without a word."""
    return HubError(tr("{agent} ended unexpectedly.", agent=topic.title), tr("The next text resumes the session."))
