"""The hub's own tools for Claude, as an MCP server inside the control channel: no port, no process, no secret.

The program forwards JSON-RPC as ``mcp_message`` requests when the server is named in ``initialize`` (measured on
2.1.332). The tool is allow-listed at launch, so the channel checks the path, not a permission card.
"""

from __future__ import annotations

from pathlib import Path

from agents.claude.messages import Json
from agents.claude.wire import object_of, text_of
from agents.contract import OutgoingFile, UserChannel

_PROTOCOL = "2025-06-18"
_METHOD_NOT_FOUND = -32601
_TOOL = {
    "name": "send_file",
    "description": (
        "Send a file from the working folder to the user's phone. Use it when the user asks for a file or when the "
        "result of your work is a file they want to have."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Path of the file, absolute or relative to the working folder."},
            "caption": {"type": "string", "description": "One line shown below the file."},
        },
        "required": ["path"],
    },
    # Else the tool is only a name that the model has to search for first (measured).
    "_meta": {"anthropic/alwaysLoad": True},
}


async def respond(message: Json, channel: UserChannel) -> Json:
    """The JSON-RPC answer to one message of the program."""
    method = text_of(message, "method")
    if "id" not in message:
        return {"jsonrpc": "2.0", "result": {}}  # a notification; the control channel wants an answer all the same
    if method == "initialize":
        asked = text_of(object_of(message, "params"), "protocolVersion")
        info = {"name": "hub", "version": "1"}
        return _result(
            message, {"protocolVersion": asked or _PROTOCOL, "capabilities": {"tools": {}}, "serverInfo": info}
        )
    if method == "tools/list":
        return _result(message, {"tools": [_TOOL]})
    if method == "tools/call":
        return _result(message, await _call(object_of(message, "params"), channel))
    if method == "ping":
        return _result(message, {})
    error = {"code": _METHOD_NOT_FOUND, "message": f"no method {method}"}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


async def _call(params: Json, channel: UserChannel) -> Json:
    arguments = object_of(params, "arguments")
    path = text_of(arguments, "path")
    if text_of(params, "name") != "send_file" or not path:
        return _content("send_file needs a path.", is_error=True)
    delivery = await channel.send_file(OutgoingFile(Path(path), text_of(arguments, "caption")))
    return _content(delivery.detail, is_error=not delivery.is_delivered)


def _content(text: str, *, is_error: bool) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _result(message: Json, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}
