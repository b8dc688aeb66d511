"""One asyncio loop in one worker thread: how window and wizard start what the engine's thread does.

Calls go in through ``call``; answers come back as concurrent futures. No Qt here, so tests need none.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
JOIN_SECONDS = 20.0
END_SECONDS = 5.0


class LoopThread:
    """Start once, close once. ``on_failure`` hears of errors that no caller waited for, in the loop's thread."""

    def __init__(self, name: str, on_failure: Callable[[BaseException], None] | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._on_failure = on_failure
        self._loop.set_exception_handler(self._unhandled)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run ``work`` in the loop; cancel the future to cancel the work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def soon(self, function: Callable[[], object]) -> None:
        """Call a function in the loop's thread."""
        self._loop.call_soon_threadsafe(function)

    def close(self) -> bool:
        """Cancel what runs, end the loop and join the thread; False when it would not end in time."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(JOIN_SECONDS)
        return not self._thread.is_alive()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._end_tasks())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _end_tasks(self) -> None:
        """Cancel what runs; what is cancelled already may finish its last wait, such as collecting a killed child."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            if not task.cancelling():
                task.cancel()
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=END_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception) and self._on_failure is not None:
            self._on_failure(error)
        else:
            loop.default_exception_handler(context)
