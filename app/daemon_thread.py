"""Blocking work that may never end, in a thread that the program need not wait for.

A keyring that shows its prompt blocks until a person answers. A thread of asyncio's own pool would then hold up the end
of the program, because the interpreter joins those; a daemon thread is left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(function: Callable[..., T], *args: object) -> T:
    """The function's result or error; cancelling (a time limit) leaves the thread to itself."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, trouble = None, None
        try:
            result = function(*args)
        except Exception as error:  # noqa: BLE001 - carried over to the caller, whatever it is
            trouble = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, trouble)

    threading.Thread(target=work, name="keyring", daemon=True).start()
    return await outcome
