"""What Claude Code asks of the hub: permissions, questions, the hub's own tools. Each is answered in its own task.

A request is answered exactly once: with the person's decision, or with a denial when the task is cancelled (time is
up, the session closes) or something breaks. Only after its bytes are in the pipe is the channel told "delivered".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path

from agents.claude import wire
from agents.claude.asking import answers_line, decision_line, permission, questions
from agents.claude.hub_server import respond
from agents.claude.messages import Cancelled, McpMessage, OtherRequest, ToolPermission
from agents.claude.tools import CHANGING_TOOLS, QUESTION_TOOL, change_of
from agents.contract import AgentGoneError, AskId, UserChannel, sentence
from agents.processes import LinePipe

logger = logging.getLogger(__name__)

HUB_FAILED = "The hub could not ask the user, so this is denied."
NO_ANSWER = "No answer came, so this is denied."
_PATIENCE = 5.0
"""Seconds for the channel to end a withdrawn request by itself, and for the last denials when a session closes."""

Spawn = Callable[[Coroutine[object, object, None]], "asyncio.Task[None] | None"]
Request = ToolPermission | McpMessage | OtherRequest


class Requests:
    """The open requests of one session. ``spawn`` starts a task that the session owns."""

    def __init__(self, pipe: LinePipe, channel: UserChannel, cwd: Path, generation: str, spawn: Spawn) -> None:
        self._pipe = pipe
        self._channel = channel
        self._cwd = cwd
        self._generation = generation
        self._spawn = spawn
        self._open: dict[str, asyncio.Task[None]] = {}
        self._withdrawn: set[str] = set()
        self._decided: set[str] = set()
        self._has_tools = asyncio.Event()

    def take(self, request: Request, *, plan: str, helper: str) -> None:
        """Begin to answer. ``plan`` is the text a plan request falls back to, ``helper`` the sub-agent that asks."""
        match request:
            case ToolPermission():
                work = self._ask(request, plan, helper)
            case McpMessage():
                work = self._serve(request)
            case OtherRequest(request_id, subtype):
                work = self._pipe.send(wire.refusal(request_id, f"The hub does not serve {subtype}."))
        task = self._spawn(work)
        if task is not None:
            self._open[request.request_id] = task
            task.add_done_callback(lambda _: self._forget(request.request_id))

    def cancelled(self, message: Cancelled) -> None:
        """The program takes a request back."""
        task = self._open.get(message.request_id)
        if task is not None:
            self._withdrawn.add(message.request_id)
            self._spawn(self._withdraw(message.request_id, task))

    async def wait_for_tools(self, seconds: float) -> bool:
        """Whether the program has learned the hub's tools; a prompt before that goes without them (measured)."""
        try:
            async with asyncio.timeout(seconds):
                await self._has_tools.wait()
        except TimeoutError:
            return False
        return True

    async def deny_all(self) -> None:
        """Deny whatever is open; returns when the program has the denials, or after a few seconds.

        A decision on its way is left to arrive: cut off, nobody could say whether it did.
        """
        tasks = list(self._open.values())
        for request_id, task in self._open.items():
            if request_id not in self._decided:
                task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE)

    def _forget(self, request_id: str) -> None:
        self._open.pop(request_id, None)
        self._withdrawn.discard(request_id)
        self._decided.discard(request_id)

    def _ask_id(self, request_id: str) -> AskId:
        return AskId(f"{self._generation}:{request_id}")

    async def _withdraw(self, request_id: str, task: asyncio.Task[None]) -> None:
        await self._channel.withdrawn(self._ask_id(request_id), sentence("Claude Code took its request back."))
        await asyncio.wait({task}, timeout=_PATIENCE)
        task.cancel()

    async def _ask(self, ask: ToolPermission, plan: str, helper: str) -> None:
        try:
            line = await self._answer(ask, plan, helper)
        except asyncio.CancelledError:
            if ask.request_id not in self._withdrawn:
                await self._deliver(ask.request_id, wire.deny(ask.request_id, NO_ANSWER))
            raise
        except Exception:
            logger.exception("a request of claude could not be shown; it is denied")
            line = wire.deny(ask.request_id, HUB_FAILED)
        if ask.request_id not in self._withdrawn:
            await self._deliver(ask.request_id, line)

    async def _answer(self, ask: ToolPermission, plan: str, helper: str) -> bytes:
        ask_id = self._ask_id(ask.request_id)
        if ask.tool == QUESTION_TOOL:
            return answers_line(ask, await self._channel.ask(questions(ask, ask_id, helper)))
        diff = ""
        if ask.tool in CHANGING_TOOLS:
            diff = await asyncio.to_thread(change_of, ask.tool, ask.arguments, self._cwd)
        request = permission(ask, ask_id, self._cwd, diff=diff, plan=plan, helper=helper)
        return decision_line(ask.request_id, await self._channel.request(request))

    async def _deliver(self, request_id: str, line: bytes) -> None:
        self._decided.add(request_id)
        try:
            await self._pipe.send(line)
        except AgentGoneError:
            await self._channel.told(self._ask_id(request_id), delivered=False)
        else:
            await self._channel.told(self._ask_id(request_id), delivered=True)

    async def _serve(self, request: McpMessage) -> None:
        try:
            answer = wire.mcp_answer(request.request_id, await respond(request.message, self._channel))
        except Exception:
            logger.exception("a tool of the hub failed")
            answer = wire.refusal(request.request_id, "The hub could not do this.")
        await self._pipe.send(answer)
        if wire.text_of(request.message, "method") == "tools/list":
            self._has_tools.set()
