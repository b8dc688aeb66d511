"""One process of an ACP agent: its start, its handshake and the sessions that live in it.

It routes by session id and knows nothing of turns. One event loop; ``stop`` ends the process with its whole tree.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any, Protocol

from agents.acp.dialect import AcpDialect
from agents.acp.wire import Update, mapping, read_update, text
from agents.acp.wire_opening import AgentInfo, initialize_params, read_agent_info
from agents.contract import AgentError, AgentGoneError, AgentVersionError, sentence
from agents.jsonrpc import Notification, Peer, Request, RpcError, Settled, Success
from agents.processes import LinePipe

logger = logging.getLogger(__name__)

CLIENT_VERSION = "0.1.0"
_EXIT_WAIT = 5.0
"""Seconds between the end of the output and the end of the process."""

_LAST_WORDS = 2.0


class Resident(Protocol):
    """A session, as its process sees it. All but ``serve``'s coroutine runs in the reader and must not block."""

    def take(self, update: Update) -> None: ...

    def notice(self, notification: Notification) -> None: ...

    def serve(self, request: Request) -> Coroutine[Any, Any, None]: ...

    def process_ended(self, exit_code: int | None, stderr: str, *, was_expected: bool) -> None: ...


class Connection:
    """A running agent process. Make it with ``connect``."""

    def __init__(self, pipe: LinePipe, dialect: AcpDialect) -> None:
        self.pipe = pipe
        self.info = AgentInfo()
        self.is_ended = False
        self._dialect = dialect
        self._residents: dict[str, Resident] = {}
        self._is_stopping = False
        self._expected = 0
        self._peer = Peer(pipe, dialect.title, self._notified, self._asked)
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, pipe: LinePipe, dialect: AcpDialect) -> Connection:
        """Shake hands over a fresh pipe. Raises AgentGoneError, AgentVersionError; the process is gone then."""
        connection = cls(pipe, dialect)
        connection._reading = asyncio.get_running_loop().create_task(connection._read(), name=f"{dialect.title} reader")
        try:
            await connection._initialize()
        except BaseException:
            await connection.stop()
            raise
        return connection

    async def _initialize(self) -> None:
        try:
            result = await self.call("initialize", initialize_params(CLIENT_VERSION), within=self._dialect.start_limit)
        except RpcError as error:
            raise AgentGoneError(
                sentence("{agent} refused to start.", agent=self._dialect.title),
                sentence("Start it in a terminal to see why."),
                error.detail,
            ) from error
        except AgentGoneError as error:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS):
                    await self.pipe.wait()  # its last words on stderr may come after the end of its output
            raise AgentGoneError(
                sentence("{agent} did not start.", agent=self._dialect.title),
                sentence("Start it in a terminal to see why."),
                f"{error.detail}\n{self.pipe.stderr_tail}".strip(),
            ) from error
        self.info = read_agent_info(result)
        if self.info.protocol > 1:
            raise AgentVersionError(
                sentence("{agent} speaks a newer protocol than this program.", agent=self._dialect.title),
                sentence("Update agent-hub."),
                f"ACP version {self.info.protocol}",
            )

    @property
    def is_idle(self) -> bool:
        """No session lives here and none is about to."""
        return not self._residents and not self._expected

    def expect(self) -> None:
        """Somebody is about to move in: the process must not be ended meanwhile. ``attach`` or ``unexpect`` follows."""
        self._expected += 1

    def unexpect(self) -> None:
        self._expected = max(0, self._expected - 1)

    @property
    def tenants(self) -> int:
        return len(self._residents)

    def attach(self, session_id: str, resident: Resident) -> None:
        """From now on the messages of this session go to ``resident``."""
        self._residents[session_id] = resident

    def detach(self, resident: Resident) -> None:
        for session_id in [key for key, value in self._residents.items() if value is resident]:
            del self._residents[session_id]

    async def call(self, method: str, params: Any, *, within: float | None) -> Any:
        """See ``Peer.call``."""
        return await self._peer.call(method, params, within=within)

    async def call_in_order(self, method: str, params: Any, settled: Settled, *, within: float) -> Any:
        """A call whose answer ``settled`` sees in the order of the wire, before the message that follows it."""
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(outcome: Success | AgentError) -> None:
            settled(outcome)
            if answered.done():
                return
            if isinstance(outcome, Success):
                answered.set_result(outcome.result)
            else:
                answered.set_exception(outcome)

        call_id = await self._peer.begin(method, params, done)
        try:
            async with asyncio.timeout(within):
                return await answered
        except TimeoutError:
            raise AgentGoneError(
                sentence("{agent} did not answer", agent=self._dialect.title),
                sentence("Stop the session and start it again."),
                f"{method}: {within} s",
            ) from None
        finally:
            self._peer.forget(call_id)  # a late answer must not move in somebody who has left

    async def begin(self, method: str, params: Any, settled: Settled) -> int:
        """See ``Peer.begin``."""
        return await self._peer.begin(method, params, settled)

    async def notify(self, method: str, params: Any) -> None:
        """See ``Peer.notify``."""
        await self._peer.notify(method, params)

    async def stop(self) -> None:
        """End the process and everything it started. Never raises; safe to call twice."""
        self._is_stopping = True
        await self.pipe.stop()
        reading = self._reading
        if reading is None or reading is asyncio.current_task():
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_WAIT):
                await asyncio.wait([reading])
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> None:
        """The owner of the reader: at the end of the output every session here hears of it."""
        try:
            await self._peer.run()
        finally:
            self.is_ended = True
            exit_code = await self._exit_code()
            for resident in list(self._residents.values()):
                resident.process_ended(exit_code, self.pipe.stderr_tail, was_expected=self._is_stopping)
            self._residents.clear()

    async def _exit_code(self) -> int | None:
        try:
            async with asyncio.timeout(_EXIT_WAIT):
                return await self.pipe.wait()
        except TimeoutError:
            # It closed its output and lives on: nobody can talk to it any more.
            return await self.pipe.stop()

    def _notified(self, notification: Notification) -> None:
        params = mapping(notification.params)
        resident = self._residents.get(text(params.get("sessionId")))
        if "sessionId" not in params:
            for everyone in list(self._residents.values()):
                everyone.notice(notification)
        elif resident is None:
            logger.debug("%s: %s for no open session", self._dialect.title, notification.method)
        elif notification.method == "session/update":
            resident.take(read_update(params)[1])
        else:
            resident.notice(notification)

    def _asked(self, request: Request) -> Coroutine[Any, Any, None]:
        resident = self._residents.get(text(mapping(request.params).get("sessionId")))
        return self._nobody(request) if resident is None else resident.serve(request)

    async def _nobody(self, request: Request) -> None:
        """No session of ours: a permission is denied, anything else is unknown."""
        if request.method == "session/request_permission":
            await request.reply({"outcome": {"outcome": "cancelled"}})
