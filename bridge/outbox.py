"""The durable, paced way out: every message is written before it is sent and marked after.

Implements ``bridge.delivery.Delivery``. A message for which the budget is free goes on the wire at once; its row is
then written as *sending* in the caller's own commit. Lives in the event loop's thread; ``run`` owns all its tasks.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import TypeVar

from bridge.budget import NEVER
from bridge.clock import Clock
from bridge.delivery import DeliveryEvent, DeliveryState, MessageClass, Outgoing
from bridge.dispatch import Dispatch
from bridge.inbound import Place
from bridge.lanes import ChatQueue
from bridge.letters import Letter, LetterState, digest, letter_of
from bridge.markdown.part import Part
from bridge.messenger import FloodWaitError, Keyboard, Messenger, UnreachableError
from bridge.store import Database
from bridge.texts import tr

log = logging.getLogger(__name__)

T = TypeVar("T")


def new_key() -> str:
    """A key for a message that nobody will revise."""
    return f"m:{secrets.token_hex(8)}"


def ignore(_event: DeliveryEvent) -> None:
    """For those who do not listen."""


class Outbox:
    """Posts, revises and delivers messages. Everything but ``run``, ``outcome`` and ``paced`` returns at once."""

    def __init__(
        self,
        messenger: Messenger,
        database: Database,
        clock: Clock,
        *,
        random: Random,
        on_event: Callable[[DeliveryEvent], None] = ignore,
        make_key: Callable[[], str] = new_key,
    ) -> None:
        self._database = database
        self._clock = clock
        self._make_key = make_key
        self._dispatch = Dispatch(messenger, database, clock, random, on_event)
        self._next_id = self._dispatch.rows.next_id()

    # --- life

    async def run(self) -> None:
        """Deliver until cancelled. A send under way then is in doubt: repeated, marked, at the next start."""
        await self._dispatch.run()

    async def settle_down(self, seconds: float) -> None:
        """Wait up to ``seconds`` for calls under way and start no others. Call it before ``run`` is cancelled."""
        await self._dispatch.settle_down(seconds)

    def wake(self) -> None:
        """The line is back (a poll succeeded, the computer woke up): try at once what waited for it."""
        self._dispatch.wake()

    def listen(self, on_event: Callable[[DeliveryEvent], None]) -> None:
        """Tell ``on_event`` from now on; it must return at once."""
        self._dispatch.listener = on_event

    @property
    def waiting(self) -> int:
        """How many messages and edits have not reached Telegram yet."""
        return len(self._dispatch.letters)

    # --- Delivery

    def post(self, message: Outgoing) -> str:
        """Write a message durably and send it when the budget allows."""
        key = message.key or self._make_key()
        known = self._dispatch.find(key)
        if known is not None and known.is_send and (known.is_open or known.state is LetterState.PARKED):
            self.revise(key, message.part, keyboard=message.keyboard, klass=message.klass)
            return key
        if known is not None:
            self._dispatch.forget(known)
        letter = letter_of(self._next_id, message, key)
        letter.place = self._dispatch.where(message.place)
        self._next_id += 1
        with self._database.transaction():
            self._database.after_rollback(lambda: self._undo(letter))
            self._dispatch.hold(letter)
            self._write_new(letter)
        return key

    def _write_new(self, letter: Letter) -> None:
        queue = self._dispatch.queue(letter.place.chat_id)
        if letter.place.topic_id in queue.parked_topics:
            self._dispatch.park(letter, tr("The topic can't be written to."))
            return
        goes_now = self._dispatch.goes_now(queue, letter)
        letter.state = LetterState.SENDING if goes_now else LetterState.QUEUED
        self._dispatch.rows.save(letter)
        if goes_now:
            self._dispatch.promised = letter
        self._database.after_commit(lambda: self._posted(queue, letter, goes_now=goes_now))

    def _posted(self, queue: ChatQueue, letter: Letter, *, goes_now: bool) -> None:
        if goes_now:
            self._dispatch.promised = None
            self._dispatch.start(queue, letter)
        else:
            self._dispatch.pump(queue)

    def _undo(self, letter: Letter) -> None:
        if self._dispatch.promised is letter:
            self._dispatch.promised = None
        self._dispatch.forget(letter)

    def revise(
        self, key: str, part: Part, *, keyboard: Keyboard = (), klass: MessageClass = MessageClass.CLOSING
    ) -> None:
        """Show something else in a posted message, by an edit if it was sent."""
        letter = self._dispatch.find(key)
        if letter is None or letter.state is LetterState.FAILED:
            log.info("nothing to revise under the key %s", key)
            return
        queue = self._dispatch.queue(letter.place.chat_id)
        if klass is MessageClass.PROGRESS:
            queue.note_progress(letter.place.topic_id, self._clock.monotonic())
        letter.part, letter.keyboard, letter.is_plain = part, keyboard, False
        before = (letter.is_open, letter.is_edit, letter.klass, letter.key in self._dispatch.letters)
        if letter.is_in_flight or letter is self._dispatch.promised:
            letter.next_klass = klass if letter.next_klass is None else min(letter.next_klass, klass)
        elif letter.state is LetterState.SENT:
            change_sent(letter, klass, self._clock.monotonic())
        else:
            letter.rest = ()
        if klass is not MessageClass.PROGRESS or not letter.is_edit:
            self._dispatch.rows.save(letter)
        if letter.is_open or letter.is_in_flight or letter.state is LetterState.PARKED:
            self._dispatch.hold(letter)
            if before != (letter.is_open, letter.is_edit, letter.klass, True):
                # A newer text for what waits anyway changes nothing about whose turn it is.
                self._database.after_commit(lambda: self._dispatch.pump(queue))
        else:
            self._dispatch.forget(letter)

    def drop(self, key: str) -> None:
        """Forget a message that was not sent yet, or progress that a sent one does not show yet."""
        letter = self._dispatch.letters.get(key)
        if letter is None or letter is self._dispatch.promised:
            return
        if letter.state in (LetterState.QUEUED, LetterState.UNKNOWN, LetterState.PARKED) and not letter.is_in_flight:
            self._dispatch.rows.remove(letter)
            self._dispatch.forget(letter)
            self._dispatch.tell(letter, DeliveryState(failure=tr("The message was withdrawn.")))
        elif letter.is_edit and letter.klass is MessageClass.PROGRESS and not letter.is_in_flight:
            letter.is_edit = False
            self._dispatch.forget(letter)

    async def outcome(self, key: str) -> DeliveryState:
        """Wait until the message was sent, has failed for good, or is parked with its topic."""
        return await self._dispatch.outcome(key)

    def confirm(self, key: str, message_id: int) -> None:
        """A person acted on this message: it was delivered, whatever became of the reply."""
        letter = self._dispatch.letters.get(key)
        if letter is None or self.key_of(letter.place.chat_id, message_id) is not None:
            return
        if letter.state in (LetterState.SENDING, LetterState.UNKNOWN):
            if letter.is_in_flight:
                # The call that still waits for its reply belongs to the old object and means nothing any more.
                letter = replace(letter, is_in_flight=False)
                self._dispatch.hold(letter)
            self._dispatch.sent(letter, message_id)
            self._dispatch.pump(self._dispatch.queue(letter.place.chat_id))

    def has_edit_waiting(self, key: str) -> bool:
        """Whether an edit of this message is still to be made."""
        letter = self._dispatch.letters.get(key)
        return letter is not None and letter.is_edit and not letter.is_in_flight

    def is_known(self, key: str) -> bool:
        """Whether this message is there or on its way."""
        letter = self._dispatch.find(key)
        return letter is not None and letter.state is not LetterState.FAILED

    def key_of(self, chat_id: int, message_id: int) -> str | None:
        """Which logical message a sent message is."""
        return self._dispatch.rows.key_of(chat_id, message_id)

    def typing(self, place: Place) -> None:
        """Show "typing" if it fits; never during a wait."""
        self._dispatch.show_typing(self._dispatch.where(place))

    async def paced(self, chat_id: int, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call that counts against the chat's budget."""
        queue = self._dispatch.queue(chat_id)
        while (delay := queue.budget.delay(MessageClass.REPLY, self._clock.monotonic())) > 0:
            await self._clock.sleep(min(delay, 1.0))
        queue.budget.begin(self._clock.monotonic())
        try:
            result = await call()
        except FloodWaitError as error:
            self._dispatch.wait_for(queue, error.seconds)
            raise
        except UnreachableError:
            queue.budget.withdraw()
            raise
        except BaseException:
            queue.budget.end(self._clock.monotonic())
            raise
        queue.budget.end(self._clock.monotonic())
        return result

    # --- what the hub tells

    def resume(self, place: Place) -> None:
        """A topic was opened again, or may be: what was parked for it goes out."""
        if place.topic_id in self._dispatch.queue(place.chat_id).parked_topics:
            self.rehome(place, place)

    def rehome(self, old: Place, new: Place) -> None:
        """What is parked for a lost topic goes to another one; what only showed the live status there does not."""
        queue = self._dispatch.queue(old.chat_id)
        parked = [letter for letter in queue.letters.values() if letter.place == old]
        with self._database.transaction():
            for letter in parked:
                if letter.state is not LetterState.PARKED:
                    continue
                if old != new and letter.klass > MessageClass.FINAL:
                    self.drop(letter.key)
                    continue
                self._database.after_rollback(partial(self._put_back, letter, old, letter.failure))
                queue.letters.pop(letter.id, None)
                letter.place, letter.state, letter.failure = new, LetterState.QUEUED, ""
                self._dispatch.rows.save(letter)
                self._dispatch.hold(letter)
            self._database.after_commit(lambda: self._rehomed(queue, old, new))

    def _rehomed(self, queue: ChatQueue, old: Place, new: Place) -> None:
        queue.parked_topics.discard(old.topic_id)
        self._dispatch.pump(self._dispatch.queue(new.chat_id))

    def _put_back(self, letter: Letter, old: Place, failure: str) -> None:
        """The move was not written: the letter waits where it was."""
        self._dispatch.forget(letter)
        letter.place, letter.state, letter.failure = old, LetterState.PARKED, failure
        self._dispatch.hold(letter)

    def resume_chat(self, chat_id: int) -> None:
        """The bot is back in a chat, or has its rights again."""
        queue = self._dispatch.queue(chat_id)
        queue.blocked_until = -NEVER
        self._dispatch.pump(queue)

    def move_chat(self, old_chat_id: int, new_chat_id: int) -> None:
        """A group was upgraded: rewrite every row once; a second call does nothing."""
        self._dispatch.move_chat(old_chat_id, new_chat_id)


def change_sent(letter: Letter, klass: MessageClass, now: float) -> None:
    """A sent letter has new content: an edit, or a new message where its message is not known any more."""
    if not letter.is_edit or klass < letter.klass:
        letter.waits_since = now
    letter.klass = min(letter.klass, klass) if letter.is_edit else klass
    letter.is_edit = digest(letter.part, letter.keyboard) != letter.shown
    if letter.is_edit and letter.message_id is None:
        letter.is_edit, letter.state, letter.rings = False, LetterState.QUEUED, False
