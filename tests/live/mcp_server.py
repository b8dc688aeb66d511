"""A small MCP server for the live tests: one tool that does something, one that asks the person. Stdlib only."""

from __future__ import annotations

import json
import sys
from typing import Any

FORM = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"], "enumNames": ["Red", "Blue"]}},
    "required": ["colour"],
}
TOOLS = [
    {"name": "danger", "description": "Does something", "inputSchema": {"type": "object", "properties": {}}},
    {
        "name": "ask_colour",
        "description": "Asks for a colour",
        "annotations": {"readOnlyHint": True},
        "inputSchema": {"type": "object", "properties": {}},
    },
]


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def ask() -> str:
    """Ask for the form and give back what was answered, as JSON."""
    params = {"message": "Which colour?", "requestedSchema": FORM}
    say({"id": "ask", "method": "elicitation/create", "params": params})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "ask":
            return json.dumps(message.get("result"))
    return ""


def result_of(message: dict[str, Any]) -> dict[str, Any]:
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        info = {"name": "lab", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        said = ask() if params["name"] == "ask_colour" else "it ran"
        return {"content": [{"type": "text", "text": said}]}
    return {}


for request in sys.stdin:
    received = json.loads(request)
    if "id" in received and "method" in received:
        say({"id": received["id"], "result": result_of(received)})
