"""The scripted model in the OpenAI chat-completions wire format, for Qwen Code, Hermes and OpenCode."""

from __future__ import annotations

import json
import re
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
from tests.models.server import Body, Reply, now, pause
from tests.models.wire import ScriptedWire, spoken

_ROLES = {"user": Role.USER, "assistant": Role.MODEL, "tool": Role.TOOL}
_SERVER_NAME = re.compile(r"hub_[a-z0-9]+(?=_{1,2}(?:send_file|ask_user))")
DEFERRED, SEARCH = "tool_call", "tool_search"
"""How Qwen Code calls a tool of a server, and how it finds its name first."""
SERVER = "hub_topic1"
"""The hub's tool server in the session of the suite."""


class ChatWire(ScriptedWire):
    """``POST /v1/chat/completions``."""

    PATH = "/chat/completions"

    def conversation(self, body: Body) -> list[Said]:
        return conversation(body)

    def error(self, kind: str, message: str) -> dict[str, object]:
        return {"error": {"message": message, "type": kind, "code": kind}}

    def whole(self, body: Body, answer: Answer, reply: Reply) -> None:
        text = "".join(part.text for part in answer if isinstance(part, Say))
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        reply.whole(200, {**self._head(body), "object": "chat.completion", "choices": [choice], "usage": _USAGE})

    def stream(self, body: Body, answer: Answer, reply: Reply) -> None:
        head = {**self._head(body), "object": "chat.completion.chunk"}

        def send(delta: dict[str, Any], finish: str | None = None) -> None:
            reply.event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        reply.begin_stream()
        send({"role": "assistant", "content": ""})
        calls = 0
        for part in spoken(answer, reply):
            if isinstance(part, Say):
                for piece in joined(part.pieces):
                    send({"content": piece})
                    pause(part.delay, reply)
            elif isinstance(part, Think):
                send({"reasoning_content": part.text})
            else:
                send({"tool_calls": [self._call(calls, part, body)]})
                calls += 1
        send({}, "tool_calls" if calls else "stop")
        reply.event({**head, "choices": [], "usage": _USAGE})
        reply.event("[DONE]")
        reply.end_stream()

    def _call(self, index: int, part: Call, body: Body) -> dict[str, Any]:
        name, arguments = self._tools(part)
        if name == DEFERRED and not _SERVER_NAME.search(json.dumps(body)):
            name, arguments = SEARCH, {"query": "send_file"}  # as a model does: first look for the tool's name
        server = server_in(body)
        function = {"name": name.replace(SERVER, server), "arguments": json.dumps(arguments).replace(SERVER, server)}
        return {"index": index, "id": f"call_{next(self._ids):06d}", "type": "function", "function": function}

    def _head(self, body: Body) -> dict[str, Any]:
        model = body.get("model") or "scripted"
        return {"id": f"chatcmpl-{next(self._ids):06d}", "created": now(), "model": model}


def server_in(body: Body) -> str:
    """The hub's tool server as this session's request names it; every topic of a hub has one of its own."""
    found = _SERVER_NAME.search(json.dumps(body))
    return found.group(0) if found else SERVER


def joined(pieces: list[str]) -> list[str]:
    """One piece instead of large equal ones, which Qwen Code 0.24.4 takes for a text told twice."""
    if len(pieces) < 2 or pieces[0] != pieces[1] or len(pieces[0]) < 1000:
        return pieces
    return ["".join(pieces)]


_USAGE = {"prompt_tokens": 1000, "completion_tokens": 8, "total_tokens": 1008}


def conversation(body: Body) -> list[Said]:
    """The request's messages as neutral entries; an agent's own notes in a user message count as the system's."""
    found = []
    for message in body.get("messages", []):
        role = _ROLES.get(message.get("role"), Role.SYSTEM)
        content = message.get("content")
        if [call["function"]["name"] for call in message.get("tool_calls") or []] == [SEARCH]:
            continue  # looking for a tool's name is no answer of the script
        texts = [content] if isinstance(content, str) else [str(part.get("text", "")) for part in content or []]
        if role is Role.USER:
            found += [Said(Role.SYSTEM if _is_note(text) else role, text) for text in texts]
        else:
            found.append(Said(role, "\n".join(texts)))
    return found


