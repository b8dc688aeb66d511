"""A JSON-RPC 2.0 peer over the lines of a child process: both sides may call, answer and notify.

Used by every agent that speaks JSON-RPC (ACP agents, Codex). It knows frames, ids and time-outs, never what a method
means. It must not log the content of a message: prompts, answers and keys travel here. One event loop, no threads.

Order is the point: notifications, the arrival of requests and the settling of our own calls are all handled in the
reader, in the order of the wire; only the waiting part of a request runs in a task of its own.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from agents.contract import AgentError, AgentGoneError, sentence
from agents.json_lines import read_object

logger = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

WRITE_TIMEOUT = 30.0
"""Seconds an agent may refuse to read its stdin before it counts as gone."""

RequestId = int | str | float | bool | None
"""Kept as it came: 0 and "0" are two ids."""


class Lines(Protocol):
    """What the peer needs of a pipe; ``agents.processes.LinePipe`` is one."""

    @property
    def lines(self) -> AsyncIterator[bytes]:
        """Whole lines of any length, in order; ends at EOF."""

    async def send(self, line: bytes) -> None:
        """Send one line (its end is added) and wait until the process took it; raises AgentGoneError."""


class RpcError(AgentError):
    """The other side answered with an error; ``data`` is its untouched third member."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message or f"error {code}", detail=detail_of(data))
        self.code = code
        self.message = message
        self.data = data


def detail_of(data: Any) -> str:
    """The sentence inside ``error.data``: many agents say only "Internal error" and put the cause there."""
    if isinstance(data, str):
        return data
    if isinstance(data, dict):
        for key in ("details", "detail", "message", "error"):
            if isinstance(data.get(key), str):
                return str(data[key])
    return json.dumps(data, ensure_ascii=False)[:2000] if data else ""


@dataclass(frozen=True, slots=True)
class Notification:
    """Something the other side tells without waiting for an answer."""

    method: str
    params: Any


class Request:
    """Something the other side asks. Answer exactly once; whoever returns without an answer did not know the method."""

    __slots__ = ("_peer", "id", "is_answered", "method", "params")

    def __init__(self, peer: Peer, request_id: RequestId, method: str, params: Any) -> None:
        self._peer = peer
        self.id = request_id
        self.method = method
        self.params = params
        self.is_answered = False

    async def reply(self, result: Any) -> None:
        """Answer; returns when the process took the bytes. A second answer is dropped. Raises AgentGoneError."""
        await self._answer({"result": result})

    async def refuse(self, code: int, message: str, data: Any = None) -> None:
        """Answer with an error. A second answer is dropped. Raises AgentGoneError."""
        error = {"code": code, "message": message}
        await self._answer({"error": error if data is None else {**error, "data": data}})

    async def _answer(self, body: dict[str, Any]) -> None:
        if self.is_answered:
            return
        self.is_answered = True
        await self._peer.send({"id": self.id, **body})


@dataclass(frozen=True, slots=True)
class Success:
    """How one of our calls ended well."""

    result: Any


Settled = Callable[[Success | AgentError], None]
OnNotification = Callable[[Notification], None]
OnRequest = Callable[[Request], Coroutine[Any, Any, None]]


