"""The one task that works for a topic: takes items from its inbox in order, and wakes up when something is due."""

from __future__ import annotations

import logging
from dataclasses import replace

from agents.contract import HubError, Prompt, TextDelta, Thought
from bridge.bindings import TopicState
from bridge.commands.choices import choose
from bridge.commands.parsing import literal, parse_command
from bridge.commands.table import Call, CommandTable
from bridge.commands.topic import release, run_command
from bridge.store import StoreError
from bridge.texts import tr
from bridge.topics import moving, notices, parking
from bridge.topics.events import heard
from bridge.topics.inbox import (
    AskClosed,
    Called,
    Choosing,
    Chosen,
    Edited,
    Explained,
    HandOver,
    Heard,
    Hibernate,
    Interrupted,
    Item,
    Offered,
    Opened,
    OpenFailed,
    Prepared,
    Quit,
    Release,
    Reset,
    Resumed,
    Said,
    Silenced,
    TopicGone,
    TopicNamed,
    TopicShut,
)
from bridge.topics.joining import Utterance
from bridge.topics.presses import chosen
from bridge.topics.queue import Waiting, WaitState
from bridge.topics.session import close_quietly
from bridge.topics.texts import edited, prepared, said
from bridge.topics.topic import STORE_RETRY, Topic
from bridge.topics.voice import corrected

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5
"""Seconds between two looks at what is due while an agent streams words; with 20 busy topics each look of one delays
the permission requests of the others."""


