"""The hub's own control requests to Claude Code: sent, matched to their answers, never waited for without a limit."""

from __future__ import annotations

import asyncio
import itertools

from agents.claude import wire
from agents.claude.messages import Json, Response
from agents.contract import AgentError, HubError, sentence
from agents.processes import LinePipe

CALL_TIMEOUT = 30.0
"""Seconds; every request tested was answered within 1.1 s (measured on 2.1.332)."""


class Calls:
    """Open control requests of one session."""

    def __init__(self, pipe: LinePipe) -> None:
        self._pipe = pipe
        self._numbers = itertools.count(1)
        self._open: dict[str, asyncio.Future[Json]] = {}

    async def call(self, subtype: str, seconds: float = CALL_TIMEOUT, **fields: object) -> Json:
        """The answer's body. Raises AgentError (refused, or silent too long), AgentGoneError."""
        request_id = f"hub-{next(self._numbers)}"
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._open[request_id] = future
        try:
            async with asyncio.timeout(seconds):
                await self._pipe.send(wire.request(request_id, subtype, **fields))
                return await future
        except TimeoutError as error:
            raise AgentError(
                sentence("Claude Code did not answer in time."),
                hint=sentence("Try it again."),
                detail=f"{subtype}: {seconds:.0f} s",
            ) from error
        finally:
            del self._open[request_id]
            future.cancel()

    async def send(self, subtype: str, **fields: object) -> None:
        """Ask without waiting for the answer. Raises AgentGoneError."""
        await self._pipe.send(wire.request(f"hub-{next(self._numbers)}", subtype, **fields))

    def settle(self, response: Response) -> None:
        """An answer came; one to a request that nobody waits for any more is dropped."""
        future = self._open.get(response.request_id)
        if future is None or future.done():
            return
        if response.error:
            future.set_exception(AgentError(sentence("Claude Code refused this."), detail=response.error))
        else:
            future.set_result(response.body)

    def fail(self, error: HubError) -> None:
        """The program will answer none of them any more."""
        for future in self._open.values():
            if not future.done():
                future.set_exception(error)
