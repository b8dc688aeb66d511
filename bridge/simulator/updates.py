"""The queue behind getUpdates, as the Bot API server keeps it: confirmed by offset, aged, one poller at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any

from bridge.clock import Clock
from bridge.simulator.errors import OTHER_POLLER, ApiError
from bridge.simulator.limits import Limits

NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
MAX_TIMEOUT = 50.0


@dataclass(frozen=True, slots=True)
class Queued:
    """An update and the wall-clock second at which it is thrown away."""

    id: int
    kind: str
    body: dict[str, Any]
    expires: float


class UpdateQueue:
    """Updates of one bot. ``allowed`` None = the default set; it stays until a poll names another."""

    def __init__(self, clock: Clock, limits: Limits, first_id: int = 700_000_001) -> None:
        self._clock = clock
        self._limits = limits
        self._next_id = first_id
        self._queue: deque[Queued] = deque()
        self._arrived = asyncio.Event()
        self._poller: asyncio.Event | None = None
        self.allowed: frozenset[str] | None = None
        self.last_offset: int | None = None
        self._last_poll = float("-inf")
        self.polls = 0

    def __len__(self) -> int:
        self._forget_old()
        return len(self._queue)

    def pending(self) -> list[dict[str, Any]]:
        """What waits, oldest first; for tests."""
        self._forget_old()
        return [queued.body for queued in self._queue]

    def add(self, kind: str, value: dict[str, Any]) -> None:
        """Queue an update unless the bot did not ask for its kind."""
        is_wanted = kind not in NOT_BY_DEFAULT if self.allowed is None else kind in self.allowed
        if not is_wanted:
            return
        age = self._limits.press_queue if kind == "callback_query" else self._limits.update_age
        body = {"update_id": self._next_id, kind: value}
        self._queue.append(Queued(self._next_id, kind, body, self._clock.now() + age))
        self._next_id += 1
        self._arrived.set()

    def clear(self) -> None:
        """Throw everything away that waits."""
        self._queue.clear()

    def allow(self, kinds: list[str] | None) -> None:
        """Keep the previous choice when none is given; an empty one means the default."""
        if kinds is not None:
            self.allowed = frozenset(kinds) or None

    async def poll(self, offset: int, limit: int, patience: float, gone: asyncio.Event) -> list[dict[str, Any]]:
        """Long poll of ``patience`` seconds; raises 409 in the *older* of two polls. ``gone`` ends it early."""
        self.polls += 1
        self._end_other_poll()
        self._confirm(offset)
        now = self._clock.monotonic()
        limit = limit if 1 <= limit <= 100 else 100
        if offset == self.last_offset:
            if patience < self._limits.poll_stretch and now < self._last_poll + self._limits.poll_stretch:
                patience = self._limits.poll_stretch
            if now < self._last_poll + self._limits.poll_narrow:
                limit = 1
        self.last_offset, self._last_poll = offset, now
        if not len(self) and patience > 0:
            await self._wait(min(patience, MAX_TIMEOUT), gone)
        self._forget_old()
        return [queued.body for queued in list(self._queue)[:limit]]

    def _end_other_poll(self) -> None:
        if self._poller is not None:
            self._poller.set()
            self._poller = None

    async def _wait(self, patience: float, gone: asyncio.Event) -> None:
        ended = self._poller = asyncio.Event()
        self._arrived.clear()
        waits = [
            asyncio.ensure_future(awaitable)
            for awaitable in (ended.wait(), self._arrived.wait(), gone.wait(), self._clock.sleep(patience))
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
            if self._poller is ended:
                self._poller = None
        if ended.is_set():
            raise ApiError(409, OTHER_POLLER)

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            keep = list(self._queue)[offset:]
            self._queue = deque(keep)
        while offset > 0 and self._queue and self._queue[0].id < offset:
            self._queue.popleft()

    def _forget_old(self) -> None:
        now = self._clock.now()
        if any(queued.expires <= now for queued in self._queue):
            self._queue = deque(queued for queued in self._queue if queued.expires > now)
