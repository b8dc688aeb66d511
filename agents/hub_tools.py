"""The hub's own tools for agents that take an MCP server: ``send_file`` and ``ask_user``. The hub's side.

Every session gets a seat: a secret of its own and the command line of the small program (``hub_tools_program``) that
the agent starts. The program calls back over loopback TCP; one connection is one call, so a connection that closes
early means that the agent does not wait any more. The secret goes by environment, never in an argument.

Chosen over a loopback HTTP endpoint by measurement (Linux, CPython 3.11): the program answers 33 ms after
its start (median of 15) and holds 12 MB while its session lives. HTTP would save that, but Hermes 0.19.0 announces no
HTTP servers at all, so a program is needed anyway, and one way is half the ways to go wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from agents import hub_tools_program
from agents.contract import Answers, Choice, Declined, FileDelivery, OutgoingFile, Question
from agents.json_lines import read_object

logger = logging.getLogger(__name__)

MAX_CALL = 1024 * 1024
"""Bytes of one call; questions and captions are short."""
_GREETING_LIMIT = 10.0
"""Seconds from the connection to the whole call."""


class ToolHost(Protocol):
    """What the tools do for one session."""

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        """Hand a file to the person."""

    async def ask_user(self, questions: tuple[Question, ...]) -> Answers | Declined:
        """Ask the person. Cancelled when the agent does not wait any more."""


@dataclass(frozen=True, slots=True)
class ToolProgram:
    """How the agent starts the tools of one session; ``env`` holds the secret."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)


class ToolSeat:
    """The tools of one session; ``close`` makes its secret worthless."""

    def __init__(self, program: ToolProgram, tools: HubTools, key: bytes) -> None:
        self.program = program
        self._tools = tools
        self._key = key

    def close(self) -> None:
        self._tools.forget(self._key)


class HubTools:
    """The loopback endpoint; one per backend, started with the first seat."""

    def __init__(self) -> None:
        self._hosts: dict[bytes, ToolHost] = {}
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()
        self._calls: set[asyncio.Task[None]] = set()

    async def seat(self, host: ToolHost) -> ToolSeat:
        """A place at the endpoint for one session."""
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_CALL)
        address = "{}:{}".format(*self._server.sockets[0].getsockname()[:2])
        secret = secrets.token_urlsafe(32)
        key = _key(secret)
        self._hosts[key] = host
        command, *args = program_command()
        env = {hub_tools_program.ADDRESS: address, hub_tools_program.SECRET: secret}
        return ToolSeat(ToolProgram(command, tuple(args), env), self, key)

    def forget(self, key: bytes) -> None:
        """See ``ToolSeat.close``."""
        self._hosts.pop(key, None)

    async def close(self) -> None:
        """End the endpoint and every open call. Never raises."""
        self._hosts.clear()
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in list(self._calls):
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One call; asyncio runs this in a task of its own, which ``close`` cancels."""
        task = asyncio.current_task()
        if task is not None:
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)
        try:
            await self._call(reader, writer)
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            logger.info("a call of the hub's tools broke off: %s", type(error).__name__)
        except Exception:
            logger.exception("a call of the hub's tools failed")
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_GREETING_LIMIT):
            line = await reader.readuntil(b"\n")
        call = read_object(line) or {}
        host = self._hosts.get(_key(str(call.get("secret", ""))))
        if host is None:
            logger.warning("a call of the hub's tools without a valid secret was dropped")
            return
        work = asyncio.create_task(run_tool(host, str(call.get("tool")), call.get("arguments")))
        hung_up = asyncio.create_task(_until_closed(reader))
        try:
            await asyncio.wait({work, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                writer.write(json.dumps(work.result().as_wire()).encode("ascii") + b"\n")
                async with asyncio.timeout(_GREETING_LIMIT):
                    await writer.drain()
        finally:
            for task in (work, hung_up):
                task.cancel()
            await asyncio.gather(work, hung_up, return_exceptions=True)


async def _until_closed(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(4096):
            pass


def _key(secret: str) -> bytes:
    # Looked up by digest, so the time of the look-up tells nothing about the secret.
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def program_command() -> list[str]:
    """How to start the program: by path and isolated, or a frozen application re-enters itself."""
    if getattr(sys, "frozen", False):
        return [sys.executable, hub_tools_program.FLAG]
    return [sys.executable, "-I", str(Path(hub_tools_program.__file__).resolve())]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the agent is told."""

    text: str
    is_error: bool = False

    def as_wire(self) -> dict[str, Any]:
        return {"text": self.text, "is_error": self.is_error}


async def run_tool(host: ToolHost, name: str, arguments: Any) -> ToolResult:
    """Do one call for the agent; a bad call is answered with a sentence, not raised."""
    given = arguments if isinstance(arguments, dict) else {}
    if name == "send_file":
        path = given.get("path")
        if not isinstance(path, str) or not path:
            return ToolResult("send_file needs a path.", is_error=True)
        delivery = await host.send_file(OutgoingFile(Path(path), str(given.get("caption") or "")))
        return ToolResult(delivery.detail, is_error=not delivery.is_delivered)
    if name == "ask_user":
        questions = read_questions(given)
        if not questions:
            return ToolResult("ask_user needs one to four questions, each with a text.", is_error=True)
        return answers_for_agent(questions, await host.ask_user(questions))
    return ToolResult(f"There is no tool {name}.", is_error=True)


def read_questions(arguments: Mapping[str, Any]) -> tuple[Question, ...]:
    """The questions of a call; models also send a bare question or plain strings as options."""
    raw = arguments.get("questions")
    items = raw if isinstance(raw, list) else [arguments]
    found: list[Question] = []
    for item in items[:4]:
        body = {"question": item} if isinstance(item, str) else item
        words = body.get("question") if isinstance(body, dict) else None
        if not isinstance(words, str) or not words.strip():
            continue
        options = body.get("options")
        listed = options if isinstance(options, list) else []
        choices = tuple(choice for option in listed if (choice := _choice(option)) is not None)
        found.append(
            Question(
                key=str(len(found)),
                text=words,
                header=str(body.get("header") or ""),
                choices=choices,
                is_multiple=body.get("multiple") is True,
            )
        )
    return tuple(found)


def _choice(option: Any) -> Choice | None:
    if isinstance(option, str):
        return Choice(option)
    if isinstance(option, dict) and isinstance(option.get("label"), str):
        return Choice(option["label"], str(option.get("description") or ""))
    return None


def answers_for_agent(questions: tuple[Question, ...], answers: Answers | Declined) -> ToolResult:
    """What the person said, as a text for the model."""
    if isinstance(answers, Declined):
        why = f" Reason: {answers.reason}" if answers.reason else ""
        return ToolResult(f"The user did not answer.{why} Do not guess: go on without, or stop and say what you need.")
    said = {answer.key: ", ".join(answer.values) for answer in answers.answers}
    return ToolResult("\n".join(f"{one.text}\n-> {said.get(one.key) or '(no answer)'}" for one in questions))
