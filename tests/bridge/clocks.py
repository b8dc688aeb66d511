"""Clocks for tests: one that is moved by hand, and an event loop whose time jumps to the next timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class HandClock:
    """Stands still until it is moved; ``sleep`` returns when ``move`` has passed its end."""

    def __init__(self, wall: float = 1_800_000_000.0, monotonic: float = 1000.0) -> None:
        self.wall = wall
        self.steady = monotonic
        self._sleepers: list[tuple[float, asyncio.Event]] = []
        self._begun = asyncio.Event()

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.steady

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper = (self.steady + seconds, asyncio.Event())
        self._sleepers.append(sleeper)
        self._begun.set()
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers.remove(sleeper)

    async def somebody_sleeps(self) -> None:
        """Wait until a sleep has begun: what comes over a socket takes real time, however long the machine needs."""
        async with asyncio.timeout(20):
            while all(event.is_set() for _, event in self._sleepers):
                self._begun.clear()
                await self._begun.wait()

    def move(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds
        for until, event in self._sleepers:
            if until <= self.steady:
                event.set()


class _JumpingSelector(selectors.SelectSelector):
    """Never waits: when nothing is ready, it moves the loop's clock to the next timer."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout == 0 and not self.loop.threads_at_work:  # something is ready, and nothing can come from outside
            self.loop.virtual_now += 1e-6
            return []
        # Work in a thread (a durable commit) takes real time; virtual time stands still meanwhile.
        ready = super().select(5.0 if self.loop.threads_at_work and timeout != 0 else 0)
        if not ready:
            if timeout is None:
                raise RuntimeError("nothing is scheduled: every task waits for ever")
            # One microsecond a turn at least, or a timer due "now" by rounding would never come due.
            self.loop.virtual_now += max(1e-6, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which hours pass in milliseconds and nothing depends on the machine's speed."""

    def __init__(self, start: float = 0.0) -> None:
        self.virtual_now = start
        self.threads_at_work = 0
        selector = _JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.virtual_now

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        future = super().run_in_executor(executor, func, *args)
        self.threads_at_work += 1
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _future: asyncio.Future[Any]) -> None:
        self.threads_at_work -= 1


class VirtualClock:
    """The house's clock on a virtual loop. ``wall_offset`` moves only the wall clock (sleep, summer time)."""

    def __init__(self, wall_offset: float = 1_800_000_000.0) -> None:
        self.wall_offset = wall_offset

    def now(self) -> float:
        return asyncio.get_running_loop().time() + self.wall_offset

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run_virtually(work: Coroutine[Any, Any, T], start: float = 0.0) -> T:
    """Run to the end on a loop with virtual time."""
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(start)) as runner:
        return runner.run(work)
