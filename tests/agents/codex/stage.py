"""An app-server in memory: it answers calls by a rule, tells what a test wants told, and keeps what it was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from agents.codex.modes import DEFAULT, MODES
from agents.codex.server import AppServer
from agents.codex.session import CodexSession, Opening
from agents.codex.wire import calls
from agents.contract import AgentEvent, AgentGoneError, UserChannel
from tests.contract.exchange import Ids
from tests.contract.person import Person

ROOT = "thread-root"
HELPER = "thread-helper"
FOLDER = Path("/project")
Answer = dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any] | None]


class StagedPipe:
    """A ``LinePipe`` whose other end is the test. An ``Answer`` is a result, or makes one (None: no answer)."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.answers: dict[str, Answer] = {"turn/interrupt": self._stopped}
        self.stderr_tail = "last words"
        self.last_heard = 0.0
        self.pid: int | None = 4711
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._news = asyncio.Event()

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def send(self, line: bytes) -> None:
        if self.pid is None:
            raise AgentGoneError("gone")
        message = json.loads(line)
        self.sent.append(message)
        self._news.set()
        if "method" in message and "id" in message:
            answer = self.answers.get(message["method"], {})
            result = answer(message) if callable(answer) else answer
            if result is not None:
                self.say({"id": message["id"], **({"result": result} if "error" not in result else result)})

    def _stopped(self, call: dict[str, Any]) -> dict[str, Any]:
        params = call["params"]
        self.tell("turn/completed", params["threadId"], **turn_ended("interrupted", params["turnId"]))
        return {}

    def say(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self._lines.put_nowait(json.dumps(message).encode())

    def tell(self, method: str, thread: str = ROOT, **params: Any) -> None:
        self.say({"method": method, "params": {"threadId": thread, **params}})

    def die(self) -> None:
        self.pid = None
        self._lines.put_nowait(None)

    def close_input(self) -> None:
        self._lines.put_nowait(None)

    async def wait(self) -> int | None:
        return -9

    async def stop(self, grace: float = 5.0) -> int | None:
        return -9

    def of(self, method: str) -> list[dict[str, Any]]:
        """The parameters of every call of this method so far."""
        return [message["params"] for message in self.sent if message.get("method") == method]

    def replies(self) -> list[dict[str, Any]]:
        """What was answered to requests."""
        return [message for message in self.sent if "method" not in message]

    async def until(self, is_so: Callable[[], bool], seconds: float = 5) -> None:
        async with asyncio.timeout(seconds):
            while not is_so():
                self._news.clear()
                await self._news.wait()


class Stage:
    """One session on one staged process."""

    def __init__(self, person: UserChannel | None = None, mode: str = DEFAULT) -> None:
        self.pipe = StagedPipe()
        self.person = Person()
        self.slept: list[float] = []
        self.released = 0
        self.server = AppServer(self.pipe, sleep=self._sleep)
        self.session = self.open(ROOT, person or self.person, mode)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def _release(self) -> None:
        self.released += 1

    def open(self, thread: str, person: UserChannel, mode: str = DEFAULT) -> CodexSession:
        opening = Opening(
            server=self.server,
            thread=calls.read_thread({"thread": {"id": thread, "cwd": str(FOLDER)}, "model": "gpt-5.5"}),
            settings=calls.Settings(MODES[mode]),
            models=(),
            configured_mode=None,
            version="0.171.0",
            cwd=FOLDER,
            release=self._release,
            new_id=Ids(),
        )
        return CodexSession(opening, person)

    async def next(self, kind: type[AgentEvent], session: CodexSession | None = None) -> AgentEvent:
        """The next event of this kind; earlier ones are dropped."""
        async with asyncio.timeout(5):
            async for event in (session or self.session).events:
                if isinstance(event, kind):
                    return event
        raise AssertionError(f"the session ended without {kind.__name__}")

    async def turn(self, turn: str = "turn-1") -> None:
        """A turn that runs."""
        self.pipe.tell("turn/started", turn={"id": turn, "rootTurnId": turn, "status": "inProgress"})
        await asyncio.sleep(0)

    async def close(self) -> None:
        await self.session.close()
        await self.server.close()


def turn_ended(status: str = "completed", turn: str = "turn-1", error: object = None) -> dict[str, Any]:
    return {"turn": {"id": turn, "status": status, "items": [], "error": error}}


def command(item: str = "item-1", status: str = "inProgress", text: str = "make deploy", **more: Any) -> dict[str, Any]:
    return {
        "type": "commandExecution",
        "id": item,
        "command": f"/bin/bash -lc '{text}'",
        "commandActions": [{"type": "unknown", "command": text}],
        "cwd": str(FOLDER),
        "status": status,
        **more,
    }


def message(text: str, item: str = "message-1", **more: Any) -> dict[str, Any]:
    return {"type": "agentMessage", "id": item, "text": text, **more}
