"""The scripted model in the Anthropic Messages wire format, for Claude Code (``ANTHROPIC_BASE_URL``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.models.script import (
    Answer,
    Ask,
    Call,
    Edit,
    ProposePlan,
    Read,
    Role,
    Run,
    Said,
    Say,
    SendFile,
    Think,
    Write,
)
from tests.models.server import Body, Reply, pause
from tests.models.wire import ScriptedWire, spoken

_ROLES = {"user": Role.USER, "assistant": Role.MODEL, "system": Role.SYSTEM}


class AnthropicWire(ScriptedWire):
    """``POST /v1/messages`` and ``/v1/messages/count_tokens``."""

    PATH = "/v1/messages"

    def post(self, path: str, headers: Mapping[str, str], body: Body, reply: Reply) -> None:
        if path.endswith("/count_tokens"):
            reply.whole(200, {"input_tokens": len(json.dumps(body)) // 4})
        else:
            super().post(path, headers, body, reply)

    def conversation(self, body: Body) -> list[Said]:
        return conversation(body)

    def error(self, kind: str, message: str) -> dict[str, object]:
        return {"type": "error", "error": {"type": kind, "message": message}}

    def whole(self, body: Body, answer: Answer, reply: Reply) -> None:
        message = self._message(body)
        message["content"] = [{"type": "text", "text": part.text} for part in answer if isinstance(part, Say)]
        message["stop_reason"] = "end_turn"
        reply.whole(200, message)

    def stream(self, body: Body, answer: Answer, reply: Reply) -> None:
        reply.begin_stream()
        _event(reply, "message_start", message=self._message(body))
        index, has_calls = 0, False
        for part in spoken(answer, reply):
            if isinstance(part, Say):
                self._text(index, part, reply)
                index += 1
            elif isinstance(part, Think):
                self._thinking(index, part, reply)
                index += 1
            else:
                self._call(index, part, reply)
                index, has_calls = index + 1, True
        delta = {"stop_reason": "tool_use" if has_calls else "end_turn", "stop_sequence": None}
        _event(reply, "message_delta", delta=delta, usage={"output_tokens": 8})
        _event(reply, "message_stop")
        reply.end_stream()

    def _text(self, index: int, part: Say, reply: Reply) -> None:
        _event(reply, "content_block_start", index=index, content_block={"type": "text", "text": ""})
        for piece in part.pieces:
            _event(reply, "content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
            pause(part.delay, reply)
        _event(reply, "content_block_stop", index=index)

    def _thinking(self, index: int, part: Think, reply: Reply) -> None:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        _event(reply, "content_block_start", index=index, content_block=block)
        _event(reply, "content_block_delta", index=index, delta={"type": "thinking_delta", "thinking": part.text})
        _event(reply, "content_block_delta", index=index, delta={"type": "signature_delta", "signature": "c2ln"})
        _event(reply, "content_block_stop", index=index)

    def _call(self, index: int, part: Call, reply: Reply) -> None:
        name, arguments = self._tools(part)
        block = {"type": "tool_use", "id": f"toolu_{next(self._ids):06d}", "name": name, "input": {}}
        _event(reply, "content_block_start", index=index, content_block=block)
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        _event(reply, "content_block_delta", index=index, delta=delta)
        _event(reply, "content_block_stop", index=index)

    def _message(self, body: Body) -> dict[str, Any]:
        usage = {
            "input_tokens": 1000,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 1,
        }
        return {
            "id": f"msg_{next(self._ids):06d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }


def conversation(body: Body) -> list[Said]:
    """The request's messages as neutral entries."""
    found = []
    for message in body.get("messages", []):
        role = _ROLES.get(message.get("role"), Role.SYSTEM)
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        results = [_text_of(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
        found += [Said(Role.TOOL, text) for text in results]
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        if role is Role.MODEL:
            found.append(Said(role, "\n".join(texts)))
        else:
            found += [Said(Role.SYSTEM if _is_note(text) else role, text) for text in texts]
    return found


def _is_note(text: str) -> bool:
    return text.lstrip().startswith("<system-reminder>")


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block.get("text", "") for block in blocks if isinstance(block, dict))


def _event(reply: Reply, kind: str, **fields: object) -> None:
    reply.event({"type": kind, **fields}, kind)


def claude_tools(call: Call, folder: str) -> tuple[str, Mapping[str, object]]:
    """Claude Code's own names (measured on 2.1.332); its file tools want absolute paths in ``folder``."""
    found: tuple[str, Mapping[str, object]]
    match call:
        case Run(command, in_background):
            extra = {"run_in_background": True} if in_background else {}
            found = "Bash", {"command": command, "description": "Scripted command", **extra}
        case Read(path):
            found = "Read", {"file_path": f"{folder}/{path}"}
        case Write(path, content):
            found = "Write", {"file_path": f"{folder}/{path}", "content": content}
        case Edit(path, old, new):
            found = "Edit", {"file_path": f"{folder}/{path}", "old_string": old, "new_string": new}
        case Ask(question, choices, is_multiple):
            options = [{"label": choice, "description": f"Take {choice}"} for choice in choices]
            asked = {"question": question, "header": "Choice", "multiSelect": is_multiple, "options": options}
            found = "AskUserQuestion", {"questions": [asked]}
        case SendFile(path, caption):
            found = "mcp__hub__send_file", {"path": path, "caption": caption}
        case ProposePlan(plan):
            found = "ExitPlanMode", {"plan": plan}
    return found
