"""The scripted model in the OpenAI Responses wire format, for Codex (as a model provider of its own)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
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

FREEFORM = {"apply_patch", "exec"}
"""Tools that take a text instead of JSON (Codex 0.171.0)."""
MODEL = "gpt-5.5"
"""Of Codex' own catalogue, with the classic tools; an unknown name gets no ``apply_patch``."""
_NOTES = ("<environment_context", "<user_instructions", "# AGENTS.md", "<turn_aborted", "<skill", "<permissions")


@dataclass(frozen=True, slots=True)
class Native:
    """A call of a tool that only Codex has, by its own name; ``arguments`` as text for a freeform one."""

    name: str
    arguments: Mapping[str, object] | str
    namespace: str = ""


class ResponsesWire(ScriptedWire):
    """``POST /v1/responses``; Codex asks for nothing beside the conversation, and always for a stream."""

    PATH = "/responses"

    def is_auxiliary(self, body: Body) -> bool:
        return False

    def conversation(self, body: Body) -> list[Said]:
        return conversation(body)

    def error(self, kind: str, message: str) -> dict[str, object]:
        return {"error": {"message": message, "type": kind, "code": kind}}

    def whole(self, body: Body, answer: Answer, reply: Reply) -> None:
        self.stream(body, answer, reply)

    def stream(self, body: Body, answer: Answer, reply: Reply) -> None:
        reply.begin_stream()
        response = {"id": f"resp_{next(self._ids):06d}", "status": "in_progress", "output": []}
        _event(reply, "response.created", response=response)
        output: list[dict[str, Any]] = []
        for part in spoken(answer, reply):
            index = len(output)
            if isinstance(part, Say):
                output.append(self._text(index, part, reply))
            elif isinstance(part, ProposePlan):
                plan = Say(f"<proposed_plan>\n{part.plan}\n</proposed_plan>")
                output.append(self._text(index, plan, reply))
            elif isinstance(part, Think):
                output.append(self._thinking(index, part, reply))
            else:
                output.append(self._call(index, part, reply))
        usage = {
            "input_tokens": 1000,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 8,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 1008,
        }
        _event(
            reply, "response.completed", response={**response, "status": "completed", "output": output, "usage": usage}
        )
        reply.end_stream()

    def _text(self, index: int, part: Say, reply: Reply) -> dict[str, Any]:
        item = {"type": "message", "id": self._id("msg"), "role": "assistant", "status": "in_progress", "content": []}
        _event(reply, "response.output_item.added", output_index=index, item=item)
        for piece in part.pieces:
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            _event(reply, "response.output_text.delta", **place, delta=piece)
            pause(part.delay, reply)
        content = [{"type": "output_text", "text": part.text, "annotations": []}]
        return self._done(index, {**item, "status": "completed", "content": content}, reply)

    def _thinking(self, index: int, part: Think, reply: Reply) -> dict[str, Any]:
        item = {"type": "reasoning", "id": self._id("rs"), "summary": []}
        _event(reply, "response.output_item.added", output_index=index, item=item)
        place = {"item_id": item["id"], "output_index": index, "summary_index": 0}
        _event(reply, "response.reasoning_summary_part.added", **place, part={"type": "summary_text", "text": ""})
        _event(reply, "response.reasoning_summary_text.delta", **place, delta=part.text)
        summary = [{"type": "summary_text", "text": part.text}]
        return self._done(index, {**item, "summary": summary, "encrypted_content": "c2NyaXB0ZWQ="}, reply)

    def _call(self, index: int, part: Call | Native, reply: Reply) -> dict[str, Any]:
        native = part if isinstance(part, Native) else Native(*self._tools(part))
        name, arguments = native.name, native.arguments
        item: dict[str, Any] = {"status": "completed", "name": name, "call_id": self._id("call")}
        if native.namespace:
            item["namespace"] = native.namespace
        if name in FREEFORM:
            text = arguments if isinstance(arguments, str) else arguments["input"]
            item |= {"type": "custom_tool_call", "id": self._id("ctc"), "input": text}
        else:
            item |= {"type": "function_call", "id": self._id("fc"), "arguments": json.dumps(arguments)}
        return self._done(index, item, reply)

    def _done(self, index: int, item: dict[str, Any], reply: Reply) -> dict[str, Any]:
        _event(reply, "response.output_item.done", output_index=index, item=item)
        return item

    def _id(self, kind: str) -> str:
        return f"{kind}_{next(self._ids):06d}"


def conversation(body: Body) -> list[Said]:
    """The request's input as neutral entries; what the model said in a row is one."""
    found: list[Said] = []
    for item in body.get("input", []):
        said = _entry(item)
        if said is None:
            continue
        if said.role is Role.MODEL and found and found[-1].role is Role.MODEL:
            said = Said(Role.MODEL, "\n".join(filter(None, (found.pop().text, said.text))))
        found.append(said)
    return found


def _entry(item: dict[str, Any]) -> Said | None:
    kind = str(item.get("type", ""))
    if kind.endswith("_output"):
        return Said(Role.TOOL, _text_of(item.get("output")))
    if kind.endswith("_call") or kind == "reasoning":
        return Said(Role.MODEL, "")
    text = _text_of(item.get("content"))
    if kind == "agent_message":  # what one agent of a team tells another
        return Said(Role.USER, text)
    if kind != "message":
        return None
    if item.get("role") == "assistant":
        return Said(Role.MODEL, text)
    is_note = item.get("role") != "user" or text.lstrip().startswith(_NOTES)
    return Said(Role.SYSTEM if is_note else Role.USER, text)


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") or block.get("encrypted_content", "") for block in blocks if isinstance(block, dict)]
    return "\n".join(texts)


def _event(reply: Reply, kind: str, **fields: object) -> None:
    reply.event({"type": kind, **fields}, kind)


def codex_tools(call: Call) -> tuple[str, Mapping[str, object]]:
    """The classic tools of Codex (measured on 0.171.0): it reads by commands and writes by patches."""
    found: tuple[str, Mapping[str, object]]
    match call:
        case Run(command, in_background):
            found = "exec_command", {"cmd": command, **({"yield_time_ms": 300} if in_background else {})}
        case Read(path):
            found = "exec_command", {"cmd": f"cat {path}"}
        case Write(path, content):
            found = "apply_patch", {"input": _patch("Add File", path, *(f"+{line}" for line in content.splitlines()))}
        case Edit(path, old, new):
            found = "apply_patch", {"input": _patch("Update File", path, "@@", f"-{old}", f"+{new}")}
        case Ask(question, choices, _):
            options = [{"label": choice, "description": f"Take {choice}"} for choice in choices]
            asked = {"id": "choice", "header": "Choice", "question": question, "options": options}
            found = "request_user_input", {"questions": [asked]}
        case SendFile(path, caption):
            found = "send_file", {"path": path, "caption": caption}
        case ProposePlan(plan):
            found = "update_plan", {"plan": [{"step": plan, "status": "pending"}]}
    return found


def _patch(what: str, path: str, *lines: str) -> str:
    return "\n".join(["*** Begin Patch", f"*** {what}: {path}", *lines, "*** End Patch", ""])


def codex_home(folder: Path, url: str, *, model: str = MODEL, extra: str = "") -> dict[str, str]:
    """A CODEX_HOME of its own that knows only the scripted model; the environment that leads Codex there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(
        f"""model = "{model}"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 2
stream_max_retries = 2
[analytics]
enabled = false
{extra}
""",
        encoding="utf-8",
    )
    return {"CODEX_HOME": str(folder), "SCRIPTED_KEY": "loopback"}
