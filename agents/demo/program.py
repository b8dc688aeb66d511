"""The demo agent as a program: ACP on stdin and stdout, sessions kept as files.

Run it as ``python -m agents.demo``. It opens no network connection; the commands it runs are shown and allowed first.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from agents.demo.history import HOME, History, Said
from agents.demo.scenes import COMMANDS, VERSION, play
from agents.demo.script import ScriptError
from agents.demo.stage import Actor, Stage
from agents.demo.tool_client import ToolClient
from agents.jsonrpc import INVALID_PARAMS, Notification, Peer, Request

FLAG = "--demo-agent"
"""The hidden argument by which a frozen application enters here instead of its own ``main``."""
MODES = (
    ("ask", "Ask", "Ask before every edit and command"),
    ("edits", "Edits", "Edit without asking, ask before commands"),
)
MODELS = (("demo-small", "Demo small"), ("demo-large", "Demo large"))
EFFORTS = (("low", "Low"), ("high", "High"))
CONTEXT = 200_000
_NOT_FOUND = -32002


class StdioLines:
    """Our own stdin and stdout as lines. A thread reads, so it works on every system's pipes."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._arrived: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = loop
        threading.Thread(target=self._read_stdin, daemon=True).start()

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncIterator[bytes]:
        while (line := await self._arrived.get()) is not None:
            yield line

    async def send(self, line: bytes) -> None:
        # One write for the whole frame; blocking here is the back-pressure of a client that does not read.
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    def _read_stdin(self) -> None:
        for line in sys.stdin.buffer:
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, line)
        self._loop.call_soon_threadsafe(self._arrived.put_nowait, None)


