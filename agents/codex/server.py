"""The shared ``codex app-server``: one process, many threads, each of which belongs to a session.

It routes: what a thread tells goes to its session, what a helper's thread tells to the session of its root. Who a
helper belongs to is told late (its first events come before the link, measured on 0.171.0), so what nobody owns yet
is kept for a moment. It owns the task that reads; it makes no event and knows no person.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from agents.codex.wire.calls import read_thread
from agents.codex.wire.events import (
    CodexEvent,
    ItemCompleted,
    ItemStarted,
    Limits,
    Notice,
    TurnBegan,
    Unknown,
    parse_event,
)
from agents.codex.wire.items import SubAgent
from agents.codex.wire.requests import (
    CodexRequest,
    CommandApproval,
    FileApproval,
    approval,
    parse_request,
)
from agents.contract import AgentError, AgentGoneError, sentence
from agents.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Notification, Peer, Request, RpcError
from agents.processes import LinePipe

logger = logging.getLogger(__name__)

CALL_LIMIT = 30.0
"""Seconds for an answer. A flood of requests leaves some unanswered for ever (78 of 2,000 measured)."""
OVERLOADED = -32001
OVERLOAD_PAUSES = (0.2, 1.0, 3.0)
"""Seconds before a request that was refused for overload is sent again; it was refused before it did anything."""
OWNER_LIMIT = 5.0
"""Seconds to learn whose helper asks; the link came within milliseconds."""
KEPT_EVENTS = 500
STOP_GRACE = 5.0


class Listener(Protocol):
    """A session, as the server sees it."""

    @property
    def turn_id(self) -> str | None:
        """The running turn of its own thread."""

    def hear(self, event: CodexEvent) -> None:
        """One event of its thread, of a helper's, or of the account. Runs in the reader; must not block."""

    def take(self, request: Request, asked: CodexRequest) -> Coroutine[Any, Any, None]:
        """One request; the coroutine runs in a task of its own."""

    def lost(self, exit_code: int | None, stderr: str, *, was_expected: bool) -> None:
        """The process is gone."""


