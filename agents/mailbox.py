"""The events of one session on their way to their one reader, and the small tasks a session owns."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from agents.contract import AgentEvent, TextDelta

logger = logging.getLogger(__name__)


class Mailbox:
    """An unbounded queue with one reader. A reader that lags gets joined pieces of text instead of ever more pieces,
    so a flood of small chunks costs no more memory than the text itself."""

    def __init__(self) -> None:
        self._events: deque[AgentEvent] = deque()
        self._news = asyncio.Event()
        self._is_closed = False

    def put(self, event: AgentEvent) -> None:
        """Add an event; after ``close`` it is dropped."""
        if self._is_closed:
            return
        last = self._events[-1] if self._events else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            self._events[-1] = TextDelta(last.text + event.text)
        else:
            self._events.append(event)
        self._news.set()

    def close(self) -> None:
        """No more events; the reader gets what is left and then the end."""
        self._is_closed = True
        self._news.set()

    def __aiter__(self) -> AsyncIterator[AgentEvent]:
        return self

    async def __anext__(self) -> AgentEvent:
        while not self._events:
            if self._is_closed:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._events.popleft()


class Chores:
    """Tasks that belong to one session: nothing outlives ``close``, nothing fails unseen."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` to its end in a task of its own; after ``close`` it is not begun."""
        if self._is_closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(self._run(work), name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # one cancelled before its first step never began it

    async def close(self) -> None:
        """Cancel what runs and wait for it; the task that calls this is left alone."""
        self._is_closed = True
        running = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            logger.exception("%s: a task failed", self._name)