class DemoAgent:
    """The agent's side of the protocol."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._actors: dict[str, Actor] = {}
        self._peer: Peer | None = None
        self._methods: Mapping[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/resume": self._resume,
            "session/fork": self._fork,
            "session/list": self._list,
            "session/set_mode": self._set_mode,
            "session/set_model": self._set_model,
            "session/set_config_option": self._set_option,
        }

    async def run(self) -> None:
        """Serve until stdin ends."""
        self._peer = Peer(StdioLines(asyncio.get_running_loop()), "the client", self._notified, self._asked)
        await self._peer.run()
        for actor in self._actors.values():
            await actor.tools.close()

    @property
    def peer(self) -> Peer:
        if self._peer is None:
            raise RuntimeError("the agent does not run")
        return self._peer

    def _notified(self, notification: Notification) -> None:
        if notification.method == "session/cancel":
            actor = self._actors.get(str((notification.params or {}).get("sessionId")))
            if actor is not None and actor.turn is not None:
                actor.turn.cancel()

    async def _asked(self, request: Request) -> None:
        params = request.params if isinstance(request.params, dict) else {}
        if request.method == "session/prompt":
            await self._prompt(request, params)
        elif request.method == "session/load":
            await self._load(request, params)
        elif request.method == "session/close":
            await self._close(request, params)
        elif (method := self._methods.get(request.method)) is not None:
            result = method(params)
            if result is None:
                await request.refuse(_NOT_FOUND, "Resource not found", {"details": "no such session"})
                return
            await request.reply(result)
            if request.method in {"session/new", "session/resume", "session/fork"}:
                await self._offer_commands(str(result.get("sessionId") or params.get("sessionId")))

    def _initialize(self, _: dict[str, Any]) -> dict[str, Any]:
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "demo", "title": "Demo agent", "version": VERSION},
            "authMethods": [],
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True},
                "sessionCapabilities": {"list": {}, "resume": {}, "fork": {}, "close": {}},
            },
        }

    def _new(self, params: dict[str, Any]) -> dict[str, Any]:
        return self._open(self._history.create(str(params.get("cwd"))), params)

    def _resume(self, params: dict[str, Any]) -> dict[str, Any] | None:
        session_id = str(params.get("sessionId"))
        if not self._history.exists(session_id):
            return None
        self._history.move(session_id, str(params.get("cwd")))
        return self._open(session_id, params)

    def _fork(self, params: dict[str, Any]) -> dict[str, Any] | None:
        session_id = str(params.get("sessionId"))
        if not self._history.exists(session_id):
            return None
        return self._open(self._history.fork(session_id, str(params.get("cwd"))), params)

    async def _load(self, request: Request, params: dict[str, Any]) -> None:
        result = self._resume(params)
        if result is None:
            await request.refuse(_NOT_FOUND, "Resource not found", {"details": "no such session"})
            return
        for said in self._history.read(str(params["sessionId"])):
            if said.role == "tool":
                continue
            kind = "user_message_chunk" if said.role == "user" else "agent_message_chunk"
            update = {"sessionUpdate": kind, "content": {"type": "text", "text": said.text}}
            await self.peer.notify("session/update", {"sessionId": params["sessionId"], "update": update})
        await request.reply(result)
        await self._offer_commands(str(params["sessionId"]))

    def _open(self, session_id: str, params: dict[str, Any]) -> dict[str, Any]:
        servers = params.get("mcpServers")
        tools = ToolClient(servers if isinstance(servers, list) else [], str(params.get("cwd")))
        actor = Actor(session_id, str(params.get("cwd")), tools)
        self._actors[session_id] = actor
        return {
            "sessionId": session_id,
            "modes": {
                "currentModeId": actor.mode,
                "availableModes": [{"id": id_, "name": name, "description": about} for id_, name, about in MODES],
            },
            "models": {
                "currentModelId": actor.model,
                "availableModels": [{"modelId": id_, "name": name} for id_, name in MODELS],
            },
            "configOptions": self._options(actor),
        }

    def _options(self, actor: Actor) -> list[dict[str, Any]]:
        values = [{"value": value, "name": name} for value, name in EFFORTS]
        effort = {"id": "effort", "name": "Effort", "category": "thought_level", "type": "select"}
        return [{**effort, "currentValue": actor.effort, "options": values}]

    def _list(self, params: dict[str, Any]) -> dict[str, Any]:
        cwd = params.get("cwd")
        found = self._history.list(cwd if isinstance(cwd, str) else None)
        return {
            "sessions": [
                {"sessionId": past.id, "cwd": past.cwd, "title": past.title, "updatedAt": past.updated.isoformat()}
                for past in found
            ]
        }

    def _set_mode(self, params: dict[str, Any]) -> dict[str, Any] | None:
        actor, mode = self._actors.get(str(params.get("sessionId"))), params.get("modeId")
        if actor is None or mode not in {one[0] for one in MODES}:
            return None
        actor.mode = str(mode)
        return {}

    def _set_model(self, params: dict[str, Any]) -> dict[str, Any] | None:
        actor, model = self._actors.get(str(params.get("sessionId"))), params.get("modelId")
        if actor is None or model not in {one[0] for one in MODELS}:
            return None
        actor.model = str(model)
        return {}

    def _set_option(self, params: dict[str, Any]) -> dict[str, Any] | None:
        actor = self._actors.get(str(params.get("sessionId")))
        if actor is None or params.get("configId") != "effort":
            return None
        actor.effort = str(params.get("value"))
        return {"configOptions": self._options(actor)}

    async def _close(self, request: Request, params: dict[str, Any]) -> None:
        actor = self._actors.pop(str(params.get("sessionId")), None)
        if actor is not None:
            await actor.tools.close()
        await request.reply({})

    async def _offer_commands(self, session_id: str) -> None:
        commands = [{"name": name, "description": about} for name, about in COMMANDS]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        await self.peer.notify("session/update", {"sessionId": session_id, "update": update})

    async def _prompt(self, request: Request, params: dict[str, Any]) -> None:
        actor = self._actors.get(str(params.get("sessionId")))
        if actor is None or actor.turn is not None:
            await request.refuse(INVALID_PARAMS, "no such session, or it is working")
            return
        blocks = params.get("prompt")
        texts = [str(block.get("text", "")) for block in blocks or [] if isinstance(block, dict)]
        prompt = "\n".join(text for text in texts if text)
        self._history.add(actor.id, Said("user", prompt))
        stage = Stage(self.peer, actor, self._history, prompt)
        actor.turn = asyncio.create_task(play(stage))
        try:
            await asyncio.wait([actor.turn])
            await self._end_turn(request, actor, stage)
        finally:
            actor.turn.cancel()
            actor.turn = None

    async def _end_turn(self, request: Request, actor: Actor, stage: Stage) -> None:
        turn = actor.turn
        await stage.remember()
        if turn is None or turn.cancelled():
            await request.reply({"stopReason": "cancelled"})
            return
        error = turn.exception()
        if isinstance(error, ScriptError):
            await request.refuse(-32603, error.title, {"details": error.detail})
            return
        if error is not None:
            await request.refuse(-32603, "Internal error", {"details": f"{type(error).__name__}: {error}"})
            return
        usage = {"inputTokens": len(stage.prompt) // 4 + 1, "outputTokens": len(stage.said) // 4}
        actor.used = min(CONTEXT, actor.used + usage["inputTokens"] + usage["outputTokens"])
        await stage.update("usage_update", used=actor.used, size=CONTEXT)
        await request.reply({"stopReason": "end_turn", "usage": usage})


def main() -> int:
    """Run the agent."""
    if sys.stdin.isatty():
        sys.stderr.write("The demo agent speaks ACP with the program that started it. Try: agent-hub demo\n")
        return 2
    folder = os.environ.get(HOME) or str(Path(tempfile.gettempdir()) / "agent-hub-demo-agent")
    asyncio.run(DemoAgent(History(Path(folder))).run())
    return 0