def _is_note(text: str) -> bool:
    return text.lstrip().startswith("<system-reminder>") and "play:" not in text


def _asked(call: Ask, key: str) -> dict[str, object]:
    options = [{"label": choice, "description": f"Take {choice}"} for choice in call.choices]
    return {"questions": [{"question": call.question, "header": "Choice", "options": options, key: call.is_multiple}]}


def qwen_tools(call: Call, folder: str) -> tuple[str, Mapping[str, object]]:
    """Qwen Code's own names (measured on 0.24.4); tools of an MCP server are called through ``tool_call``."""
    found: tuple[str, Mapping[str, object]]
    match call:
        case Run(command, in_background):
            # A bare sleep in the foreground is refused by Qwen itself.
            words = f"true && {command}" if command.startswith("sleep") and not in_background else command
            found = "run_shell_command", {"command": words, "is_background": in_background}
        case Read(path):
            found = "read_file", {"file_path": f"{folder}/{path}"}
        case Write(path, content):
            found = "write_file", {"file_path": f"{folder}/{path}", "content": content}
        case Edit(path, old, new):
            found = "edit", {"file_path": f"{folder}/{path}", "old_string": old, "new_string": new}
        case Ask():
            found = "ask_user_question", _asked(call, "multiSelect")
        case SendFile(path, caption):
            arguments = {"path": path, "caption": caption}
            found = "tool_call", {"name": f"mcp__{SERVER}__send_file", "arguments": arguments}
        case ProposePlan(plan):
            found = "exit_plan_mode", {"plan": plan}
    return found


def hermes_tools(call: Call, folder: str, *, is_dangerous: bool = True) -> tuple[str, Mapping[str, object]]:
    """Hermes' own names (measured on 0.19.0). It asks for dangerous commands only, so every command is made one,
    unless a test is about just that.
    """
    found: tuple[str, Mapping[str, object]]
    match call:
        case Run(command, in_background):
            words = f"rm -rf ./none && {command}" if is_dangerous and not in_background else command
            found = "terminal", {"command": words, **({"background": True} if in_background else {})}
        case Read(path):
            found = "read_file", {"path": f"{folder}/{path}"}
        case Write(path, content):
            found = "write_file", {"path": f"{folder}/{path}", "content": content}
        case Edit(path, old, new):
            change = {"old_string": old, "new_string": new}
            found = "patch", {"mode": "replace", "path": f"{folder}/{path}", **change}
        case Ask():
            found = f"mcp__{SERVER}__ask_user", _asked(call, "multiple")
        case SendFile(path, caption):
            found = f"mcp__{SERVER}__send_file", {"path": path, "caption": caption}
        case ProposePlan(plan):
            found = "todo", {"todos": [{"id": "1", "content": plan, "status": "pending"}]}
    return found


def opencode_tools(call: Call, folder: str) -> tuple[str, Mapping[str, object]]:
    """OpenCode's own names (measured on 1.18.33)."""
    found: tuple[str, Mapping[str, object]]
    match call:
        case Run(command, in_background):
            words = f"{command} >/dev/null 2>&1 & echo started" if in_background else command
            found = "bash", {"command": words, "description": "Scripted command"}
        case Read(path):
            found = "read", {"filePath": f"{folder}/{path}"}
        case Write(path, content):
            found = "write", {"filePath": f"{folder}/{path}", "content": content}
        case Edit(path, old, new):
            found = "edit", {"filePath": f"{folder}/{path}", "oldString": old, "newString": new}
        case Ask():
            found = f"{SERVER}_ask_user", _asked(call, "multiple")
        case SendFile(path, caption):
            found = f"{SERVER}_send_file", {"path": path, "caption": caption}
        case ProposePlan(plan):
            found = "todowrite", {"todos": [{"id": "1", "content": plan, "status": "pending", "priority": "high"}]}
    return found
