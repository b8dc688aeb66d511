"""A simulator in a thread of its own, so that a blocking browser driver can stand before it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from bridge.simulator import UNLIMITED, Human, Limits, Simulator

T = TypeVar("T")


class Served:
    """``run`` awaits in the simulator's loop, ``do`` calls there; both from the test's thread, both with a limit."""

    def __init__(self, limits: Limits) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.simulator = Simulator(limits=limits)
        self.run(self.simulator.start())
        self.human = Human(self.simulator)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def do(self, call: Callable[[], T]) -> T:
        async def in_loop() -> T:
            return call()

        return self.run(in_loop())

    def close(self) -> None:
        self.run(self.simulator.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        self.loop.close()


@contextmanager
def served(limits: Limits = UNLIMITED) -> Iterator[Served]:
    """A running simulator."""
    one = Served(limits)
    try:
        yield one
    finally:
        one.close()
