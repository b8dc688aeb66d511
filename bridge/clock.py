"""Time as a thing that is handed in, so that tests and simulations own it."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The clocks that the house reads and the way it waits."""

    def now(self) -> float:
        """Wall clock, seconds since the epoch; may jump."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The computer's own clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def as_datetime(seconds: float) -> datetime:
    """A wall-clock stamp as an aware UTC datetime."""
    return datetime.fromtimestamp(seconds, UTC)
