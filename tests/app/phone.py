"""A simulated Telegram and its person in a thread of their own, for tests whose own thread belongs to a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from app.loop_thread import LoopThread
from bridge.simulator.human import Human
from bridge.simulator.simulator import Simulator

T = TypeVar("T")


class Phone:
    """Driven from the test's thread; ``close`` at the end."""

    def __init__(self) -> None:
        self.loop = LoopThread("simulator")
        self.simulator = self.run(self._make())
        self.human = self.do(lambda: Human(self.simulator))

    async def _make(self) -> Simulator:
        simulator = Simulator()
        await simulator.start()
        return simulator

    def run(self, work: Any) -> Any:
        return self.loop.call(work).result(timeout=40)

    def do(self, function: Callable[[], T]) -> T:
        async def call() -> T:
            return function()

        return self.loop.call(call()).result(timeout=15)

    def close(self) -> None:
        self.run(self.simulator.stop())
        self.loop.close()
