"""A session under test: keeps its events and waits for the next one of a kind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from agents.contract import (
    AgentEvent,
    AgentSession,
    InputId,
    Prompt,
    TurnFailed,
    TurnFinished,
)

Found = TypeVar("Found")
PATIENCE = 40.0
"""Seconds for one event of a real agent on a busy computer."""


class Talk:
    """Reads the events of one session from the beginning."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self.events: list[AgentEvent] = []
        self._next = 0
        self._news = asyncio.Event()
        self._is_over = False
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for event in self.session.events:
            self.events.append(event)
            self._news.set()
        self._is_over = True
        self._news.set()

    async def until(
        self, kind: type[Found], is_it: Callable[[Found], bool] = lambda _: True, seconds: float = PATIENCE
    ) -> Found:
        """The next event of this kind after the last one found."""
        async with asyncio.timeout(seconds):
            while True:
                for index in range(self._next, len(self.events)):
                    event = self.events[index]
                    if isinstance(event, kind) and is_it(event):
                        self._next = index + 1
                        return event
                assert not self._is_over, f"the session ended without {kind.__name__}: {self.events}"
                self._news.clear()
                await self._news.wait()

    def all(self, kind: type[Found]) -> list[Found]:
        """Every event of this kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def say(self, script: str, text: str = "") -> InputId:
        """Begin a turn in which the model plays ``script``."""
        return await self.session.prompt(Prompt(f"play:{script} {text or 'go'}"))

    async def end(self) -> TurnFinished | TurnFailed:
        """The end of the running turn."""
        return await self.until((TurnFinished, TurnFailed))  # type: ignore[arg-type]

    async def turn(self, script: str, text: str = "") -> TurnFinished:
        """A whole turn that must not fail."""
        await self.say(script, text)
        ended = await self.end()
        assert isinstance(ended, TurnFinished), ended
        return ended

    async def close(self) -> None:
        """Close the session and read what is left."""
        await self.session.close()
        async with asyncio.timeout(PATIENCE):
            await self._reader
