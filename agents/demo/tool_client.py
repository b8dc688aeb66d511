"""The demo agent's side of MCP: starts the tool server a client gave it and calls its tools, as any agent does."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any


class ToolClient:
    """The tool servers of one session; each starts with its first use and ends with ``close``."""

    def __init__(self, servers: Sequence[Mapping[str, Any]], cwd: str) -> None:
        self._servers = [server for server in servers if server.get("command")]
        self._cwd = cwd
        self._process: asyncio.subprocess.Process | None = None
        self._ids = itertools.count(1)

    @property
    def has_tools(self) -> bool:
        return bool(self._servers)

    @property
    def name(self) -> str:
        """The server's name, as the tool's name is made of it."""
        return str(self._servers[0].get("name", "")) if self._servers else ""

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The tool's text and whether it is an error. Cancelling it tells the server that nobody waits."""
        process = await self._started()
        key = next(self._ids)
        try:
            result = await self._ask(process, key, "tools/call", {"name": tool, "arguments": arguments})
        except asyncio.CancelledError:
            self._tell(process, {"method": "notifications/cancelled", "params": {"requestId": key}})
            raise
        texts = [str(part.get("text", "")) for part in result.get("content", []) if isinstance(part, dict)]
        return "\n".join(texts), bool(result.get("isError"))

    async def close(self) -> None:
        """End the server."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        server = self._servers[0]
        given = {str(item["name"]): str(item["value"]) for item in server.get("env", [])}
        self._process = await asyncio.create_subprocess_exec(
            str(server["command"]),
            *(str(argument) for argument in server.get("args", [])),
            cwd=self._cwd,
            env={**os.environ, **given},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=16 * 1024 * 1024,
        )
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "demo", "version": "1"}}
        await self._ask(self._process, next(self._ids), "initialize", about)
        self._tell(self._process, {"method": "notifications/initialized"})
        return self._process

    async def _ask(self, process: asyncio.subprocess.Process, key: int, method: str, params: Any) -> dict[str, Any]:
        self._tell(process, {"id": key, "method": method, "params": params})
        if process.stdout is None:
            return {}
        while line := await process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == key:
                result = message.get("result")
                return result if isinstance(result, dict) else {}
        return {"content": [{"type": "text", "text": "the tool server has ended"}], "isError": True}

    @staticmethod
    def _tell(process: asyncio.subprocess.Process, message: dict[str, Any]) -> None:
        if process.stdin is not None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n")
