"""A few dozen lines of HTTP on loopback: answers the Bot API as a test says, faults included, and keeps what it got."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

TOKEN = "110201543:DUMMY-dummy_DUMMY-dummy_DUMMY-dum1"


@dataclass(frozen=True)
class Call:
    """One request as it arrived; ``fields`` only for form bodies."""

    path: str
    fields: dict[str, str]
    body: bytes

    @property
    def method(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Reply:
    """``fault``: "" = none, "hang", "reset", "half" (of the body)."""

    result: Any = True
    status: int = 200
    raw: bytes | None = None
    fault: str = ""

    def payload(self) -> bytes:
        if self.raw is not None:
            return self.raw
        return json.dumps({"ok": True, "result": self.result}).encode()


def refusal(status: int, description: str, **parameters: int) -> Reply:
    envelope: dict[str, Any] = {"ok": False, "error_code": status, "description": description}
    if parameters:
        envelope["parameters"] = parameters
    return Reply(status=status, raw=json.dumps(envelope).encode())


@dataclass
class Wire:
    """``answer`` decides; calls are kept in order, ``connections`` counts accepted ones."""

    answer: Callable[[Call], Reply] = field(default=lambda call: Reply({"message_id": 1}))
    calls: list[Call] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    _server: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/bot"

    async def __aenter__(self) -> Wire:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        try:
            while True:
                call = await self._read(reader)
                self.calls.append(call)
                if not await self._write(writer, self.answer(call)):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self._writers.discard(writer)

    @staticmethod
    async def _read(reader: asyncio.StreamReader) -> Call:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        is_form = "urlencoded" in headers.get("content-type", "")
        fields = {key: values[0] for key, values in parse_qs(body.decode()).items()} if is_form else {}
        return Call(lines[0].split()[1], fields, body)

    @staticmethod
    async def _write(writer: asyncio.StreamWriter, reply: Reply) -> bool:
        payload = reply.payload()
        if reply.fault == "hang":
            await asyncio.sleep(3600)
        if reply.fault == "reset":
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        head = f"HTTP/1.1 {reply.status} X\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
        writer.write(head.encode() + (payload[: len(payload) // 2] if reply.fault == "half" else payload))
        await writer.drain()
        return reply.fault != "half"
