"""What a scene of the demo agent can do: speak, think, plan, ask, run, edit, use the hub's tools. All of it for real.

A stage lives for one turn of one session. It speaks ACP through a ``Peer``, as any agent does.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.demo.history import History, Said
from agents.demo.tool_client import ToolClient
from agents.demo.wording import is_russian, line
from agents.jsonrpc import Peer

PACE = "DEMO_AGENT_PACE"
"""The variable with the seconds between two pieces of a text; 0 in tests."""
_PIECE = 40
"""Letters of one piece."""

OPTIONS = [
    {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "no", "name": "Deny", "kind": "reject_once"},
]


@dataclass(slots=True)
class Actor:
    """One session of the demo agent."""

    id: str
    cwd: str
    tools: ToolClient
    mode: str = "ask"
    model: str = "demo-small"
    effort: str = "low"
    used: int = 0
    was_denied: bool = False
    left: list[asyncio.subprocess.Process] = field(default_factory=list, repr=False)
    turn: asyncio.Task[None] | None = field(default=None, repr=False)
    later: set[asyncio.Task[None]] = field(default_factory=set, repr=False)


class Stage:
    """One turn."""

    def __init__(self, peer: Peer, actor: Actor, history: History, prompt: str) -> None:
        self.peer = peer
        self.actor = actor
        self.history = history
        self.prompt = prompt
        self.russian = is_russian(prompt)
        self._pace = float(os.environ.get(PACE, "0.02"))
        self._numbers = itertools.count(1)
        self._said: list[str] = []

    @property
    def said(self) -> str:
        """Everything said in this turn."""
        return "".join(self._said)

    def words(self, name: str, /, **values: object) -> str:
        """A sentence in the language of the prompt."""
        return line(name, russian=self.russian, **values)

    async def update(self, update_kind: str, /, **fields: Any) -> None:
        """Send a session update."""
        params = {"sessionId": self.actor.id, "update": {"sessionUpdate": update_kind, **fields}}
        await self.peer.notify("session/update", params)

    async def say(self, text: str, *, pace: float | None = None, piece: int = _PIECE) -> None:
        """Write Markdown as a model does, piece by piece."""
        for start in range(0, len(text), piece):
            part = text[start : start + piece]
            self._said.append(part)
            await self.update("agent_message_chunk", content={"type": "text", "text": part})
            await asyncio.sleep(self._pace if pace is None else pace)

    async def tell(self, name: str, /, **values: object) -> None:
        """Say a sentence; a paragraph of its own."""
        await self.say(("\n\n" if self.said else "") + self.words(name, **values))

    async def think(self, text: str) -> None:
        """Think aloud."""
        await self.update("agent_thought_chunk", content={"type": "text", "text": text})
        await asyncio.sleep(self._pace)

    async def plan(self, steps: Sequence[str], current: int) -> None:
        """Show the plan with the steps before ``current`` done."""
        states = [
            "completed" if n < current else "in_progress" if n == current else "pending" for n in range(len(steps))
        ]
        entries = [
            {"content": step, "status": state, "priority": "medium"} for step, state in zip(steps, states, strict=True)
        ]
        await self.update("plan", entries=entries)
        await asyncio.sleep(self._pace)

    async def is_allowed(self, call: dict[str, Any]) -> bool:
        """Ask for permission. Cancelled or no answer counts as no."""
        params = {"sessionId": self.actor.id, "toolCall": {**call, "status": "pending"}, "options": OPTIONS}
        answer = await self.peer.call("session/request_permission", params, within=None)
        outcome = answer.get("outcome", {}) if isinstance(answer, dict) else {}
        is_allowed = outcome.get("outcome") == "selected" and outcome.get("optionId") in {"once", "always"}
        self.actor.was_denied = not is_allowed
        return is_allowed

    async def run(self, command: str, *, is_quiet: bool = False, in_background: bool = False) -> None:
        """Ask, then run a command in the session's folder and report what it printed; ``is_quiet``: only that."""
        call = {
            "toolCallId": self._call_id(),
            "title": command,
            "kind": "execute",
            "rawInput": {"command": command, "description": self.words("run_reason")},
            "_meta": {"toolName": "shell"},
        }
        await self.update("tool_call", status="pending", **call)
        if not await self.is_allowed(call):
            await self._finish(call, "failed", "The user denied this command.")
            if not is_quiet:
                await self.tell("not_run")
            return
        await self.update("tool_call_update", toolCallId=call["toolCallId"], status="in_progress")
        code, output = await self._leave(command) if in_background else await self._run(command)
        raw = {"output": output, "exitCode": code}
        await self._finish(call, "completed" if code == 0 else "failed", output, raw)
        if is_quiet:
            return
        await self.tell("ran", code=code)
        if output.strip():
            await self.say(f"\n\n{self.words('its_output')}\n\n```\n{output.strip()[:1500]}\n```")

    async def _leave(self, command: str) -> tuple[int, str]:
        """Start a command that goes on by itself; it ends with the agent's process tree at the latest."""
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=self.actor.cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=sys.platform != "win32",
        )
        self.actor.left.append(process)
        return 0, f"started in the background (pid {process.pid})"

    async def _run(self, command: str) -> tuple[int, str]:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=self.actor.cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=sys.platform != "win32",
        )
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            await end_group(process)
            raise
        return process.returncode or 0, output.decode("utf-8", "replace")

    async def write(self, path: Path, new: str, *, is_own: bool = False) -> bool:
        """Ask with the difference, then write a file. False: the person said no. ``is_own``: the agent's own report,
        which it writes unasked."""
        old = await asyncio.to_thread(read_text, path)
        diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
        call = {
            "toolCallId": self._call_id(),
            "title": f"Edit {path.name}",
            "kind": "edit",
            "content": [diff],
            "locations": [{"path": str(path)}],
            "rawInput": {"path": str(path)},
            "_meta": {"toolName": "edit"},
        }
        await self.update("tool_call", status="pending", **call)
        is_asked = self.actor.mode != "edits" and not is_own
        if is_asked and not await self.is_allowed(call):
            await self.update("tool_call_update", toolCallId=call["toolCallId"], status="failed")
            return False
        await asyncio.to_thread(path.write_text, new, encoding="utf-8")
        await self.update("tool_call_update", toolCallId=call["toolCallId"], status="completed", content=[diff])
        return True

    async def use(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Call one of the tools the client gave: the text and whether it is an error."""
        name = f"mcp__{self.actor.tools.name}__{tool}"
        call = {
            "toolCallId": self._call_id(),
            "title": tool,
            "kind": "other",
            "rawInput": arguments,
            "_meta": {"toolName": name},
        }
        await self.update("tool_call", status="in_progress", **call)
        text, is_error = await self.actor.tools.call(tool, arguments)
        await self._finish(call, "failed" if is_error else "completed", text)
        self.history.add(self.actor.id, Said("tool", text))
        return text, is_error

    async def remember(self) -> None:
        """Keep what was said, also when the turn was cut short."""
        if self.said:
            self.history.add(self.actor.id, Said("agent", self.said))

    async def _finish(self, call: dict[str, Any], status: str, text: str, raw: Any = None) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        extra = {} if raw is None else {"rawOutput": raw}
        await self.update("tool_call_update", toolCallId=call["toolCallId"], status=status, content=content, **extra)

    def _call_id(self) -> str:
        return f"call-{os.urandom(4).hex()}-{next(self._numbers)}"


def read_text(path: Path) -> str | None:
    """The text of a file, None when there is no such file."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


async def end_group(process: asyncio.subprocess.Process) -> None:
    """End a command with everything it started."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
