"""After an absence: what a former life left is reported and offered with buttons, never run by itself twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.bindings import TopicState
from bridge.cards import duration
from bridge.context import HubContext
from bridge.inbound import Inbound, IncomingMessage, Place
from bridge.presentation import status_key
from bridge.sheet import bold, clip, lines, plain
from bridge.store import UpdateState
from bridge.texts import tr
from bridge.topics.inbox import Edited, Explained, Item, Offered, Said
from bridge.topics.turn import CONTINUE
from bridge.turns import CUT_OFF, TurnRecord

HEARTBEAT = 20.0
ASLEEP = 60.0
"""Seconds without a heartbeat, beyond its interval, that count as a sleep of the computer."""
CATCH_UP = 30.0
"""Seconds from the first message after an absence in which old ones count as written meanwhile."""
GATHER = 2.0
"""Seconds in which messages of one topic are gathered for one notice."""
RETENTION = 24 * 3600.0
"""Telegram keeps updates so long (Bot API: getUpdates)."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An update that a former life did not finish."""

    update: Inbound
    state: UpdateState


class Line(Protocol):
    """A topic's line of work."""

    def put(self, item: Item) -> None: ...


class Recovery:
    """Knows how long the hub was away and what waits because of it."""

    def __init__(self, context: HubContext, line: Callable[[Place], Line]) -> None:
        self._context = context
        self._line = line
        self._alive = context.clock.now()
        self._is_catching_up = False
        self._caught_up_at: float | None = None
        self._offered: set[Place] = set()
        self._held: set[int] = set()
        """Updates of texts that a former life held: only a person's word lets them go on."""

    def begin(self, unfinished: Sequence[Pending]) -> None:
        """Report turns that were cut off, and put in line what an agent may or may not have seen."""
        self._arm()
        handed = {
            pending.update.update_id: pending.update for pending in unfinished if pending.state is UpdateState.HANDED
        }
        reported: set[Place] = set()
        for record in reversed(self._context.turns.unended()):
            self._report(record, offers_to_continue=record.place not in reported)
            reported.add(record.place)
            for update_id in record.update_ids:
                handed.pop(update_id, None)
        for update in handed.values():
            if isinstance(update, IncomingMessage):
                self._line(update.place).put(Edited(update) if update.is_edit else Said(update, is_old=True))
                self._offered.add(update.place)
            else:
                self._context.finish((update.update_id,))
        for words in self._context.desk.words_due():
            self._line(words.place).put(Explained(words, is_old=True))
            self._offered.add(words.place)

    def received(self, unfinished: Sequence[Pending]) -> list[Inbound]:
        """What was not begun, in order. What waits in a topic with an open offer, or in a lost one, was held there."""
        received = [pending.update for pending in unfinished if pending.state is UpdateState.RECEIVED]
        for update in received:
            if isinstance(update, IncomingMessage):
                binding = self._context.bindings.get(update.place)
                if binding is not None and (binding.held_notice or binding.state is TopicState.LOST):
                    self._held.add(update.update_id)
        return received

    def is_old(self, message: IncomingMessage) -> bool:
        """Whether a message was written while the hub was away, and is to be offered instead of run."""
        context = self._context
        if message.update_id in self._held:
            self._held.discard(message.update_id)
            self._offered.add(message.place)
            return True
        now = context.clock.now()
        if now - self._alive > HEARTBEAT + ASLEEP:
            self._arm()
        if context.config.runs_backlog or not self._is_catching_up:
            return False
        if self._caught_up_at is None:
            self._caught_up_at = now + CATCH_UP
        if message.date >= now - context.config.backlog_age or now > self._caught_up_at:
            self._is_catching_up = False
            return False
        if message.place.topic_id is not None:
            self._offered.add(message.place)
        return True

    def _arm(self) -> None:
        self._alive, self._is_catching_up, self._caught_up_at = self._context.clock.now(), True, None

    @property
    def has_offers(self) -> bool:
        return bool(self._offered)

    def offer(self) -> None:
        """One notice per topic for what was put in line so far."""
        for place in self._offered:
            self._line(place).put(Offered(tr("Written while I was off. Run it now?")))
        self._offered.clear()

    async def keep_alive(self) -> None:
        """Notice when the computer slept. Runs for ever."""
        while True:
            await self._context.clock.sleep(HEARTBEAT)
            if self._context.clock.now() - self._alive > HEARTBEAT + ASLEEP:
                self._arm()
            self._alive = self._context.clock.now()

    def was_away(self, seconds: float) -> None:
        """Telegram was not asked for so long: say what may be lost."""
        context = self._context
        if seconds <= RETENTION:
            return
        text = tr(
            "I was off for {time}. Telegram keeps messages for 24 hours only: what is older is lost.",
            time=duration(seconds),
        )
        for chat_id in context.config.chats:
            context.say(Place(chat_id), text, rings=True)

    def _report(self, record: TurnRecord, *, offers_to_continue: bool) -> None:
        """A turn of a former life: said in its topic, closed in the records, in one commit."""
        context = self._context
        with context.database.transaction():
            if offers_to_continue:
                keyboard = context.buttons.keyboard(record.place, "turn", [(tr("Continue"), f"{CONTINUE}:{record.id}")])
                part = lines(
                    bold("⚠️ " + tr("I was switched off while a turn ran here.")),
                    clip(record.prompt, 300),
                    tr("/log shows what was done. Continue goes on from there."),
                )
                context.say(record.place, part, keyboard=keyboard, rings=True)
            context.delivery.revise(status_key(record.id), plain("⚠️ " + tr("Cut off: I was switched off.")))
            context.turns.end(record.id, CUT_OFF)
            context.journal.finish(record.update_ids)
