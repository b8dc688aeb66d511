"""The shapes of Claude Code's stream-json protocol: lines to frozen values, requests to lines. Pure.

Unknown fields are dropped, unknown messages become ``Unknown``; nothing here raises for what the program says.
All facts measured on Claude Code 2.1.332.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Sequence
from typing import TypeGuard

from agents.claude.messages import (
    Assistant,
    Background,
    Block,
    Cancelled,
    Delta,
    HelperStarted,
    Init,
    Json,
    Lifecycle,
    McpMessage,
    Message,
    ModeNow,
    Note,
    OtherRequest,
    RateLimit,
    Response,
    Result,
    Retry,
    Silent,
    Stray,
    TextBlock,
    ThinkingBlock,
    TitleNow,
    ToolPermission,
    ToolResult,
    ToolUse,
    Unknown,
    UserTurn,
)
from agents.json_lines import read_object

_RAW_KEPT = 2000


_SILENT_SYSTEM = frozenset(
    {
        "thinking_tokens",
        "task_progress",
        "task_updated",
        "task_notification",
        "session_state_changed",
        "compact_boundary",
        "permission_denied",
        "hook_started",
        "hook_progress",
        "hook_response",
        "files_persisted",
    }
)


def parse(line: bytes) -> Message:
    """The value of one line. Terminal escapes before the message (seen from wrappers) are skipped."""
    message = _object(line)
    if message is None:
        return Stray(line[:_RAW_KEPT].decode("utf-8", "replace"))
    kind = text_of(message, "type")
    reader = _READERS.get(kind)
    found = reader(message) if reader else None
    if found is not None:
        return found
    subtype = text_of(message, "subtype")
    raw = line[:_RAW_KEPT].decode("utf-8", "replace")
    return Unknown(f"{kind}/{subtype}" if subtype else kind or "(no type)", raw)


_NOISE = re.compile(rb"(?:[\x00-\x20]|\x1b?\[[0-9;?]*[A-Za-z])*")
"""Control characters and terminal escapes, also those that lost their first byte."""


def _object(line: bytes) -> Json | None:
    noise = _NOISE.match(line)
    start = noise.end() if noise else 0
    if line[start : start + 1] != b"{":
        return None
    return read_object(line[start:] if start else line)


def is_object(value: object) -> TypeGuard[Json]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def text_of(source: Json, key: str) -> str:
    """The text under ``key``, empty for anything else."""
    value = source.get(key)
    return value if isinstance(value, str) else ""


def object_of(source: Json, key: str) -> Json:
    """The object under ``key``, empty for anything else."""
    value = source.get(key)
    return value if is_object(value) else {}


def objects_of(source: Json, key: str) -> tuple[Json, ...]:
    """The objects in the list under ``key``."""
    value = source.get(key)
    return tuple(item for item in value if is_object(item)) if isinstance(value, list) else ()


def number_of(source: Json, key: str) -> float | None:
    """The number under ``key``; true and false are none."""
    value = source.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def count_of(source: Json, key: str) -> int | None:
    """The whole number under ``key``."""
    value = number_of(source, key)
    return int(value) if value is not None and math.isfinite(value) else None


def _system(message: Json) -> Message | None:
    subtype = text_of(message, "subtype")
    reader = _SYSTEM_READERS.get(subtype)
    if reader is not None:
        return reader(message)
    return Silent() if subtype in _SILENT_SYSTEM else None


def _init(message: Json) -> Message:
    return Init(
        session_id=text_of(message, "session_id"),
        model=text_of(message, "model"),
        mode=text_of(message, "permissionMode"),
        version=text_of(message, "claude_code_version"),
        cwd=text_of(message, "cwd"),
    )


def _status(message: Json) -> Message:
    mode = text_of(message, "permissionMode")
    return ModeNow(mode) if mode else Silent()


def _retry(message: Json) -> Message:
    delay = (number_of(message, "retry_delay_ms") or 0.0) / 1000
    return Retry(count_of(message, "attempt") or 0, count_of(message, "max_retries"), delay, text_of(message, "error"))


def _background(message: Json) -> Message:
    tasks = objects_of(message, "tasks")
    return Background(tuple((text_of(task, "task_id"), text_of(task, "description")) for task in tasks))


def _task_started(message: Json) -> Message:
    if text_of(message, "task_type") != "local_agent":
        return Silent()
    return HelperStarted(
        text_of(message, "task_id"), text_of(message, "description") or text_of(message, "subagent_type")
    )


def _informational(message: Json) -> Message:
    text = text_of(message, "content")
    return Note(text) if text else Silent()


_SYSTEM_READERS: dict[str, Callable[[Json], Message]] = {
    "init": _init,
    "status": _status,
    "api_retry": _retry,
    "background_tasks_changed": _background,
    "task_started": _task_started,
    "session_title_changed": lambda message: TitleNow(text_of(message, "title")),
    "informational": _informational,
}


def _assistant(message: Json) -> Message:
    inner = object_of(message, "message")
    usage = object_of(inner, "usage")
    counts = [count_of(usage, f"{kind}input_tokens") for kind in ("", "cache_read_", "cache_creation_")]
    is_real = text_of(inner, "model") != "<synthetic>" and counts[0] is not None
    return Assistant(
        blocks=_blocks(inner, message),
        parent=text_of(message, "parent_tool_use_id"),
        error=text_of(message, "error"),
        context_tokens=sum(count or 0 for count in counts) if is_real else None,
        answer_id=text_of(inner, "id"),
        output_tokens=count_of(usage, "output_tokens") or 0,
    )


def _user(message: Json) -> Message:
    inner = object_of(message, "message")
    if not isinstance(inner.get("content"), list):
        return Silent()  # an echo of ours, or a note of the program's own
    return UserTurn(_blocks(inner, message), text_of(message, "parent_tool_use_id"))


def _blocks(inner: Json, outer: Json) -> tuple[Block, ...]:
    if isinstance(inner.get("content"), str):
        return (TextBlock(text_of(inner, "content")),)
    found = (_block(block, outer) for block in objects_of(inner, "content"))
    return tuple(block for block in found if block is not None)


def _block(block: Json, outer: Json) -> Block | None:
    kind = text_of(block, "type")
    if kind == "text":
        return TextBlock(text_of(block, "text"))
    if kind == "thinking":
        return ThinkingBlock(text_of(block, "thinking"))
    if kind == "tool_use":
        return ToolUse(text_of(block, "id"), text_of(block, "name"), object_of(block, "input"))
    return _tool_result(block, outer) if kind == "tool_result" else None


def _tool_result(block: Json, outer: Json) -> ToolResult:
    tool_id = text_of(block, "tool_use_id")
    about = next((meta for meta in objects_of(outer, "tool_result_meta") if text_of(meta, "id") == tool_id), {})
    details = object_of(outer, "tool_use_result")
    return ToolResult(
        tool_id=tool_id,
        text=_result_text(block.get("content")),
        is_error=block.get("is_error") is True,
        decision=text_of(object_of(about, "permission_decision"), "decision"),
        not_run=text_of(about, "non_execution_kind"),
        patch=objects_of(details, "structuredPatch"),
        path=text_of(details, "filePath"),
    )


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = [block for block in content if is_object(block)] if isinstance(content, list) else []
    return "\n".join(
        text_of(block, "text") if block.get("type") == "text" else f"[{text_of(block, 'type')}]" for block in blocks
    )


def _stream_event(message: Json) -> Message:
    event = object_of(message, "event")
    delta = object_of(event, "delta")
    is_text = text_of(event, "type") == "content_block_delta" and text_of(delta, "type") == "text_delta"
    return Delta(text_of(delta, "text")) if is_text and not message.get("parent_tool_use_id") else Silent()


def _result(message: Json) -> Message:
    usage = object_of(message, "usage")
    inputs = [count_of(usage, f"{kind}input_tokens") for kind in ("", "cache_read_", "cache_creation_")]
    models = [model for model in object_of(message, "modelUsage").values() if is_object(model)]
    windows = [size for model in models if (size := count_of(model, "contextWindow"))]
    errors = message.get("errors")
    return Result(
        is_error=message.get("is_error") is True,
        text=text_of(message, "result"),
        session_id=text_of(message, "session_id"),
        errors=tuple(str(error) for error in errors) if isinstance(errors, list) else (),
        terminal_reason=text_of(message, "terminal_reason"),
        stop_reason=text_of(message, "stop_reason"),
        status=count_of(message, "api_error_status"),
        input_tokens=None if inputs[0] is None else sum(count or 0 for count in inputs),
        output_tokens=count_of(usage, "output_tokens"),
        total_cost=number_of(message, "total_cost_usd"),
        context_window=max(windows, default=None),
        origin=text_of(object_of(message, "origin"), "kind"),
    )


def _control_request(message: Json) -> Message:
    request_id, request = text_of(message, "request_id"), object_of(message, "request")
    subtype = text_of(request, "subtype")
    if subtype == "can_use_tool":
        return ToolPermission(
            request_id=request_id,
            tool=text_of(request, "tool_name"),
            arguments=object_of(request, "input"),
            tool_id=text_of(request, "tool_use_id"),
            description=text_of(request, "description"),
            reason=text_of(request, "decision_reason"),
            blocked_path=text_of(request, "blocked_path"),
            agent_id=text_of(request, "agent_id"),
            suggestions=objects_of(request, "permission_suggestions"),
        )
    if subtype == "mcp_message":
        return McpMessage(request_id, text_of(request, "server_name"), object_of(request, "message"))
    return OtherRequest(request_id, subtype)


def _control_response(message: Json) -> Message:
    response = object_of(message, "response")
    error = ""
    if text_of(response, "subtype") != "success":
        error = text_of(response, "error") or "refused without a reason"
    return Response(text_of(response, "request_id"), object_of(response, "response"), error)


def _rate_limit(message: Json) -> Message:
    info = object_of(message, "rate_limit_info")
    windows = tuple(
        (name, number_of(window, "utilization") or 0.0, number_of(window, "resetsAt"))
        for name, window in object_of(info, "unifiedWindows").items()
        if is_object(window)
    )
    return RateLimit(text_of(info, "status"), text_of(info, "rateLimitType"), number_of(info, "resetsAt"), windows)


_READERS: dict[str, Callable[[Json], Message | None]] = {
    "system": _system,
    "assistant": _assistant,
    "user": _user,
    "stream_event": _stream_event,
    "result": _result,
    "control_request": _control_request,
    "control_response": _control_response,
    "control_cancel_request": lambda message: Cancelled(text_of(message, "request_id")),
    "command_lifecycle": lambda message: Lifecycle(text_of(message, "command_uuid"), text_of(message, "state")),
    "rate_limit_event": _rate_limit,
    # The id in it is not the one the session goes on under (measured on 2.1.332).
    "conversation_reset": lambda _: Silent(),
    "keep_alive": lambda _: Silent(),
    "tool_progress": lambda _: Silent(),
}


def line_of(message: Json) -> bytes:
    """A message as one line without its end. ASCII only: letters that UTF-8 can't hold survive as escapes."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def request(request_id: str, subtype: str, **fields: object) -> bytes:
    """A control request of ours."""
    return line_of({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}})


