"""An ACP agent in memory, for what no real agent does on demand. It answers what a test tells it to answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.acp.backend import AcpBackend, Parts
from agents.acp.dialect import AcpDialect
from agents.contract import AgentLaunch
from agents.finding import Finder
from agents.processes import LinePipe
from tests.agents.installed import SYSTEM_PATH, finder, program

Message = dict[str, Any]
NO_PROCESS = 99_999_999
"""A process id that no system gives, so that nothing is ever ended by mistake."""


class ScriptedAgent:
    """A pipe whose other end is this object; a ``LinePipe``."""

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers: dict[str, Any] = {
            "initialize": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}},
            "session/new": {"sessionId": "s1"},
            "session/load": {},
            **(answers or {}),
        }
        self.heard: list[Message] = []
        self.on_message: Callable[[Message], None] = lambda _: None
        self.pid: int | None = NO_PROCESS
        self.last_heard = 0.0
        self.stderr_tail = ""
        self.is_stopped = False
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._news = asyncio.Event()

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def send(self, line: bytes) -> None:
        message = json.loads(line)
        self.heard.append(message)
        self._news.set()
        method = message.get("method")
        if "id" in message and method in self.answers:
            answer = self.answers[method]
            self.say({"id": message["id"], **(answer if "error" in answer else {"result": answer})})
        self.on_message(message)

    def close_input(self) -> None:
        self.end()

    async def wait(self) -> int | None:
        return -9

    async def stop(self, grace: float = 5.0) -> int | None:
        self.is_stopped = True
        self.end()
        return -9

    def end(self) -> None:
        """The process is gone."""
        self.pid = None
        self._lines.put_nowait(None)

    def say(self, *messages: Message) -> None:
        for message in messages:
            self._lines.put_nowait(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def update(self, update_kind: str, /, **fields: Any) -> None:
        params = {"sessionId": "s1", "update": {"sessionUpdate": update_kind, **fields}}
        self.say({"method": "session/update", "params": params})

    def text(self, words: str, **fields: Any) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": words}, **fields)

    def asks(self, call: Message, options: Sequence[tuple[str, str]], key: Any = 0) -> None:
        """Ask for permission with (id, kind) options."""
        offered = [{"optionId": id_, "name": id_, "kind": kind} for id_, kind in options]
        params = {"sessionId": "s1", "toolCall": call, "options": offered}
        self.say({"id": key, "method": "session/request_permission", "params": params})

    def ends_turn(self, reason: str = "end_turn", **fields: Any) -> None:
        self.say({"id": self.last("session/prompt")["id"], "result": {"stopReason": reason, **fields}})

    def last(self, method: str) -> Message:
        return [message for message in self.heard if message.get("method") == method][-1]

    def methods(self) -> list[str]:
        return [message["method"] for message in self.heard if "method" in message]

    async def next(self, fits: Callable[[Message], bool]) -> Message:
        """The first message of the client that fits."""
        async with asyncio.timeout(5):
            while True:
                for message in self.heard:
                    if fits(message):
                        return message
                self._news.clear()
                await self._news.wait()

    async def reply_to(self, key: Any) -> Message:
        """The client's answer to our request."""
        return await self.next(lambda message: "method" not in message and message.get("id") == key)


class Stage:
    """A backend whose processes are scripted agents, in the order given."""

    def __init__(
        self, folder: Path, *agents: ScriptedAgent, dialect: AcpDialect | None = None, mode: str | None = None
    ) -> None:
        self.agents = list(agents)
        self.started: list[ScriptedAgent] = []
        found = program(folder / "bin" / "agent")
        self.finder: Finder = finder(folder / "home", SYSTEM_PATH)
        self.now = 0.0
        self.naps: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()
        parts = Parts(spawn=self._spawn, clock=lambda: self.now, sleep=self._sleep)
        launch = AgentLaunch(command=str(found), mode=mode)
        self.backend = AcpBackend("some", launch, self.finder, dialect=dialect, parts=parts)

    async def _spawn(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None) -> LinePipe:
        agent = self.agents.pop(0)
        self.started.append(agent)
        return agent

    async def _sleep(self, seconds: float) -> None:
        nap: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.naps.put_nowait(nap)
        await nap

    async def pass_time(self, seconds: float) -> None:
        """Let the sleeper of the moment wake ``seconds`` later."""
        async with asyncio.timeout(5):
            nap = await self.naps.get()
        self.now += seconds
        if not nap.done():
            nap.set_result(None)
