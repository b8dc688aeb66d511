"""Carries letters to the messenger: keeps the queues moving, makes one call for each turn, settles its outcome.

Belongs to the outbox, which is what the rest of the bridge sees. Lives in the event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from random import Random

from bridge.budget import NEVER, ChatBudget, limits_of
from bridge.clock import Clock
from bridge.delivery import (
    ChatMovedTo,
    DeliveryEvent,
    DeliveryState,
    MessageClass,
    RightsLost,
    StoreTrouble,
    TokenRefused,
    TopicLost,
    WaitingUntil,
)
from bridge.inbound import Place
from bridge.lanes import ChatQueue
from bridge.letters import Letter, LetterState, digest, plain_part
from bridge.messenger import FloodWaitError, Messenger, MessengerError, OutcomeUnknownError, UnreachableError
from bridge.settlement import REPEAT_WAIT, settle
from bridge.store import Database, StoreError
from bridge.store.letterbox import Letterbox
from bridge.texts import tr

log = logging.getLogger(__name__)

LINE_WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between attempts while Telegram can't be reached; spread by half of it."""
STORE_WAIT = 5.0
"""Seconds between attempts while the database can't be written."""
TYPING_TIMEOUT = 10.0


class Dispatch:
    """Queues, tasks and outcomes. Also the ``Desk`` of ``bridge.settlement``."""

    def __init__(
        self,
        messenger: Messenger,
        database: Database,
        clock: Clock,
        random: Random,
        on_event: Callable[[DeliveryEvent], None],
    ) -> None:
        self.rows = Letterbox(database, clock)
        self.letters: dict[str, Letter] = {}
        self.promised: Letter | None = None
        """A letter that goes on the wire when the open transaction is committed."""
        self.listener = on_event
        self._messenger = messenger
        self._database = database
        self._clock = clock
        self._random = random
        self._queues: dict[int, ChatQueue] = {}
        self._waiting: dict[str, list[asyncio.Future[DeliveryState]]] = {}
        self._moved: dict[int, int] = {}
        self._alarms: dict[int, tuple[float, asyncio.Task[None]]] = {}
        self._unwritten: list[Callable[[], None]] = []
        self._tasks: asyncio.TaskGroup | None = None
        self._down_until = -NEVER
        self._line_failures = 0
        self._floods = self.rows.floods()
        self._recent = self.rows.recent_calls(limits_of(-1).window)
        self._load()

    # --- life

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            try:
                self.rows.prune()
                self.pump_all()
                await asyncio.Event().wait()
            finally:
                self._tasks = None

    async def settle_down(self, seconds: float) -> None:
        """Wait up to ``seconds`` for calls under way; start no others."""
        self._down_until = NEVER
        end = self._clock.monotonic() + seconds
        while self._clock.monotonic() < end and any(letter.is_in_flight for letter in self.letters.values()):
            await self._clock.sleep(0.02)

    def wake(self) -> None:
        """The line is back: try at once what waited for it."""
        if self._line_failures:
            self._line_failures, self._down_until = 0, -NEVER
            self.pump_all()

    # --- letters

    def find(self, key: str) -> Letter | None:
        """A letter under way, or a finished one from the database."""
        return self.letters.get(key) or self.rows.find(key)

    def hold(self, letter: Letter) -> None:
        """Keep a letter that has something to do."""
        self.letters[letter.key] = letter
        self.queue(letter.place.chat_id).letters[letter.id] = letter

    def forget(self, letter: Letter) -> None:
        """Keep it no longer; its row stays."""
        self.letters.pop(letter.key, None)
        self.queue(letter.place.chat_id).letters.pop(letter.id, None)

    def where(self, place: Place) -> Place:
        """The place under its present chat id."""
        return Place(self._moved.get(place.chat_id, place.chat_id), place.topic_id)

    def queue(self, chat_id: int) -> ChatQueue:
        """The queue of a chat; a fresh one knows what the last minute and the last flood were like."""
        found = self._queues.get(chat_id)
        if found is not None:
            return found
        now, wall = self._clock.monotonic(), self._clock.now()
        until, scale = self._floods.get(chat_id, (0.0, 1.0))
        resume_at = now + until - wall if until > wall else -NEVER
        budget = ChatBudget(limits_of(chat_id), now, scale=scale, resume_at=resume_at)
        for chat, at in self._recent:
            if chat == chat_id and at <= wall:
                budget.remember(now - (wall - at))
        self._queues[chat_id] = found = ChatQueue(chat_id, budget)
        return found

    def goes_now(self, queue: ChatQueue, letter: Letter) -> bool:
        """Whether the letter would be started this moment."""
        if self._tasks is None or self.promised is not None or self._unwritten:
            return False
        now = self._clock.monotonic()
        return now >= self._down_until and queue.choose(now).letter is letter

    def tell(self, letter: Letter, state: DeliveryState) -> None:
        """Answer those who wait for the letter."""
        for future in self._waiting.pop(letter.key, []):
            if not future.done():
                future.set_result(state)

    async def outcome(self, key: str) -> DeliveryState:
        """Wait for the letter's end."""
        letter = self.find(key)
        if letter is None:
            return DeliveryState(failure=tr("The message is not known."))
        if letter.state is LetterState.SENT or letter.failure:
            return DeliveryState(letter.message_id, letter.failure)
        future: asyncio.Future[DeliveryState] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(future)
        return await future

    # --- moving

    def pump_all(self) -> None:
        """Look at every chat."""
        for queue in list(self._queues.values()):
            self.pump(queue)

    def pump(self, queue: ChatQueue) -> None:
        """Start what may start now, and set the alarm for the rest."""
        if self._tasks is None:
            return
        now = self._clock.monotonic()
        self._write_rest(now)
        if now < self._down_until:
            self._wake_in(queue, self._down_until - now)
            return
        while (choice := queue.choose(now)).letter is not None:
            letter = choice.letter
            if letter.is_send:
                letter.state = LetterState.SENDING
                if not self.write(lambda letter=letter: self.rows.save(letter)):  # type: ignore[misc]
                    letter.state = LetterState.QUEUED
                    self._wake_in(queue, STORE_WAIT)
                    return
            self.start(queue, letter)
        self._wake_in(queue, choice.wait)

    def start(self, queue: ChatQueue, letter: Letter) -> None:
        """Make the letter's call in a task of its own."""
        if self._tasks is None:
            return
        now = self._clock.monotonic()
        queue.note_served(letter, now)
        queue.budget.begin(now, letter.klass)
        letter.is_in_flight, letter.started = True, now
        self._tasks.create_task(self._carry(queue, letter))

    async def _carry(self, queue: ChatQueue, letter: Letter) -> None:
        was_edit, chat_id = letter.is_edit, letter.place.chat_id
        # Taken here and not when the task was made: a revision in between still goes out with this call.
        letter.on_wire, letter.next_klass = digest(letter.part, letter.keyboard), None
        try:
            outcome: int | MessengerError = await self._call(letter)
        except MessengerError as error:
            outcome = error
        except Exception:
            log.exception("the messenger failed unexpectedly")
            outcome = OutcomeUnknownError("The call failed in an unexpected way")
        letter.is_in_flight = False
        self._account(queue, outcome)
        if self.letters.get(letter.key) is not letter:
            # Confirmed by a person or posted anew meanwhile: this call's outcome says nothing more.
            if isinstance(outcome, FloodWaitError):
                self.wait_for(queue, outcome.seconds)
        elif letter.place.chat_id != chat_id:
            self._say_again(letter, may_be_there=not was_edit and not isinstance(outcome, MessengerError))
        elif isinstance(outcome, MessengerError):
            settle(letter, outcome, self)
        elif was_edit:
            self.finish(letter)
        else:
            self.sent(letter, outcome)
        self.pump(self.queue(letter.place.chat_id))

    def _say_again(self, letter: Letter, *, may_be_there: bool) -> None:
        """The group moved while the call was under way: what it came to counts for the old group only."""
        letter.repeats += may_be_there
        self.again(letter)

    async def _call(self, letter: Letter) -> int:
        """One call; returns the id of the message that now shows the letter."""
        part, place = letter.wire_part(), letter.place
        if letter.is_edit and letter.message_id is not None:
            await self._messenger.edit_text(
                place.chat_id, letter.message_id, part, keyboard=letter.keyboard, as_plain=letter.is_plain
            )
            return letter.message_id
        keyboard = () if letter.rest else letter.keyboard
        if letter.files:
            caption = part if part.text or part.html else None
            return await self._messenger.send_files(
                place, letter.files, caption=caption, keyboard=keyboard, is_silent=not letter.rings
            )
        return await self._messenger.send_text(
            place,
            part,
            keyboard=keyboard,
            is_silent=not letter.rings,
            reply_to=letter.reply_to,
            as_plain=letter.is_plain,
        )

    def _account(self, queue: ChatQueue, outcome: int | MessengerError) -> None:
        if isinstance(outcome, UnreachableError):
            queue.budget.withdraw()
        elif not isinstance(outcome, FloodWaitError):
            queue.budget.end(self._clock.monotonic())
            self._line_failures = 0
        if isinstance(outcome, int):
            queue.blocked_until = -NEVER

    def sent(self, letter: Letter, message_id: int) -> None:
        """A send arrived. Slices of a text that was too long follow; a revision made meanwhile becomes an edit."""
        letter.message_id = letter.message_id or message_id
        letter.repeats = 0
        if letter.rest:
            letter.part, letter.rest, letter.files = plain_part(letter.rest[0]), letter.rest[1:], ()
            letter.state, letter.is_plain, letter.reply_to = LetterState.QUEUED, False, None
            self.write(lambda: self.rows.save_sent(letter, message_id))
            return
        letter.state, letter.shown = LetterState.SENT, letter.on_wire
        self._follow_up(letter)
        is_written = self.write(lambda: self.rows.save_sent(letter, message_id))
        self.tell(letter, DeliveryState(letter.message_id))
        if is_written and not letter.is_edit:
            self.forget(letter)

    def _follow_up(self, letter: Letter) -> None:
        letter.edit_failures = 0
        letter.is_edit = digest(letter.part, letter.keyboard) != letter.shown
        if letter.next_klass is not None:
            letter.klass, letter.next_klass = letter.next_klass, None
            letter.waits_since = self._clock.monotonic()

    # --- Desk: what a settlement may do

    def again(self, letter: Letter, wait: float = 0.0) -> None:
        """Put a letter back."""
        letter.not_before = self._clock.monotonic() + wait if wait else 0.0
        if letter.state is LetterState.SENDING:
            letter.state = LetterState.QUEUED
        if letter.is_edit and letter.next_klass is not None:
            letter.klass = min(letter.klass, letter.next_klass)
        if letter.is_send or letter.klass < MessageClass.PROGRESS:
            self.write(lambda: self.rows.save(letter))

    def finish(self, letter: Letter) -> None:
        """The message shows what the letter said when its edit was started."""
        klass = letter.klass
        letter.shown = letter.on_wire
        self._follow_up(letter)
        is_written = klass is MessageClass.PROGRESS or self.write(lambda: self.rows.save(letter))
        if is_written and not letter.is_edit:
            self.forget(letter)

    def fail(self, letter: Letter, reason: str) -> None:
        """Give up, with a sentence that says why."""
        log.warning("letter %s of class %s failed: %s", letter.id, letter.klass.name, reason)
        if letter.is_edit:
            letter.is_edit = False
        else:
            letter.state, letter.failure = LetterState.FAILED, reason
        self.write(lambda: self.rows.save(letter))
        self.tell(letter, DeliveryState(failure=reason))
        self.forget(letter)

    def flood(self, letter: Letter, seconds: float) -> None:
        """Honour a wait to its end."""
        self.wait_for(self.queue(letter.place.chat_id), seconds)

    def wait_for(self, queue: ChatQueue, seconds: float) -> None:
        """Leave a chat alone, also after a restart."""
        now = self._clock.monotonic()
        until = self._clock.now() + queue.budget.flooded(seconds, now) - now
        log.warning("Telegram asks to leave chat %s alone for %.0f s", queue.chat_id, seconds)
        self.write(lambda: self.rows.save_flood(queue.chat_id, until, queue.budget.scale))
        self._announce(WaitingUntil(queue.chat_id, until))

    def line_down(self) -> None:
        """Leave the line alone for a while."""
        wait = LINE_WAITS[min(self._line_failures, len(LINE_WAITS) - 1)]
        self._line_failures += 1
        self._down_until = max(self._down_until, self._clock.monotonic() + wait * (0.5 + self._random.random()))

    def topic_lost(self, letter: Letter, *, is_closed: bool) -> None:
        """Park everything that is on its way to the letter's topic; nothing of it ever goes to General."""
        place = letter.place
        queue = self.queue(place.chat_id)
        is_news = place.topic_id not in queue.parked_topics
        queue.parked_topics.add(place.topic_id)
        reason = tr("The topic is closed.") if is_closed else tr("The topic is gone.")
        for other in list(queue.letters.values()):
            if other.place == place and other.is_send and not other.is_in_flight:
                self.park(other, reason)
        if is_news:
            self._announce(TopicLost(place, is_closed))

    def park(self, letter: Letter, reason: str) -> None:
        """Keep a letter until its topic is back or replaced."""
        letter.state, letter.failure = LetterState.PARKED, reason
        self.write(lambda: self.rows.save(letter))
        self.tell(letter, DeliveryState(failure=reason))

    def chat_blocked(self, letter: Letter, reason: str, wait: float) -> None:
        """Stop sending to a chat that refuses the bot; keep what is meant for it."""
        queue = self.queue(letter.place.chat_id)
        is_news = queue.blocked_until == -NEVER
        queue.blocked_until = self._clock.monotonic() + wait
        if is_news:
            self._announce(RightsLost(queue.chat_id, reason))

    def right_missing(self, letter: Letter, reason: str) -> None:
        """Say that one kind of call lacks a right."""
        self._announce(RightsLost(letter.place.chat_id, reason, is_for_chat=False))

    def token_refused(self, wait: float) -> None:
        """Stop everything; the token may be replaced or restored."""
        self._down_until = self._clock.monotonic() + wait
        self._announce(TokenRefused())

    def move_chat(self, old_chat_id: int, new_chat_id: int) -> None:
        """A group was upgraded: rewrite every row once; a second call does nothing."""
        if old_chat_id in self._moved or old_chat_id == new_chat_id:
            return
        self._moved[old_chat_id] = new_chat_id
        self.write(lambda: self.rows.move_chat(old_chat_id, new_chat_id))
        old = self.queue(old_chat_id)
        for letter in list(old.letters.values()):
            old.letters.pop(letter.id)
            letter.place = Place(new_chat_id, letter.place.topic_id)
            if letter.is_edit:
                # The message to edit does not exist any more: what it should say is said anew.
                letter.is_edit, letter.state, letter.klass = False, LetterState.QUEUED, MessageClass.STATUS
            letter.message_id = None
            self.hold(letter)
            self.write(lambda letter=letter: self.rows.save(letter))  # type: ignore[misc]
        self._announce(ChatMovedTo(old_chat_id, new_chat_id))
        self.pump(self.queue(new_chat_id))

    # --- inside

    def _announce(self, event: DeliveryEvent) -> None:
        """A listener that fails must not stop what is on its way."""
        try:
            self.listener(event)
        except Exception:
            log.exception("%s could not be told", type(event).__name__)

    def write(self, change: Callable[[], None]) -> bool:
        """Write to the database; what it can't take now is written before anything else is sent."""
        try:
            change()
        except StoreError as error:
            log.exception("the outbox can't write")
            self._unwritten.append(change)
            self._down_until = max(self._down_until, self._clock.monotonic() + STORE_WAIT)
            self._announce(StoreTrouble(error.title))
            return False
        return True

    def _write_rest(self, now: float) -> None:
        if not self._unwritten or now < self._down_until:
            return
        changes, self._unwritten = self._unwritten, []
        for number, change in enumerate(changes):
            if not self.write(change):
                self._unwritten.extend(changes[number + 1 :])
                return

    def _wake_in(self, queue: ChatQueue, wait: float) -> None:
        if self._tasks is None or wait == NEVER:
            return
        due = self._clock.monotonic() + wait
        known = self._alarms.get(queue.chat_id)
        if known is not None and not known[1].done():
            if known[0] <= due + 1e-3:
                return
            known[1].cancel()
        self._alarms[queue.chat_id] = (due, self._tasks.create_task(self._alarm(queue, wait)))

    async def _alarm(self, queue: ChatQueue, wait: float) -> None:
        await self._clock.sleep(wait)
        self._alarms.pop(queue.chat_id, None)
        self.pump(queue)

    def show_typing(self, place: Place) -> None:
        """Show "typing" if it fits."""
        queue, now = self.queue(place.chat_id), self._clock.monotonic()
        is_quiet = now < max(queue.budget.resume_at, queue.blocked_until, self._down_until)
        if self._tasks is None or is_quiet or place.topic_id in queue.parked_topics:
            return
        if queue.typing.take(place.topic_id, now):
            self._tasks.create_task(self._type(queue, place))

    async def _type(self, queue: ChatQueue, place: Place) -> None:
        try:
            async with asyncio.timeout(TYPING_TIMEOUT):
                await self._messenger.show_typing(place)
        except FloodWaitError as error:
            queue.budget.begin(self._clock.monotonic())
            self.wait_for(queue, error.seconds)
        except (MessengerError, TimeoutError) as error:
            log.debug("typing was not shown: %s", error)

    def _load(self) -> None:
        """Take up what a former life left: what it was sending is in doubt and goes out once more, marked."""
        now = self._clock.monotonic()
        for letter in self.rows.open_letters():
            if letter.state is LetterState.SENDING:
                letter.state, letter.repeats = LetterState.UNKNOWN, letter.repeats + 1
                letter.not_before = now + REPEAT_WAIT
            elif letter.state is LetterState.UNKNOWN:
                letter.not_before = now + REPEAT_WAIT
            self.hold(letter)
            if letter.state is LetterState.PARKED:
                self.queue(letter.place.chat_id).parked_topics.add(letter.place.topic_id)
