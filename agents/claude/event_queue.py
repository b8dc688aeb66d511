"""Events on their way to the one consumer. Small pieces of text that wait are joined, so a slow one costs no memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable

from agents.contract import AgentEvent, TextDelta


class EventQueue:
    """Never blocks the producer; ends when closed and empty."""

    def __init__(self) -> None:
        self._events: deque[AgentEvent] = deque()
        self._news = asyncio.Event()
        self._is_closed = False

    def put(self, events: Iterable[AgentEvent]) -> None:
        """Append; after ``close`` nothing is taken any more."""
        if self._is_closed:
            return
        for event in events:
            last = self._events[-1] if self._events else None
            if isinstance(event, TextDelta) and isinstance(last, TextDelta):
                self._events[-1] = TextDelta(last.text + event.text)
            else:
                self._events.append(event)
        self._news.set()

    def close(self) -> None:
        """No more events; the consumer still gets those that wait."""
        self._is_closed = True
        self._news.set()

    async def read(self) -> AsyncIterator[AgentEvent]:
        """The events, for one consumer."""
        while True:
            while self._events:
                yield self._events.popleft()
            if self._is_closed:
                return
            self._news.clear()
            await self._news.wait()
