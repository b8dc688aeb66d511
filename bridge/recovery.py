"""After an absence: what a former life left is reported and offered with buttons, never run by itself twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.cards import duration
from bridge.context import HubContext
from bridge.inbound import Inbound, IncomingMessage, Place
from bridge.sheet import bold, clip, lines
from bridge.store import UpdateState
from bridge.texts import tr
from bridge.topics_inbox import Item, Offered, Said
from bridge.topics_turn import CONTINUE
from bridge.turns import CUT_OFF, TurnRecord

HEARTBEAT = 20.0
ASLEEP = 60.0
"""Seconds by which the wall clock may run ahead of a heartbeat before it counts as an absence."""
CATCH_UP = 30.0
"""Seconds after a start or an absence in which old messages count as written meanwhile."""
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
        self._catching_up_until = 0.0
        self._offered: set[Place] = set()

    def begin(self, unfinished: Sequence[Pending]) -> None:
        """Say how long the hub was away where messages may be lost, and report turns that were cut off."""
        self._catching_up_until = self._context.clock.monotonic() + CATCH_UP
        self._tell_of_gap()
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
                self._line(update.place).put(Said(update, is_old=True))
                self._offered.add(update.place)
            else:
                self._context.finish((update.update_id,))

    def received(self, unfinished: Sequence[Pending]) -> list[Inbound]:
        """What was not begun, in order."""
        return [pending.update for pending in unfinished if pending.state is UpdateState.RECEIVED]

    def is_old(self, message: IncomingMessage) -> bool:
        """Whether a message was written while the hub was away, and is to be offered instead of run."""
        context = self._context
        if context.config.runs_backlog or context.clock.monotonic() > self._catching_up_until:
            return False
        is_old = message.date < context.clock.now() - context.config.backlog_age
        if is_old and message.place.topic_id is not None:
            self._announce(message.place)
        return is_old

    def _announce(self, place: Place) -> None:
        self._offered.add(place)

    def offer(self) -> None:
        """One notice per topic for what was put in line so far."""
        for place in self._offered:
            self._line(place).put(Offered(tr("Written while I was off. Run it now?")))
        self._offered.clear()

    async def keep_alive(self) -> None:
        """Remember signs of life; after a sleep of the computer old messages are offered again. Runs for ever."""
        context = self._context
        while True:
            before = context.clock.now()
            await context.clock.sleep(HEARTBEAT)
            self.offer()
            if context.clock.now() - before > HEARTBEAT + ASLEEP:
                self._catching_up_until = context.clock.monotonic() + CATCH_UP
            self._mark_alive()

    def _mark_alive(self) -> None:
        self._context.database.execute(
            "INSERT OR REPLACE INTO life (id, alive) VALUES (1, ?)", (self._context.clock.now(),)
        )

    def _tell_of_gap(self) -> None:
        context = self._context
        row = context.database.row("SELECT alive FROM life WHERE id = 1")
        gap = context.clock.now() - row["alive"] if row else 0.0
        if gap > RETENTION:
            for chat_id in context.config.chats:
                context.say(
                    Place(chat_id),
                    tr(
                        "I was off for {time}. Telegram keeps messages for 24 hours only: what is older is lost.",
                        time=duration(gap),
                    ),
                    rings=True,
                )
        self._mark_alive()

    def _report(self, record: TurnRecord, *, offers_to_continue: bool) -> None:
        """A turn of a former life: said in its topic, closed in the records, in one commit."""
        context = self._context
        with context.database.transaction():
            if offers_to_continue:
                keyboard = context.buttons.keyboard(record.place, "turn", [(tr("Continue"), f"{CONTINUE}:{record.id}")])
                part = lines(
                    bold("⚠️ " + tr("I was ended while a turn ran here.")),
                    clip(record.prompt, 300),
                    tr("/log shows what was done. Continue goes on from there."),
                )
                context.say(record.place, part, keyboard=keyboard, rings=True)
            context.turns.end(record.id, CUT_OFF)
            context.journal.finish(record.update_ids)
