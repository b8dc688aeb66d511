"""A small HTTP/1.1 server on loopback: keep-alive, bodies by length or chunked, streams, and broken answers on demand.

Knows nothing of Telegram. Lives in the event loop that started it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import unquote, urlsplit

log = logging.getLogger(__name__)

MAX_BODY = 80_000_000
"""Bytes read of a body; more is read away and refused with 413."""

MAX_DRAIN = 400_000_000
REASONS = {
    200: "OK",
    204: "No Content",
    304: "Not Modified",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Request Entity Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
}


class Break(Enum):
    """How an answer is broken off on purpose."""

    NONE = auto()
    RESET = auto()
    HALF_BODY = auto()


@dataclass(frozen=True, slots=True)
class Request:
    """``gone`` is set when the client hung up; ``is_oversize``: the body was too large and was thrown away."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    gone: asyncio.Event
    is_oversize: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """``stream`` is sent as it comes and ends the connection; otherwise ``body`` with its length."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: AsyncGenerator[bytes, None] | None = None
    broken: Break = Break.NONE


Handler = Callable[[Request], Awaitable[Response]]


class _BadRequestError(Exception):
    """The bytes are no HTTP request."""


class _Connection(asyncio.StreamReaderProtocol):
    """Tells a waiting handler that its client is gone."""

    def __init__(self, server: HttpServer) -> None:
        self.gone = asyncio.Event()
        super().__init__(asyncio.StreamReader(limit=1 << 20), lambda r, w: server.serve(r, w, self.gone))

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class HttpServer:
    """Serves ``handler`` on 127.0.0.1 until it is stopped; a stopped one may be started again on the same port."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        self._handler = handler
        self.port = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen; ``port`` holds the number afterwards."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Hang up on everybody and wait until their handlers have ended."""
        if self._server is not None:
            self._server.close()
            self._server = None
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        """One connection, from its first request to its end."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine always runs in a task
        self._tasks.add(task)
        try:
            while await self._exchange(reader, writer, gone):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the client hung up; nobody is left to be told
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> bool:
        """One request and its answer; true when the connection lives on."""
        try:
            request = await read_request(reader, writer, gone)
        except _BadRequestError:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return False
        if request is None:
            return False
        response = await self._answer(request)
        if response.broken is Break.RESET:
            reset(writer)
            return False
        if response.stream is not None:
            await send_stream(writer, response, gone)
            return False
        await send_body(writer, request, response)
        return response.broken is Break.NONE and request.headers.get("connection", "").lower() != "close"

    async def _answer(self, request: Request) -> Response:
        """The handler's answer; an error of its own is logged and becomes a 500, as on any server."""
        try:
            return await self._handler(request)
        except Exception:
            log.exception("the simulator failed at %s", request.method)
            return Response(500, b'{"ok":false,"error_code":500,"description":"Internal Server Error"}')


async def read_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event
) -> Request | None:
    """The next request; None when the client closed between two."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head.decode("latin-1").split("\r\n")
    first = lines[0].split(" ")
    if len(first) != 3:
        raise _BadRequestError
    headers = {}
    for line in filter(None, lines[1:]):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body, is_oversize = await read_body(reader, headers)
    try:
        url = urlsplit(first[1])
    except ValueError:
        raise _BadRequestError from None
    return Request(first[0], unquote(url.path), url.query, headers, body, gone, is_oversize)


async def read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> tuple[bytes, bool]:
    """The body, and whether it was larger than we take."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader)
    length = headers.get("content-length", "0")
    if not length.isdigit():
        raise _BadRequestError
    size = int(length)
    if size <= MAX_BODY:
        return await reader.readexactly(size), False
    left = min(size, MAX_DRAIN)
    while left > 0 and (got := await reader.read(min(left, 1 << 20))):
        left -= len(got)
    return b"", True


async def _read_chunks(reader: asyncio.StreamReader) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    total = 0
    while True:
        line = await reader.readuntil(b"\r\n")
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError:
            raise _BadRequestError from None
        chunk = await reader.readexactly(size + 2)
        if size == 0:
            return (b"", True) if total > MAX_BODY else (b"".join(parts), False)
        total += size
        if total <= MAX_BODY:
            parts.append(chunk[:-2])


def _head(response: Response, *lines: str) -> bytes:
    text = [f"HTTP/1.1 {response.status} {REASONS.get(response.status, 'Status')}"]
    text += [f"Content-Type: {response.content_type}", *(f"{k}: {v}" for k, v in response.headers.items()), *lines]
    return ("\r\n".join(text) + "\r\n\r\n").encode("latin-1")


async def send_body(writer: asyncio.StreamWriter, request: Request, response: Response) -> None:
    """Write an answer of known length, or half of it when it is to be broken."""
    body = b"" if request.method == "HEAD" else response.body
    writer.write(_head(response, f"Content-Length: {len(response.body)}"))
    writer.write(body[: len(body) // 2] if response.broken is Break.HALF_BODY else body)
    await writer.drain()


async def send_stream(writer: asyncio.StreamWriter, response: Response, gone: asyncio.Event) -> None:
    """Write pieces as they come until the stream ends or the client is gone."""
    assert response.stream is not None  # noqa: S101 - asked by the caller
    writer.write(_head(response, "Connection: close", "Cache-Control: no-store"))
    async with contextlib.aclosing(response.stream) as pieces:
        with contextlib.suppress(ConnectionError):
            async for piece in pieces:
                if gone.is_set():
                    return
                writer.write(piece)
                await writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection with a TCP reset, as a dying proxy does."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("hh" if os.name == "nt" else "ii", 1, 0))
    writer.transport.abort()
