"""Codex asks, the person answers: every open request of one session, from its arrival to the answer's bytes.

A request ends in one of four ways: decided, declined, withdrawn by Codex (the turn is over), or lost with the
process. Only the first two are answered; each is told to the channel. Codex waits for ever and takes late answers
without a word (measured on 0.171.0), so nothing here is answered twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.codex.asks import answered, as_message, decided, inquiry, open_questions, permission
from agents.codex.translate import Translation
from agents.codex.wire.calls import SEND_FILE
from agents.codex.wire.fields import text
from agents.codex.wire.items import AsyncQuestion
from agents.codex.wire.requests import (
    CodexRequest,
    CommandApproval,
    FileApproval,
    Form,
    HostCall,
    Link,
    McpToolApproval,
    PermissionsApproval,
    UserInput,
    tool_result,
)
from agents.contract import (
    AgentError,
    AgentGoneError,
    Answers,
    AskId,
    Declined,
    OutgoingFile,
    PermissionRequest,
    QuestionRequest,
    UserChannel,
    sentence,
)
from agents.jsonrpc import METHOD_NOT_FOUND, Request

logger = logging.getLogger(__name__)

Key = tuple[type, Any]
Work = Coroutine[Any, Any, None]
Explain = Callable[[str, str, str], Awaitable[None]]
"""Tells the model why: thread, turn, reason. Never raises."""


@dataclass(slots=True)
class _Open:
    """One request that waits for the person. ``thread`` "" is a question no turn waits for."""

    id: AskId
    thread: str
    is_decided: bool = False
    is_withdrawn: bool = False


class Asking:
    """The open requests of one session."""

    def __init__(
        self,
        channel: UserChannel,
        cwd: Path,
        translation: Translation,
        new_id: Callable[[], str],
        explain: Explain,
    ) -> None:
        self._explain = explain
        self._channel = channel
        self._cwd = cwd
        self._translation = translation
        self._new_id = new_id
        self._open: dict[Key, _Open] = {}

    def take(self, request: Request, asked: CodexRequest) -> Work:
        """Look at a request in the order of the wire; the coroutine that is returned waits for the person."""
        if isinstance(asked, HostCall):
            return self._call(request, asked)
        if isinstance(asked, UserInput | Form | Link):
            one = self._add(request, asked.thread)
            if one is None:
                return _nothing()
            return self._inquire(request, asked, one, inquiry(one.id, asked, self._helper(asked.thread)))
        if isinstance(asked, CommandApproval | FileApproval | PermissionsApproval | McpToolApproval):
            one = self._add(request, asked.thread)
            if one is None:
                return _nothing()
            patch = self._translation.patch(asked.item) if isinstance(asked, FileApproval) else None
            ask = permission(one.id, asked, self._cwd, patch, self._helper(asked.thread))
            return self._decide(request, asked, one, ask)
        logger.warning("codex asks for something this version does not know: %s", asked.method)
        return request.refuse(METHOD_NOT_FOUND, f"not supported: {asked.method}")

    async def put(self, questions: tuple[AsyncQuestion, ...], send: Callable[[str], Awaitable[None]]) -> None:
        """Questions no turn waits for: the answer goes to ``send`` as a text. Raises what ``send`` raises."""
        key: Key = (Asking, self._new_id())
        one = self._open[key] = _Open(AskId(self._new_id()), "")
        try:
            given = await self._channel.ask(open_questions(one.id, questions))
        finally:
            self._open.pop(key, None)
        text = as_message(questions, given) if isinstance(given, Answers) else ""
        if one.is_withdrawn:
            return
        try:
            if text:
                await send(text)
        except AgentError:
            await self._channel.told(one.id, delivered=False)
            raise
        await self._channel.told(one.id, delivered=True)

    def resolved(self, request_id: Any) -> Work:
        """Codex does not wait for this one any more; nothing when it was answered."""
        return self._withdraw(
            [(type(request_id), request_id)], sentence("{agent} does not wait for the answer any more.", agent="Codex")
        )

    def turn_over(self, thread: str) -> Work:
        """The turn of this thread is over: nobody waits for its requests."""
        return self._withdraw(
            [key for key, one in self._open.items() if one.thread == thread], sentence("The turn is over.")
        )

    def withdraw_all(self, why: str) -> Work:
        """Nobody waits for anything any more."""
        return self._withdraw(list(self._open), why)

    def _withdraw(self, keys: list[Key], why: str) -> Work:
        """Retire the requests now, in the order of the wire; the coroutine tells the person."""
        retired = [one for key in keys if (one := self._open.pop(key, None)) is not None]
        for one in retired:
            one.is_withdrawn = True
        return self._tell_withdrawn([one.id for one in retired if not one.is_decided], why)

    async def _tell_withdrawn(self, ask_ids: list[AskId], why: str) -> None:
        for ask_id in ask_ids:
            await self._channel.withdrawn(ask_id, why)

    def _add(self, request: Request, thread: str) -> _Open | None:
        """None: it is open already. A thread loaded again sends its open requests again with the same id."""
        key = (type(request.id), request.id)
        if key in self._open:
            request.is_answered = True  # the first one is going to be
            return None
        one = self._open[key] = _Open(AskId(self._new_id()), thread)
        return one

    def _helper(self, thread: str) -> str:
        return "" if thread == self._translation.thread else self._translation.helpers.get(thread, "helper")

    async def _decide(
        self,
        request: Request,
        asked: CommandApproval | FileApproval | PermissionsApproval | McpToolApproval,
        one: _Open,
        ask: PermissionRequest,
    ) -> None:
        async with self._kept_while(request):
            decision = await self._channel.request(ask)
        if one.is_withdrawn:
            request.is_answered = True  # Codex has closed it; an answer would be to nobody
            return
        one.is_decided = True
        if decision.reason and not decision.is_allowed:
            # A denial has no field for it. A text given to the turn before the answer is read right after it.
            await self._explain(asked.thread, asked.turn, f"I said no to this: {decision.reason}")
        await self._reply(request, one, decided(asked, decision))

    async def _inquire(
        self, request: Request, asked: UserInput | Form | Link, one: _Open, ask: QuestionRequest
    ) -> None:
        async with self._kept_while(request):
            given = await self._channel.ask(ask)
        if one.is_withdrawn:
            request.is_answered = True
            return
        one.is_decided = True
        if isinstance(given, Declined) and given.reason:
            await self._explain(asked.thread, asked.turn, f"I do not answer this: {given.reason}")
        await self._reply(request, one, answered(asked, given))

    @asynccontextmanager
    async def _kept_while(self, request: Request) -> AsyncIterator[None]:
        """The hub asks the person. When that fails, Codex gets an error, and may ask the same again.

        A request that is cut off with the process stays open until the person is told.
        """
        try:
            yield
        except Exception:
            self._open.pop((type(request.id), request.id), None)
            raise

    async def _reply(self, request: Request, one: _Open, result: dict[str, Any]) -> None:
        """Answer; the person is told whether the answer got there. It did not when the turn ended meanwhile."""
        self._open.pop((type(request.id), request.id), None)
        if one.is_withdrawn:
            request.is_answered = True
            await self._channel.told(one.id, delivered=False)
            return
        try:
            await request.reply(result)
        except AgentGoneError:
            await self._channel.told(one.id, delivered=False)
            raise
        await self._channel.told(one.id, delivered=True)

    async def _call(self, request: Request, asked: HostCall) -> None:
        """Our own tool. The channel checks the path: Codex asks nobody before it calls."""
        path = text(asked.arguments, "path")
        if asked.tool != SEND_FILE or not path:
            await request.reply(tool_result(f"There is no tool {asked.tool} that takes this.", is_success=False))
            return
        file = OutgoingFile(self._cwd / path, text(asked.arguments, "caption"))
        delivery = await self._channel.send_file(file)
        await request.reply(tool_result(delivery.detail, is_success=delivery.is_delivered))


async def _nothing() -> None:
    """A request that is worked on already."""
    await asyncio.sleep(0)
