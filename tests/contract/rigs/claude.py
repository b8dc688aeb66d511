"""Claude Code for the contract suite."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from agents.claude.backend import ClaudeBackend
from agents.contract import AgentBackend, AgentLaunch
from agents.finding import Finder
from agents.login_shell import LoginShell
from tests.contract.exchange import Ids
from tests.contract.rig import Fault, Kind, Place, Spawn
from tests.models.anthropic import AnthropicWire, claude_tools
from tests.models.script import ScriptedModel
from tests.models.server import LoopbackServer
from tests.parts import require_program


def make(place: Place, url: str, fault: Fault, spawn: Spawn, ids: Ids) -> AgentBackend:
    """A backend whose program sees nothing of this computer's user."""
    env = {
        "HOME": str(place.home),
        "CLAUDE_CONFIG_DIR": str(place.home / "config"),
        "TMPDIR": str(place.home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "" if fault is Fault.NO_LOGIN else "dummy",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
    program = str(require_program("claude")) if url else sys.executable
    if fault is Fault.EXITS:
        program = str(_broken(place))
    shell = LoginShell({"PATH": os.environ.get("PATH", os.defpath)})
    return ClaudeBackend(AgentLaunch(command=program, env=env), Finder(shell), new_id=ids, spawn=spawn)


def _broken(place: Place) -> str:
    program = place.home / "broken"
    program.write_text("#!/bin/sh\necho 'no such configuration' >&2\nexit 3\n")
    program.chmod(0o755)
    return str(program)


@contextlib.contextmanager
def serve(model: ScriptedModel, place: Place) -> Iterator[str]:
    """The scripted model in the wire format of the Messages API."""
    with LoopbackServer(AnthropicWire(model, lambda call: claude_tools(call, str(place.folder)))) as server:
        yield server.url


_KEPT = {
    "system": {
        "session_id",
        "model",
        "permissionMode",
        "claude_code_version",
        "cwd",
        "tasks",
        "attempt",
        "max_retries",
        "retry_delay_ms",
        "error",
        "error_status",
        "task_id",
        "task_type",
        "description",
        "status",
    },
    "result": {
        "is_error",
        "result",
        "errors",
        "session_id",
        "terminal_reason",
        "stop_reason",
        "api_error_status",
        "usage",
        "total_cost_usd",
        "modelUsage",
        "num_turns",
    },
    "assistant": {"message", "parent_tool_use_id", "error", "aborted"},
    "user": {"message", "parent_tool_use_id", "tool_use_result", "tool_result_meta", "uuid", "client_composed"},
}


def trim(message: dict[str, Any]) -> dict[str, Any] | None:
    """Keep what the adapter reads; drop the program's own texts (prompts, lists of commands, stock refusals)."""
    kind = message.get("type")
    if kind == "stream_event":
        delta = message["event"].get("delta", {})
        return {"type": kind, "event": message["event"]} if delta.get("type") == "text_delta" else None
    if kind == "control_response":
        return _trimmed_response(message)
    if kind == "control_request":
        return _trimmed_request(message)
    kept = _KEPT.get(str(kind))
    if kept is None:
        return message
    found = {key: value for key, value in message.items() if key in kept | {"type", "subtype", "session_id"}}
    if kind == "user":
        return _trimmed_user(found)
    return None if kind == "system" and message.get("subtype") in {"informational", "thinking_tokens"} else found


def _trimmed_request(message: dict[str, Any]) -> dict[str, Any]:
    params = message["request"].get("message", {}).get("params", {})
    if "clientInfo" in params:
        params["clientInfo"] = {"name": "claude-code"}
    return message


def _trimmed_response(message: dict[str, Any]) -> dict[str, Any]:
    body = message["response"].get("response")
    if not isinstance(body, dict):
        return message
    tools = body.get("mcp_response", {}).get("result", {}).get("tools")
    if tools:  # so that other words for a tool need no new recordings
        names = {"mcp_response": {"tools": [tool["name"] for tool in tools]}}
        return {**message, "response": {**message["response"], "response": names}}
    if "commands" not in body:
        return message
    kept = {
        "commands": [{"name": "compact", "description": "Make the conversation shorter"}],
        "models": [
            {
                "value": model["value"],
                "displayName": model["displayName"],
                "supportedEffortLevels": model.get("supportedEffortLevels", []),
            }
            for model in body.get("models", [])
        ],
        **{key: body[key] for key in ("account", "claude_code_version", "current_permission_mode") if key in body},
    }
    return {**message, "response": {**message["response"], "response": kept}}


def _trimmed_user(message: dict[str, Any]) -> dict[str, Any] | None:
    content = message["message"]["content"]
    if isinstance(content, str) and "uuid" not in message:
        return None
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_result":
            block["content"] = _own_words(block.get("content"), message.get("tool_result_meta", []))
    if isinstance(message.get("tool_use_result"), dict):
        kept = {"structuredPatch", "filePath"}
        message["tool_use_result"] = {k: v for k, v in message["tool_use_result"].items() if k in kept}
    return message


def _own_words(content: Any, about: list[dict[str, Any]]) -> Any:
    """The program's own sentences are not ours to keep; what the tests look for are their own words."""
    if any(meta.get("non_execution_kind") == "user-rejected" for meta in about):
        return "(stopped)"
    if isinstance(content, str) and "in background" in content:
        return "(in the background)"
    return content


KIND = Kind(
    name="claude",
    make=make,
    serve=serve,
    trim=trim,
    unknown=b'{"type":"system","subtype":"something_of_tomorrow","value":[1,2]}',
    malformed=b'{"type":"assistant","message":{"content":[{"type":"te',
)
