"""Fetches updates: poll, journal, hand over, and only then confirm with the next poll.

Never ends by itself: whatever goes wrong is a state that tray and log show, and the next attempt comes. A watchdog
notices a poll that stays silent and a computer that slept. Lives in the event loop's thread; ``run`` owns its tasks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from agents.contract import HubError
from bridge.clock import Clock
from bridge.inbound import Inbound, UnknownUpdate
from bridge.messenger import (
    FloodWaitError,
    MessengerError,
    OtherPollerError,
    OutcomeUnknownError,
    UnauthorizedError,
)
from bridge.store import Journal, StoreError
from bridge.telegram.updates import parse_update
from bridge.texts import tr

log = logging.getLogger(__name__)

POLL_SECONDS = 25
"""How long the server holds an empty poll; below the 30 s after which some routers forget a connection."""
POLL_LIMIT = POLL_SECONDS + 20.0
"""Seconds after which a poll counts as silent, whatever the HTTP library thinks of it."""
WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between attempts after failures in a row; spread by half of it."""
CONFLICT_WAIT = 10.0
TOKEN_WAIT = 600.0
STORE_WAIT = 5.0
TICK = 5.0
"""Seconds between two looks of the watchdog at the clocks."""
JUMP = 10.0
"""A tick that took so many seconds more by either clock was a sleep of the computer."""
LONG_GAP = 120.0
"""Telegram keeps a press for 150 s: after a longer gap open cards must be shown again."""
NOTE_EVERY = 60.0


class PollPhase(StrEnum):
    """How it goes with Telegram."""

    STARTING = "starting"
    CONNECTED = "connected"
    OFFLINE = "offline"
    CONFLICT = "conflict"
    REFUSED = "refused"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class PollState:
    """For tray and window; ``problem`` says what is wrong and what to do, ``since`` is on the wall clock."""

    phase: PollPhase
    since: float
    problem: HubError | None = None

    @property
    def is_connected(self) -> bool:
        """Telegram answers."""
        return self.phase is PollPhase.CONNECTED


@dataclass(frozen=True, slots=True)
class PollGap:
    """Nothing was fetched for ``seconds`` by the wall clock. ``is_start``: the hub itself was off."""

    seconds: float
    is_start: bool


class UpdateSource(Protocol):
    """What the poller needs of the client."""

    async def updates(self, offset: int | None, seconds: int) -> list[Mapping[str, object]]: ...

    async def renew_polls(self) -> None: ...


async def ignore_update(_update: Inbound) -> None:
    """For those who do not listen."""


