"""A program that a test plays by hand: it says lines and sees what the hub wrote."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from agents.claude.session import ClaudeSession
from agents.contract import AgentGoneError, SessionId, UserChannel

SESSION = SessionId("11111111-1111-4111-8111-111111111111")
Message = dict[str, Any]


class FakeProgram:
    """A ``LinePipe``. Answers the handshake by itself."""

    def __init__(self) -> None:
        self.written: list[Message] = []
        self.is_gone = False
        self.obeys_interrupts = True
        self.stops = 0
        self.stderr_tail = ""
        self.code: int | None = 0
        self.last_heard = 0.0
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._news = asyncio.Event()

    @property
    def pid(self) -> int | None:
        return None if self.is_gone else 4711

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    def says(self, *messages: Message | bytes) -> None:
        for message in messages:
            self._lines.put_nowait(message if isinstance(message, bytes) else json.dumps(message).encode())

    def dies(self, code: int = 1) -> None:
        if not self.is_gone:
            self.is_gone, self.code = True, code
            self._lines.put_nowait(None)

    async def send(self, line: bytes) -> None:
        if self.is_gone:
            raise AgentGoneError("gone")
        message = json.loads(line)
        self.written.append(message)
        self._news.set()
        subtype = message.get("request", {}).get("subtype")
        if subtype == "initialize":
            self._shakes_hands(message["request_id"])
        elif subtype == "interrupt" and self.obeys_interrupts:
            self.says(result(is_error=True, terminal_reason="aborted_streaming", result=""))
        elif subtype == "end_session":
            self.dies(0)

    def _shakes_hands(self, request_id: str) -> None:
        body = {"claude_code_version": "2.1.332", "account": {"apiKeySource": "ANTHROPIC_API_KEY"}}
        response = {"subtype": "success", "request_id": request_id, "response": body}
        listing = {"subtype": "mcp_message", "server_name": "hub", "message": {"id": 1, "method": "tools/list"}}
        self.says(
            {"type": "control_response", "response": response},
            {"type": "control_request", "request_id": "mcp1", "request": listing},
        )

    def close_input(self) -> None:
        """Nothing to close."""

    async def wait(self) -> int | None:
        return self.code

    async def stop(self, grace: float = 5.0) -> int | None:
        self.stops += 1
        self.dies(-15)
        return self.code

    async def wrote(self, is_it: Callable[[Message], bool], seconds: float = 5) -> Message:
        """The first message of the hub that is it."""
        async with asyncio.timeout(seconds):
            while True:
                for message in self.written:
                    if is_it(message):
                        return message
                self._news.clear()
                await self._news.wait()

    async def answered(self, request_id: str) -> Message:
        """The hub's answer to a request of the program."""
        found = await self.wrote(lambda m: m.get("response", {}).get("request_id") == request_id)
        return dict(found["response"])


async def opened(program: FakeProgram, person: UserChannel, folder: Path) -> ClaudeSession:
    """A session that is past its handshake."""
    session = ClaudeSession(program, person, folder, SESSION, lambda: str(uuid.uuid4()))
    await session.begin()
    return session


def asks(request_id: str, tool: str, **arguments: object) -> Message:
    """A permission request."""
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": arguments, "tool_use_id": f"tool-{request_id}"}
    return {"type": "control_request", "request_id": request_id, "request": request}


def result(**fields: object) -> Message:
    """The end of a turn."""
    return {"type": "result", "subtype": "success", "is_error": False, "result": "done", **fields}


def text(content: str) -> Message:
    """A block of the model's text."""
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": content}]}}
