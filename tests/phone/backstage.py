"""An event loop in a thread of its own, so that a blocking browser driver can stand before what runs there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Backstage:
    """``run`` awaits in the loop, ``do`` calls there; both from the test's thread, both with a limit in seconds."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="backstage", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], patience: float = 20.0) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(patience)

    def do(self, call: Callable[[], T]) -> T:
        async def in_loop() -> T:
            return call()

        return self.run(in_loop())

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        self.loop.close()