class Peer:
    """One side of a JSON-RPC connection.

    ``on_notification`` runs in the reader and must not block. ``on_request`` is called in the reader too; the
    coroutine it returns runs in an owned task, so a plain function may look at the order of things first.
    ``run`` is the owner of everything: it ends at EOF, after every open call failed with AgentGoneError.
    """

    def __init__(
        self,
        pipe: Lines,
        name: str,
        on_notification: OnNotification,
        on_request: OnRequest,
        *,
        says_version: bool = True,
    ) -> None:
        self._pipe = pipe
        self._name = name
        self._on_notification = on_notification
        self._on_request = on_request
        self._head: dict[str, Any] = {"jsonrpc": "2.0"} if says_version else {}
        self._ids: Iterator[int] = itertools.count(1)
        self._open: dict[int, Settled] = {}
        self._asked: dict[tuple[type, RequestId], asyncio.Task[None]] = {}
        self._skipped: dict[str, int] = {}
        self._gone: AgentGoneError | None = None

    @property
    def skipped(self) -> dict[str, int]:
        """How many lines were skipped, by kind; for the health page."""
        return dict(self._skipped)

    @property
    def is_closed(self) -> bool:
        return self._gone is not None

    async def run(self) -> None:
        """Read until EOF. Cancel it to close the peer; open calls fail and running requests are cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                try:
                    async for line in self._pipe.lines:
                        self._receive(line, tasks)
                except AgentError as broken:
                    self.close(AgentGoneError(broken.title, broken.hint, broken.detail))
                finally:
                    for task in list(self._asked.values()):
                        task.cancel()
        finally:
            self.close()

    def close(self, why: AgentGoneError | None = None) -> None:
        """Fail every open call; later ones fail at once."""
        if self._gone is None:
            self._gone = why or AgentGoneError(
                sentence("{agent} has ended", agent=self._name), sentence("Send a message to start it again.")
            )
        open_calls, self._open = self._open, {}
        for settled in open_calls.values():
            settled(self._gone)

    async def call(self, method: str, params: Any = None, *, within: float | None) -> Any:
        """Ask and wait. ``within`` in seconds, None = for ever. Raises RpcError or AgentGoneError."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def settled(outcome: Success | AgentError) -> None:
            if future.done():
                return
            if isinstance(outcome, Success):
                future.set_result(outcome.result)
            else:
                future.set_exception(outcome)

        call_id = self._register(settled)
        try:
            async with asyncio.timeout(within):
                await self._send_call(call_id, method, params)
                return await future
        except TimeoutError:
            raise AgentGoneError(
                sentence("{agent} did not answer", agent=self._name),
                sentence("Stop the session and start it again."),
                f"{method}: {within} s",
            ) from None
        finally:
            self._open.pop(call_id, None)
            if future.done() and not future.cancelled():
                future.exception()

    async def begin(self, method: str, params: Any, settled: Settled) -> int:
        """Ask and return when the process took the bytes; ``settled`` runs later, in the reader, exactly once.

        When this raises, ``settled`` is not called.
        """
        call_id = self._register(settled)
        try:
            await self._send_call(call_id, method, params)
        except BaseException:
            self._open.pop(call_id, None)
            raise
        return call_id

    def forget(self, call_id: int) -> bool:
        """Drop a call begun with ``begin``: its ``settled`` will not run. False when it has run already."""
        return self._open.pop(call_id, None) is not None

    async def notify(self, method: str, params: Any = None) -> None:
        """Tell without waiting for an answer; returns when the process took the bytes. Raises AgentGoneError."""
        await self.send({"method": method} if params is None else {"method": method, "params": params})

    def cancel_request(self, request_id: RequestId) -> bool:
        """The other side took its request back: cancel the task that works on it. False when there is none."""
        task = self._asked.get((type(request_id), request_id))
        return task is not None and task.cancel()

    async def send(self, message: dict[str, Any]) -> None:
        """Write one frame; pure ASCII, so no code page between us and the agent can harm it."""
        if self._gone is not None:
            raise self._gone
        line = json.dumps({**self._head, **message}, ensure_ascii=True, separators=(",", ":")).encode("ascii")
        try:
            async with asyncio.timeout(WRITE_TIMEOUT):
                await self._pipe.send(line)
        except TimeoutError:
            raise AgentGoneError(
                sentence("{agent} does not read its input", agent=self._name),
                sentence("Stop the session and start it again."),
                f"{len(line)} bytes",
            ) from None

    def _register(self, settled: Settled) -> int:
        if self._gone is not None:
            raise self._gone
        call_id = next(self._ids)
        self._open[call_id] = settled
        return call_id

    async def _send_call(self, call_id: int, method: str, params: Any) -> None:
        frame: dict[str, Any] = {"id": call_id, "method": method}
        await self.send(frame if params is None else {**frame, "params": params})

    def _receive(self, line: bytes, tasks: asyncio.TaskGroup) -> None:
        message = parse_line(line)
        if message is None:
            if line.strip():
                self._skip("no JSON object", len(line))
            return
        method = message.get("method")
        if isinstance(method, str) and "id" in message:
            self._receive_request(message, method, tasks)
        elif isinstance(method, str):
            self._deliver(Notification(method, message.get("params")))
        elif "id" in message and ("result" in message or "error" in message):
            self._receive_answer(message)
        else:
            self._skip("neither request, notification nor answer", len(line))

    def _deliver(self, notification: Notification) -> None:
        try:
            self._on_notification(notification)
        except Exception:
            # One bad message must not end the conversation; the content stays out of the log.
            logger.exception("%s: notification %s could not be handled", self._name, notification.method)

    def _receive_request(self, message: dict[str, Any], method: str, tasks: asyncio.TaskGroup) -> None:
        request_id = message["id"]
        if isinstance(request_id, list | dict):
            self._skip("id that is no scalar", 0)
            return
        request = Request(self, request_id, method, message.get("params"))
        key = (type(request_id), request_id)
        try:
            work = self._on_request(request)
        except Exception:
            logger.exception("%s: request %s could not be served", self._name, method)
            work = request.refuse(INTERNAL_ERROR, "the client could not serve this request")
        task = tasks.create_task(self._serve(request, work), name=f"{self._name} {method}")
        self._asked[key] = task

        def ended(done: asyncio.Task[None]) -> None:
            work.close()  # a task cancelled before its first step never awaited it
            if self._asked.get(key) is done:
                del self._asked[key]

        task.add_done_callback(ended)

    async def _serve(self, request: Request, work: Coroutine[Any, Any, None]) -> None:
        """Run one request to its answer. Whatever goes wrong, the agent gets an answer while it can hear one."""
        try:
            try:
                await work
            except AgentGoneError:
                return
            except Exception:
                logger.exception("%s: request %s could not be served", self._name, request.method)
                await request.refuse(INTERNAL_ERROR, "the client could not serve this request")
            await request.refuse(METHOD_NOT_FOUND, f"method not found: {request.method}")
        except AgentGoneError:
            logger.info("%s: it ended before the answer to %s", self._name, request.method)

    def _receive_answer(self, message: dict[str, Any]) -> None:
        call_id = message["id"]
        settled = self._open.pop(call_id, None) if type(call_id) is int else None
        if settled is None:
            self._skip("answer to no open call", 0)
            return
        error = message.get("error")
        outcome = Success(message.get("result")) if error is None else as_error(error)
        try:
            settled(outcome)
        except Exception:
            logger.exception("%s: the answer to call %s could not be handled", self._name, call_id)

    def _skip(self, kind: str, size: int) -> None:
        count = self._skipped.get(kind, 0)
        self._skipped[kind] = count + 1
        level = logging.DEBUG if count else logging.WARNING
        logger.log(level, "%s: skipped a line: %s (%d bytes)", self._name, kind, size)


def as_error(error: Any) -> RpcError:
    """The wire's error member as an exception, whatever shape it has."""
    if not isinstance(error, dict):
        return RpcError(INTERNAL_ERROR, str(error))
    code = error.get("code")
    return RpcError(code if isinstance(code, int) else INTERNAL_ERROR, str(error.get("message", "")), error.get("data"))


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, None when there is none.

    Terminal noise may stand before the object (a bell, cursor sequences): what follows the first brace is tried too.
    """
    text = line.decode("utf-8", errors="replace").strip()
    message = read_object(text)
    if message is None and not text.startswith("{") and text.endswith("}"):
        message = read_object(text[text.find("{") :])
    return message