class Poller:
    """One bot's stream of updates. ``on_update`` only hands on; it is awaited, one update after the other."""

    def __init__(
        self,
        source: UpdateSource,
        journal: Journal,
        clock: Clock,
        *,
        random: Random,
        on_update: Callable[[Inbound], Awaitable[None]] = ignore_update,
        on_state: Callable[[PollState], None] = lambda state: None,
        on_gap: Callable[[PollGap], None] = lambda gap: None,
    ) -> None:
        self.state = PollState(PollPhase.STARTING, clock.now())
        self._source = source
        self._journal = journal
        self._clock = clock
        self._random = random
        self._on_update = on_update
        self._on_state = on_state
        self._on_gap = on_gap
        self._offset: int | None = None
        self._failures = 0
        self._answered = journal.last_poll()
        self._noted = 0.0
        self._has_started = False
        self._poll: asyncio.Task[list[Mapping[str, object]]] | None = None
        self._woke = asyncio.Event()
        self._unknown_kinds: dict[str, int] = {}

    async def run(self) -> None:
        """Poll until cancelled; ends within moments then, also on a dead network."""
        last = self._journal.last_id()
        self._offset = None if last is None else last + 1
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch())
            while True:
                wait = await self._round()
                if wait:
                    await self._pause(wait)

    def poke(self) -> None:
        """Something changed (network, token, wake-up): try again at once."""
        self._woke.set()
        if self._poll is not None:
            self._poll.cancel()

    # --- one round

    async def _round(self) -> float:
        """Poll, journal, hand over. Returns the seconds to wait before the next round."""
        try:
            batch = await self._fetch()
            if batch is None:
                return 0.0
            fresh = await self._journal.record(batch)
        except MessengerError as error:
            return await self._after(error)
        except StoreError as error:
            log.exception("updates can't be journalled; they stay at Telegram")
            self._enter(PollPhase.STORE, error)
            return STORE_WAIT
        numbers = [number for update in batch if isinstance(number := update.get("update_id"), int)]
        if numbers:
            self._offset = max(numbers) + 1
        self._failures = 0
        self._enter(PollPhase.CONNECTED)
        for entry in fresh:
            await self._hand_over(parse_update(entry.body))
        self._answer_noted()
        return 0.0

    async def _fetch(self) -> Sequence[Mapping[str, object]] | None:
        """One poll; None when the watchdog broke it off. Raises MessengerError.

        The first one after a start or a failure does not wait at the server, so that the state is known at once.
        """
        seconds = POLL_SECONDS if self.state.is_connected else 0
        poll = self._poll = asyncio.create_task(self._source.updates(self._offset, seconds))
        try:
            done, _ = await asyncio.wait((poll,), timeout=POLL_LIMIT)
            if not done:
                raise OutcomeUnknownError(tr("Telegram stays silent."))
            if poll.cancelled():
                await self._source.renew_polls()
                return None
            return poll.result()
        finally:
            self._poll = None
            poll.cancel()
            await asyncio.gather(poll, return_exceptions=True)

    async def _hand_over(self, update: Inbound) -> None:
        if isinstance(update, UnknownUpdate):
            self._count(update)
        try:
            await self._on_update(update)
        except Exception:
            # The update stays unfinished in the journal and is offered at the next start.
            log.exception("update %s could not be handed over", update.update_id)

    def _count(self, update: UnknownUpdate) -> None:
        seen = self._unknown_kinds.get(update.kind, 0)
        self._unknown_kinds[update.kind] = seen + 1
        if not seen:
            log.info("an update of a kind that is not used: %s", update.kind)

    def _answer_noted(self) -> None:
        now = self._clock.now()
        gap = now - self._answered if self._answered is not None else 0.0
        is_start, self._has_started = not self._has_started, True
        self._answered = now
        if gap > LONG_GAP:
            self._on_gap(PollGap(gap, is_start))
        if gap > LONG_GAP or abs(now - self._noted) >= NOTE_EVERY:
            self._noted = now
            try:
                self._journal.note_poll()
            except StoreError as error:
                log.warning("the time of the poll could not be noted: %s", error.detail)

    # --- failures

    async def _after(self, error: MessengerError) -> float:
        """Say what is wrong; the seconds to wait."""
        self._failures += 1
        if isinstance(error, FloodWaitError):
            return error.seconds
        if isinstance(error, UnauthorizedError):
            self._enter(PollPhase.REFUSED, error)
            return TOKEN_WAIT
        if isinstance(error, OtherPollerError):
            # One conflict alone is the end of our own last poll; a second one is another program.
            if self._failures > 1:
                self._enter(PollPhase.CONFLICT, error)
            return self._spread(CONFLICT_WAIT if self._failures > 1 else WAITS[0])
        if isinstance(error, OutcomeUnknownError):
            await self._source.renew_polls()
        if self._failures > 1 or not isinstance(error, OutcomeUnknownError):
            self._enter(PollPhase.OFFLINE, error)
        return self._spread(WAITS[min(self._failures, len(WAITS)) - 1])

    def _spread(self, seconds: float) -> float:
        return seconds * (0.5 + self._random.random())

    def _enter(self, phase: PollPhase, problem: HubError | None = None) -> None:
        if phase is self.state.phase:
            return
        self.state = PollState(phase, self._clock.now(), problem)
        log.info("polling is %s: %s", phase.value, problem.title if problem else "all is well")
        self._on_state(self.state)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not through a wake-up of the computer."""
        self._woke.clear()
        wait = asyncio.ensure_future(self._clock.sleep(seconds))
        woke = asyncio.ensure_future(self._woke.wait())
        try:
            await asyncio.wait((wait, woke), return_when=asyncio.FIRST_COMPLETED)
        finally:
            wait.cancel()
            woke.cancel()

    # --- watchdog

    async def _watch(self) -> None:
        """A jump of a clock against what a tick should take means that the computer slept: sockets are dead."""
        while True:
            wall, steady = self._clock.now(), self._clock.monotonic()
            await self._clock.sleep(TICK)
            passed = max(self._clock.now() - wall, self._clock.monotonic() - steady)
            if passed > TICK + JUMP:
                log.info("the computer was away for about %.0f s; polling anew", passed - TICK)
                self.poke()