class TopicActor:
    """``run`` ends after ``Quit``, or when all that was here went to another topic."""

    def __init__(self, topic: Topic, table: CommandTable) -> None:
        self.topic = topic
        self._table = table
        self._shown: tuple[object, ...] = ()
        self._look_at = 0.0
        self._old: set[int] = set()
        """Updates written while the hub was off; their texts are offered, not run."""
        self._is_over = False

    def put(self, item: Item) -> None:
        self.topic.inbox.put(item)

    async def run(self) -> None:
        topic = self.topic
        deadline = self._deadline()
        try:
            while True:
                item = await topic.inbox.next(deadline)
                if isinstance(item, Quit):
                    return
                if is_word(item) and topic.context.clock.monotonic() < self._look_at:
                    await self._guarded(item, looks=False)
                    deadline = self._look_at if deadline is None else min(deadline, self._look_at)
                    continue
                await self._guarded(item)
                if self._is_over:
                    return
                deadline = self._deadline()
                self._look_at = topic.context.clock.monotonic() + LOOK_EVERY
        finally:
            topic.inbox.close()
            await topic.live.shut()
            await topic.crew.close()

    async def _guarded(self, item: Item | None, *, looks: bool = True) -> None:
        """The outermost edge: whatever goes wrong with one item is reported, and the topic goes on."""
        try:
            if item is not None:
                await self._take(item)
            if not self._is_over:
                await self._do_what_is_due()
        except StoreError as error:
            # Nothing can be said either: what is written to the person goes through the same database.
            log.warning("topic %s: %s %s", self.topic.binding.topic_key, error.title, error.detail)
            self.topic.retry_at = self.topic.context.clock.monotonic() + STORE_RETRY
        except HubError as error:
            log.info("topic %s: %s %s", self.topic.binding.topic_key, error.title, error.detail)
            self._say_error(error)
        except Exception:
            log.exception("topic %s: %s failed", self.topic.binding.topic_key, type(item).__name__)
            self._say_error(HubError(tr("Something went wrong inside the hub."), tr("The log says more.")))

    def _say_error(self, error: HubError) -> None:
        try:
            self.topic.context.say_error(self.topic.place, error)
        except HubError:
            log.exception("an error could not be shown")

    async def _take(self, item: Item) -> None:
        match item:
            case Said() | Edited() | Called() | Chosen() | Choosing() | Prepared():
                await self._take_from_person(item)
            case Explained():
                await self._explained(item)
            case Heard() | Opened() | OpenFailed() | Silenced() | AskClosed():
                await self._take_from_session(item)
            case _:
                await self._take_from_hub(item)
        if not is_word(item):
            self._ring()

    async def _explained(self, item: Explained) -> None:
        topic = self.topic
        entry = Waiting(topic.context.new_id(), Prompt(literal(item.words.text)), words_of=(item.words.token,))
        if item.is_old:
            entry.hold()
        topic.add_text(entry)
        await topic.advance()

    def _ring(self) -> None:
        """Tell the window, but not for every word an agent streams."""
        topic = self.topic
        facts = (
            topic.turn is None,
            topic.live.is_open,
            topic.live.is_opening,
            topic.waits_for_person,
            len(topic.line.open),
            len(topic.line.held),
            topic.binding,
        )
        if facts != self._shown:
            self._shown = facts
            topic.context.changed()

    async def _take_from_person(self, item: Said | Edited | Called | Chosen | Choosing | Prepared) -> None:
        topic = self.topic
        if topic.binding.state is not TopicState.OPEN and is_sign_of_life(item):
            self._try_again()
        match item:
            case Said():
                await self._said(item)
            case Edited():
                edited(topic, item.message)
            case Called():
                await self._called(item.call)
            case Chosen():
                await chosen(topic, item)
            case Choosing():
                await choose(topic, item.what, item.value)
            case Prepared():
                await prepared(topic, item)

    def _try_again(self) -> None:
        """A person is active in a topic that is thought to be closed or gone: perhaps nobody told that it is back."""
        if self.topic.binding.state is TopicState.LOST:
            self._take_from_telegram(TopicShut(is_closed=False))
        else:
            self.topic.context.delivery.resume(self.topic.place)

    async def _said(self, item: Said) -> None:
        """A reply to an open card, else the answer to an open question, else something for the agent."""
        topic, message = self.topic, item.message
        desk = topic.context.desk
        if await corrected(topic, message):
            return
        is_answer = message.reply_to is not None and await desk.reply(message)
        if not is_answer and not message.files and parse_command(message.text) is None:
            is_answer = await desk.free_text(message)
        if is_answer:
            topic.context.finish((message.update_id,))
            return
        if item.is_old:
            self._old.add(message.update_id)
        for utterance in topic.joiner.add(message, topic.context.clock.monotonic()):
            await self._complete(utterance)

    async def _complete(self, utterance: Utterance) -> None:
        """All members of what was said in one go are here."""
        is_old = bool(self._old.intersection(utterance.update_ids))
        self._old.difference_update(utterance.update_ids)
        await said(self.topic, utterance, self._table, is_old=is_old)

    async def _take_from_session(self, item: Heard | Opened | OpenFailed | Silenced | AskClosed) -> None:
        topic = self.topic
        match item:
            case Heard():
                if item.epoch == topic.live.epoch:
                    await heard(topic, item.event)
            case Opened():
                if topic.live.accept(item):
                    topic.active_at = topic.context.clock.monotonic()
                    topic.context.session_opened()
                    await topic.advance()
                else:
                    topic.crew.start(close_quietly(item.session), "close a late session")
            case OpenFailed():
                topic.opening_failed(item)
            case Silenced():
                if item.epoch == topic.live.epoch and topic.live.is_open:
                    await topic.session_died(notices.gone(topic))
            case AskClosed():
                if topic.turn is not None:
                    topic.turn.display.card_decided()
                await topic.advance()

    async def _take_from_hub(self, item: Item) -> None:
        topic = self.topic
        match item:
            case Resumed():
                await topic.advance()
            case Offered():
                notices.offer_held(topic, reason=item.reason, rings=True)
            case Interrupted():
                if topic.is_busy and not (topic.turn and topic.turn.is_stopping):
                    await topic.interrupt()
            case Reset():
                if not topic.is_busy:
                    await topic.start_afresh(topic.binding)
            case Hibernate():
                if topic.may_rest:
                    await topic.close_session(tr("The session sleeps; the next text wakes it."))
            case Release() | HandOver():
                await self._let_go(item)
            case _:
                self._take_from_telegram(item)

    def _take_from_telegram(self, item: Item) -> None:
        """What became of the topic itself."""
        topic = self.topic
        match item:
            case TopicGone():
                topic.rebind(replace(topic.binding, state=TopicState.LOST))
                topic.is_leaving = True
                topic.hold_all()
            case TopicShut():
                state = TopicState.CLOSED if item.is_closed else TopicState.OPEN
                topic.rebind(replace(topic.binding, state=state))
                topic.is_leaving = item.is_closed
                if not item.is_closed:
                    topic.context.delivery.resume(topic.place)
                    notices.offer_held(topic)
            case TopicNamed():
                topic.rebind(replace(topic.binding, title=item.name, is_named_by_hand=True))

    async def _let_go(self, item: Release | HandOver) -> None:
        """The session goes to a terminal or to another topic: two writers would lose each other's turns, so ours is
        closed first."""
        if isinstance(item, HandOver):
            try:
                self._is_over = await moving.hand_over(self.topic, item, self._table)
            except HubError as error:
                item.failed(error)
            return
        try:
            released = await release(self.topic)
        except HubError as error:
            if not item.answer.done():
                item.answer.set_exception(error)
            return
        if not item.answer.done():
            item.answer.set_result(released)

    async def _called(self, call: Call) -> None:
        try:
            await run_command(self.topic, call, self._table)
        finally:
            self.topic.context.finish((call.message.update_id,))

    # --- what comes by itself

    def _deadline(self) -> float | None:
        topic = self.topic
        times = [
            topic.joiner.due,
            topic.turn.display.due() if topic.turn else None,
            self._silent_at(),
            topic.retry_at,
            parking.due(topic) if topic.turn is None else None,
            self._idle_at(),
            topic.given_until if topic.line.given and topic.turn is None else None,
        ]
        return min((time for time in times if time is not None), default=None)

    def _silent_at(self) -> float | None:
        topic, session = self.topic, self.topic.live.session
        if topic.turn is None or session is None or topic.turn.is_told_silent or topic.waits_for_person:
            return None
        last = max(session.last_heard, topic.turn.started, topic.active_at)
        return last + topic.context.config.silence_notice

    def _idle_at(self) -> float | None:
        topic = self.topic
        if not topic.is_quiet:
            return None
        # Leaving, it is due already; "now" would be later than the look that compares it.
        idle = topic.active_at + (0.0 if topic.is_leaving else topic.context.config.idle_close)
        return max(idle, topic.awake_until)

    async def _do_what_is_due(self) -> None:
        topic = self.topic
        now = topic.context.clock.monotonic()
        for utterance in topic.joiner.ripe(now):
            await self._complete(utterance)
        if topic.turn is not None and (due := topic.turn.display.due()) is not None and due <= now:
            topic.turn.display.refresh()
        if (silent := self._silent_at()) is not None and silent <= now and topic.turn is not None:
            topic.turn.is_told_silent = True
            notices.say_silent(topic, round(topic.context.config.silence_notice / 60))
        if (idle := self._idle_at()) is not None and idle <= now:
            await topic.close_session(tr("The session sleeps; the next text wakes it."))
        if topic.retry_at is not None and topic.retry_at <= now:
            await topic.retry()
        await parking.wake(topic)
        if topic.line.given and topic.turn is None and topic.given_until <= now:
            self._ask_about_given()

    def _ask_about_given(self) -> None:
        """The agent never said what became of these texts: only a person can tell whether to send them again."""
        for entry in self.topic.line.given:
            entry.state, entry.input_id = WaitState.HELD, None
        notices.offer_held(self.topic, reason=tr("The agent may not have seen this. Send it again?"), rings=True)


def is_sign_of_life(item: Item) -> bool:
    """Whether a person did this in the topic itself just now: then the topic is not gone."""
    return isinstance(item, Called | Chosen) or (isinstance(item, Said) and not item.is_old)


def is_word(item: Item | None) -> bool:
    """A piece of streamed text: changes what the status shows, nothing else."""
    return isinstance(item, Heard) and isinstance(item.event, TextDelta | Thought)
