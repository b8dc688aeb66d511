"""The hub's tools as the agent starts them: a small MCP server over stdio, run as a program of its own.

Standard library only and no import of the project: it is run by path with ``python -I``, so nothing in the session's
folder can shadow a module, and it starts in a few hundredths of a second. Each tool call opens one connection to the
hub on loopback and closes it with the call; the address and the session's secret come in by the environment. It must
never print anything but protocol to stdout.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from typing import Any

ADDRESS = "AGENT_HUB_TOOLS_ADDRESS"
SECRET = "AGENT_HUB_TOOLS_SECRET"  # noqa: S105 - the variable's name
FLAG = "--hub-tools"
"""The hidden argument by which a frozen application enters here instead of its own ``main``."""
PROGRESS_EVERY = 10.0
"""Seconds between signs of life to a client that asked for them: a person may think for an hour."""

TOOLS = [
    {
        "name": "send_file",
        "description": (
            "Send a file from this computer to the user's chat. Use it when the user asks for a file, or when a result"
            " is best seen as a file (picture, document, archive, log). The file must be inside the working folder."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "Path of the file, absolute or relative to the working folder",
                },
                "caption": {"type": "string", "description": "A short text under the file"},
            },
            "required": ["path"],
        },
    },
    {
        "name": "ask_user",
        "description": (
            "Ask the user one to four questions and wait for the answers. The user reads them on a phone: keep them"
            " short and offer choices where you can. The user may always answer with a text of their own."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "questions": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 4,
                    "items": {
                        "type": "object",
                        "properties": {
                            "question": {"type": "string"},
                            "header": {"type": "string", "description": "One or two words that name the question"},
                            "multiple": {"type": "boolean", "description": "Several choices may be picked"},
                            "options": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "properties": {
                                        "label": {"type": "string"},
                                        "description": {"type": "string"},
                                    },
                                    "required": ["label"],
                                },
                            },
                        },
                        "required": ["question"],
                    },
                }
            },
            "required": ["questions"],
        },
    },
]


class Server:
    """Reads requests from stdin in the main thread; each tool call waits in a thread of its own."""

    def __init__(self, address: str, secret: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host, int(port or 0))
        self._secret = secret
        self._writing = threading.Lock()
        self._calls: dict[str, socket.socket] = {}

    def run(self) -> None:
        """Serve until stdin ends; calls still open end with the process."""
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict):
                self.take(message)

    def take(self, message: dict[str, Any]) -> None:
        """One message of the client."""
        method, key = message.get("method"), message.get("id")
        given = message.get("params")
        params: dict[str, Any] = given if isinstance(given, dict) else {}
        if method == "notifications/cancelled":
            self._cancel(params.get("requestId"))
        elif key is None or not isinstance(method, str):
            return
        elif method == "tools/call":
            threading.Thread(target=self._call, args=(key, params), daemon=True).start()
        else:
            self._reply(key, self._answer(method, params))

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method == "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "agent-hub", "version": "1"},
            }
        return {"tools/list": {"tools": TOOLS}, "ping": {}}.get(method)

    def _reply(self, key: Any, result: dict[str, Any] | None) -> None:
        error = {"code": -32601, "message": "method not found"}
        self._send({"id": key, "error": error} if result is None else {"id": key, "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n"
        with self._writing, contextlib.suppress(OSError, ValueError):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def _call(self, key: Any, params: dict[str, Any]) -> None:
        token = (params.get("_meta") or {}).get("progressToken") if isinstance(params.get("_meta"), dict) else None
        try:
            answer = self._ask_hub(key, params, token)
        except OSError:
            answer = {"text": "agent-hub does not answer; the user did not get this.", "is_error": True}
        content = [{"type": "text", "text": str(answer.get("text", ""))}]
        self._reply(key, {"content": content, "isError": bool(answer.get("is_error"))})

    def _ask_hub(self, key: Any, params: dict[str, Any], token: Any) -> dict[str, Any]:
        ask = {"secret": self._secret, "tool": params.get("name"), "arguments": params.get("arguments") or {}}
        with socket.create_connection(self._address, timeout=10) as line:
            self._calls[repr(key)] = line
            try:
                line.sendall(json.dumps(ask).encode("ascii") + b"\n")
                line.settimeout(PROGRESS_EVERY)
                data = self._wait(line, token)
            finally:
                self._calls.pop(repr(key), None)
        answer = json.loads(data) if data.endswith(b"\n") else None
        if not isinstance(answer, dict):
            return {"text": "agent-hub ended before the user answered.", "is_error": True}
        return answer

    def _wait(self, line: socket.socket, token: Any) -> bytes:
        data, signs = b"", 0
        while not data.endswith(b"\n"):
            try:
                piece = line.recv(65536)
            except TimeoutError:
                signs += 1
                if token is not None:
                    progress = {"progressToken": token, "progress": signs}
                    self._send({"method": "notifications/progress", "params": progress})
                continue
            if not piece:
                break
            data += piece
        return data

    def _cancel(self, key: Any) -> None:
        line = self._calls.get(repr(key))
        if line is not None:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


def main() -> int:
    """Run the server with what the environment says."""
    address, secret = os.environ.pop(ADDRESS, ""), os.environ.pop(SECRET, "")
    if not address or not secret:
        sys.stderr.write("This program is started by a coding agent on behalf of agent-hub; it does nothing alone.\n")
        return 2
    Server(address, secret).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