def initialize(request_id: str, server: str) -> bytes:
    """The handshake; ``server`` is the name of the hub's in-process MCP server."""
    return request(request_id, "initialize", hooks=None, sdkMcpServers=[server])


def answer(request_id: str, body: Json) -> bytes:
    """The answer to a request of the program."""
    inner = {"subtype": "success", "request_id": request_id, "response": body}
    return line_of({"type": "control_response", "response": inner})


def refusal(request_id: str, why: str) -> bytes:
    """Tell the program that its request can't be served."""
    return line_of(
        {"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": why}}
    )


def allow(request_id: str, arguments: Json | None = None) -> bytes:
    """Allow once. Without ``arguments`` the tool runs with exactly the input that was shown."""
    body: dict[str, object] = {"behavior": "allow"}
    return answer(request_id, body if arguments is None else {**body, "updatedInput": arguments})


def deny(request_id: str, message: str) -> bytes:
    """Deny; the model reads ``message`` word for word. Without one the program reports a broken answer instead."""
    return answer(request_id, {"behavior": "deny", "message": message})


def mcp_answer(request_id: str, message: Json) -> bytes:
    """What the hub's MCP server answers."""
    return answer(request_id, {"mcp_response": message})


def user_message(input_id: str, text: str, blocks: Sequence[Json] = (), *, is_literal: bool = False) -> bytes:
    """A prompt. ``is_literal`` switches slash commands and ``@path`` reading off (measured)."""
    content = [*blocks, {"type": "text", "text": text}] if blocks else text
    message: dict[str, object] = {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
        "session_id": "",
        "uuid": input_id,
    }
    if is_literal:
        message["client_composed"] = True
    return line_of(message)


def image_block(data: bytes, media_type: str) -> Json:
    """A picture inside a prompt."""
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": encoded}}


def pdf_block(data: bytes, title: str) -> Json:
    """A PDF document inside a prompt."""
    encoded = base64.b64encode(data).decode("ascii")
    source = {"type": "base64", "media_type": "application/pdf", "data": encoded}
    return {"type": "document", "source": source, "title": title}