class AppServer:
    """One process. ``start`` first; ``close`` ends it with everything it runs."""

    def __init__(self, pipe: LinePipe, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pipe = pipe
        self._sleep = sleep
        self._peer = Peer(pipe, "Codex", self._notified, self._asked, says_version=False)
        self._listeners: dict[str, Listener] = {}
        self._helpers: dict[str, Listener] = {}
        self._kept: list[tuple[str, CodexEvent]] = []
        self._former: set[str] = set()
        self._news = asyncio.Event()
        self._seen_unknown: set[str] = set()
        self._is_closing = False
        self._main = asyncio.create_task(self._run(), name="codex app-server")

    @property
    def pid(self) -> int | None:
        return self._pipe.pid

    @property
    def is_gone(self) -> bool:
        return self._peer.is_closed

    @property
    def stderr_tail(self) -> str:
        return self._pipe.stderr_tail

    @property
    def threads(self) -> frozenset[str]:
        """The threads that have a session."""
        return frozenset(self._listeners)

    async def call(self, method: str, params: dict[str, Any] | None = None, *, within: float = CALL_LIMIT) -> Any:
        """Ask and wait. Raises RpcError, or AgentGoneError when there is no answer in time or no process."""
        for pause in OVERLOAD_PAUSES:
            try:
                return await self._peer.call(method, params or {}, within=within)
            except RpcError as error:
                if error.code != OVERLOADED:
                    raise
            await self._sleep(pause)
        return await self._peer.call(method, params or {}, within=within)

    async def notify(self, method: str) -> None:
        await self._peer.notify(method)

    def attach(self, thread: str, listener: Listener) -> None:
        """From now on ``listener`` hears of ``thread``, and of what was told before it was known."""
        self._former.discard(thread)
        self._listeners[thread] = listener
        self._replay(thread)

    def detach(self, thread: str) -> None:
        """Nobody listens to ``thread`` and its helpers any more."""
        listener = self._listeners.pop(thread, None)
        # Late words of a session that was closed must not reach the one that opens its thread again.
        self._former |= {thread, *(helper for helper, owner in self._helpers.items() if owner is listener)}
        self._helpers = {helper: owner for helper, owner in self._helpers.items() if owner is not listener}

    async def close(self) -> None:
        """End the process and everything it runs. Never raises."""
        self._is_closing = True
        self._pipe.close_input()
        await self._pipe.stop(STOP_GRACE)
        await asyncio.wait({self._main}, timeout=STOP_GRACE)
        if not self._main.done():
            self._main.cancel()
            await asyncio.wait({self._main})

    async def _run(self) -> None:
        try:
            await self._peer.run()
        except Exception:
            logger.exception("codex: reading its output failed")
        finally:
            code = await self._pipe.stop(STOP_GRACE)
            listeners, self._listeners = list(self._listeners.values()), {}
            for listener in listeners:
                listener.lost(code, self._pipe.stderr_tail, was_expected=self._is_closing)

    # -- what it tells

    def _notified(self, notification: Notification) -> None:
        event = parse_event(notification.method, notification.params)
        if isinstance(event, Unknown) and event.method not in self._seen_unknown:
            self._seen_unknown.add(event.method)
            logger.info("codex tells something this version does not know: %s", event.method)
        if isinstance(event, Limits) or (isinstance(event, Unknown) and not event.thread):
            for listener in self._listeners.values():
                listener.hear(event)
        elif isinstance(event, Notice):
            logger.info("codex has a %s notice", event.kind)
            logger.debug("codex: %s", event.text)
        else:
            self._route(event)

    def _route(self, event: CodexEvent) -> None:
        thread = getattr(event, "thread", "")
        if not thread:
            return
        if isinstance(event, TurnBegan):
            self._adopt_by_turn(event)
        owner = self._owner(thread)
        if owner is None and thread in self._former:
            return
        if owner is None:
            self._kept = [*self._kept[-KEPT_EVENTS:], (thread, event)]
            return
        owner.hear(event)
        if isinstance(event, ItemStarted | ItemCompleted) and isinstance(event.item, SubAgent):
            self._adopt(event.item.thread_id, owner)

    def _owner(self, thread: str) -> Listener | None:
        return self._listeners.get(thread) or self._helpers.get(thread)

    def _adopt_by_turn(self, event: TurnBegan) -> None:
        """A helper's turn names the turn of its root."""
        if self._owner(event.thread) is None and event.root_turn != event.turn:
            owner = next((one for one in self._listeners.values() if one.turn_id == event.root_turn), None)
            if owner is not None:
                self._adopt(event.thread, owner)

    def _adopt(self, helper: str, owner: Listener) -> None:
        if helper and self._owner(helper) is None:
            self._helpers[helper] = owner
            self._replay(helper)

    def _replay(self, thread: str) -> None:
        waiting = [event for name, event in self._kept if name == thread]
        self._kept = [kept for kept in self._kept if kept[0] != thread]
        for event in waiting:
            self._route(event)
        self._news.set()
        self._news = asyncio.Event()

    # -- what it asks

    def _asked(self, request: Request) -> Coroutine[Any, Any, None]:
        asked = parse_request(request.method, request.params)
        owner = self._owner(asked.thread)
        return owner.take(request, asked) if owner else self._ask_owner(request, asked)

    async def _ask_owner(self, request: Request, asked: CodexRequest) -> None:
        owner = await self._find_owner(asked.thread) if asked.thread else None
        if owner is not None:
            await owner.take(request, asked)
        elif isinstance(asked, CommandApproval | FileApproval):
            logger.warning("codex asks for a thread nobody knows; denied")
            await request.reply(approval(is_allowed=False))
        else:
            await request.refuse(INTERNAL_ERROR if asked.thread else METHOD_NOT_FOUND, "nobody can answer this")

    async def _find_owner(self, thread: str) -> Listener | None:
        try:
            async with asyncio.timeout(OWNER_LIMIT):
                while self._owner(thread) is None:
                    await self._news.wait()
        except TimeoutError:
            await self._ask_for_parent(thread)
        return self._owner(thread)

    async def _ask_for_parent(self, thread: str) -> None:
        try:
            answer = await self.call("thread/read", {"threadId": thread}, within=OWNER_LIMIT)
        except AgentError as error:
            logger.info("codex does not tell whose helper asks: %s", type(error).__name__)
            return
        owner = self._owner(read_thread(answer).parent)
        if owner is not None:
            self._adopt(thread, owner)


def gone(server: AppServer) -> AgentGoneError:
    """What to say when the shared process has ended."""
    return AgentGoneError(
        sentence("Codex has ended."),
        hint=sentence("Send the message again to start it anew."),
        detail=server.stderr_tail,
    )
