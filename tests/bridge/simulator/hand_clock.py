"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio


class HandClock:
    """``sleep`` returns when ``advance`` has moved the time far enough."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._start = start
        self._passed = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            return
        woken = asyncio.Event()
        self._sleepers.append((self._passed + seconds, woken))
        await woken.wait()

    @property
    def sleepers(self) -> int:
        return len(self._sleepers)

    def advance(self, seconds: float) -> None:
        self._passed += seconds
        due = [woken for at, woken in self._sleepers if at <= self._passed]
        self._sleepers = [(at, woken) for at, woken in self._sleepers if at > self._passed]
        for woken in due:
            woken.set()
