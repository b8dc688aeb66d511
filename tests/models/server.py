"""The loopback half of a scripted model: an HTTP server whose answers may stream, hang, break off or fail."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol, Self

Body = dict[str, Any]


class Gone(Exception):
    """The agent closed the connection, or the server stops."""


class Reply:
    """One answer in the making."""

    def __init__(self, handler: BaseHTTPRequestHandler, stopping: threading.Event, number: int) -> None:
        self._handler = handler
        self._stopping = stopping
        self.number = number

    def whole(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        """A JSON document."""
        data = json.dumps(body).encode()
        self._handler.send_response(status)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self._handler.send_header(name, value)
        self._handler.end_headers()
        self._handler.wfile.write(data)

    def begin_stream(self) -> None:
        """Server-sent events follow."""
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", "text/event-stream")
        self._handler.send_header("Cache-Control", "no-cache")
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.send_header("request-id", f"req_{self.number:06d}")
        self._handler.end_headers()

    def event(self, data: object, name: str = "") -> None:
        """One event; ``data`` is JSON, a plain text such as ``[DONE]`` goes as it is."""
        text = data if isinstance(data, str) else json.dumps(data)
        raw = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
        encoded = raw.encode()
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(encoded), encoded))
        self._handler.wfile.flush()

    def end_stream(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")
        self._handler.wfile.flush()

    def cut(self) -> None:
        """Break off without an end."""
        self._handler.close_connection = True
        with contextlib.suppress(OSError):
            self._handler.connection.shutdown(2)
        raise Gone

    def wait(self, seconds: float) -> None:
        """Pause; ends at once when the server stops."""
        if self._stopping.wait(seconds):
            raise Gone


class Wire(Protocol):
    """A wire format: serves POST requests."""

    def post(self, path: str, headers: Mapping[str, str], body: Body, reply: Reply) -> None: ...


class LoopbackServer:
    """Serves a wire format on 127.0.0.1; a context manager."""

    def __init__(self, wire: Wire) -> None:
        self._stopping = threading.Event()
        numbers = itertools.count(1)
        stopping = self._stopping

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

            def do_HEAD(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                Reply(self, stopping, next(numbers)).whole(404, {"error": {"message": "no such page"}})

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    body = json.loads(raw or b"{}")
                except ValueError:
                    body = {}
                headers = {name.lower(): value for name, value in self.headers.items()}
                try:
                    wire.post(self.path.partition("?")[0], headers, body, Reply(self, stopping, next(numbers)))
                except (Gone, OSError):
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """A killed agent resets its connection: no noise."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def pause(seconds: float, reply: Reply) -> None:
    """Wait between two pieces of a stream."""
    if seconds:
        reply.wait(seconds)


def now() -> int:
    """Seconds since the epoch, for fields that want them."""
    return int(time.time())
