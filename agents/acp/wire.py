"""The shapes of the Agent Client Protocol (version 1) as they come over the wire, read without trust.

Pure: raw JSON in, frozen values out, nothing raised. Fields that are missing or of another type become their empty
value, unknown update kinds become ``UnknownUpdate``, ``_meta`` is kept, because agents put what matters there (Qwen
Code 0.24.4: tool names, questions, usage). Nothing outside this folder sees a dict of the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]
EMPTY: Json = {}


def mapping(value: Any) -> Json:
    """A JSON object, or an empty one."""
    return value if isinstance(value, dict) else EMPTY


def text(value: Any) -> str:
    """A JSON string, or an empty one."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    """A JSON number that is whole, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def objects(value: Any) -> Iterator[Json]:
    """The objects of a JSON array; anything else in it is skipped."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text inside a message or a tool's result."""

    text: str


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """A file before and after; ``old`` is None for a file that did not exist."""

    path: str
    old: str | None
    new: str


@dataclass(frozen=True, slots=True)
class MediaBlock:
    """A picture or sound; ``size`` in bytes, as far as told."""

    media_type: str
    size: int


Block = TextBlock | DiffBlock | MediaBlock


def read_content(value: Any) -> Block | None:
    """One content block of a message. None: nothing a person could see."""
    block = mapping(value)
    kind = block.get("type")
    if kind == "text":
        return TextBlock(text(block.get("text")))
    if kind in {"image", "audio"}:
        return MediaBlock(text(block.get("mimeType")) or str(kind), len(text(block.get("data"))) * 3 // 4)
    if kind == "resource_link":
        uri = text(block.get("uri"))
        return TextBlock(f"[{text(block.get('name')) or uri}]({uri})")
    if kind == "resource":
        resource = mapping(block.get("resource"))
        return TextBlock(text(resource.get("text")) or text(resource.get("uri")))
    return None


def read_tool_content(value: Any) -> tuple[Block, ...]:
    """The content of a tool call: texts, diffs, pictures; a terminal of the client's we never offer."""
    found: list[Block] = []
    for item in objects(value):
        if item.get("type") == "diff":
            old = item.get("oldText")
            found.append(
                DiffBlock(text(item.get("path")), old if isinstance(old, str) else None, text(item.get("newText")))
            )
        elif (block := read_content(item.get("content"))) is not None:
            found.append(block)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """What one message tells of a tool call; None = this message does not say. Merged by ``tools.ToolCall``."""

    id: str
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[Block, ...] | None = None
    paths: tuple[str, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    meta: Json = field(default_factory=dict)


def read_tool_call(value: Any) -> ToolCallPart:
    """``tool_call``, ``tool_call_update`` and the ``toolCall`` of a permission request share one shape."""
    call = mapping(value)

    def given(key: str) -> str | None:
        return call[key] if isinstance(call.get(key), str) else None

    return ToolCallPart(
        id=str(call.get("toolCallId", "")),
        title=given("title"),
        kind=given("kind"),
        status=given("status"),
        content=read_tool_content(call["content"]) if isinstance(call.get("content"), list) else None,
        paths=tuple(text(place.get("path")) for place in objects(call.get("locations")) if place.get("path")),
        raw_input=call.get("rawInput"),
        raw_output=call.get("rawOutput"),
        meta=mapping(call.get("_meta")),
    )


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """A piece of the agent's answer (``thought`` false), of its thinking, or of an echoed user message."""

    role: str
    block: Block | None
    message_id: str
    meta: Json


@dataclass(frozen=True, slots=True)
class ToolUpdate:
    """News of a tool call; ``is_new`` for the message that opens it."""

    part: ToolCallPart
    is_new: bool


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One step of the agent's plan; status is pending, in_progress or completed."""

    content: str
    status: str


@dataclass(frozen=True, slots=True)
class PlanUpdate:
    """The whole plan."""

    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command the agent offers."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class CommandsUpdate:
    """The whole list of slash commands."""

    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class ModeUpdate:
    """The session's mode is another one now."""

    mode: str


@dataclass(frozen=True, slots=True)
class OptionValue:
    """One choice of a mode, model or other select."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """A select of the session, by category (mode, model, thought_level or an agent's own)."""

    id: str
    category: str
    current: str
    values: tuple[OptionValue, ...]


@dataclass(frozen=True, slots=True)
class ConfigUpdate:
    """All selects of the session."""

    options: tuple[ConfigOption, ...]


@dataclass(frozen=True, slots=True)
class InfoUpdate:
    """The session got a title."""

    title: str


@dataclass(frozen=True, slots=True)
class UsageUpdate:
    """How full the model's context is, in tokens; the cost as far as told."""

    used: int | None
    size: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    """A kind this client has no name for."""

    name: str
    raw: str


Update = (
    MessageChunk
    | ToolUpdate
    | PlanUpdate
    | CommandsUpdate
    | ModeUpdate
    | ConfigUpdate
    | InfoUpdate
    | UsageUpdate
    | UnknownUpdate
)

_ROLES = {"agent_message_chunk": "agent", "agent_thought_chunk": "thought", "user_message_chunk": "user"}


def read_update(params: Any) -> tuple[str, Update]:
    """The session id and the update of a ``session/update`` notification."""
    session_id = text(mapping(params).get("sessionId"))
    update = mapping(mapping(params).get("update"))
    kind = text(update.get("sessionUpdate"))
    if kind in _ROLES:
        block = read_content(update.get("content"))
        if block is None:
            return session_id, unknown(f"{kind} content", update)
        chunk = MessageChunk(_ROLES[kind], block, text(update.get("messageId")), mapping(update.get("_meta")))
        return session_id, chunk
    if kind in {"tool_call", "tool_call_update"}:
        return session_id, ToolUpdate(read_tool_call(update), kind == "tool_call")
    return session_id, _read_state(kind, update)


def _read_state(kind: str, update: Json) -> Update:
    reader = _STATE_READERS.get(kind)
    return reader(update) if reader else unknown(kind or "update without a kind", update)


def read_plan(update: Json) -> PlanUpdate:
    entries = objects(update.get("entries"))
    return PlanUpdate(tuple(PlanEntry(text(entry.get("content")), text(entry.get("status"))) for entry in entries))


def read_commands(update: Json) -> CommandsUpdate:
    return CommandsUpdate(tuple(read_command(item) for item in objects(update.get("availableCommands"))))


def read_usage(update: Json) -> UsageUpdate:
    cost = mapping(update.get("cost"))
    amount = cost.get("amount") if cost.get("currency") in {"USD", None} else None
    dollars = float(amount) if isinstance(amount, int | float) else None
    return UsageUpdate(number(update.get("used")), number(update.get("size")), dollars)


def unknown(name: str, raw: Any) -> UnknownUpdate:
    """Keep what we don't understand, cut to a size that may be logged."""
    return UnknownUpdate(name, json.dumps(raw, ensure_ascii=False)[:4000])


def read_command(item: Json) -> Command:
    return Command(text(item.get("name")).removeprefix("/"), text(item.get("description")))


def read_config_options(value: Any) -> tuple[ConfigOption, ...]:
    """Selects; their values may be grouped. Other types (sliders) are not offered to anybody."""
    found = []
    for option in objects(value):
        if option.get("type") != "select":
            continue
        values: list[OptionValue] = []
        for item in objects(option.get("options")):
            group = list(objects(item.get("options"))) if "options" in item else [item]
            values += [read_value(entry, "value") for entry in group]
        category = text(option.get("category")) or text(option.get("id"))
        found.append(ConfigOption(text(option.get("id")), category, text(option.get("currentValue")), tuple(values)))
    return tuple(found)


def read_value(item: Json, key: str) -> OptionValue:
    value = text(item.get(key))
    return OptionValue(value, text(item.get("name")) or value, text(item.get("description")))


_STATE_READERS: Mapping[str, Callable[[Json], Update]] = {
    "plan": read_plan,
    "available_commands_update": read_commands,
    "current_mode_update": lambda update: ModeUpdate(text(update.get("currentModeId"))),
    "config_option_update": lambda update: ConfigUpdate(read_config_options(update.get("configOptions"))),
    "session_info_update": lambda update: InfoUpdate(text(update.get("title"))),
    "usage_update": read_usage,
}


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One of the agent's answers; ``kind`` is allow_once, allow_always, reject_once, reject_always or new."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class PermissionAsk:
    """``session/request_permission``."""

    session_id: str
    call: ToolCallPart
    options: tuple[PermissionOption, ...]


def read_permission(params: Any) -> PermissionAsk:
    """The parameters of a permission request."""
    body = mapping(params)
    options = tuple(
        PermissionOption(text(item.get("optionId")), text(item.get("name")), text(item.get("kind")))
        for item in objects(body.get("options"))
    )
    return PermissionAsk(text(body.get("sessionId")), read_tool_call(body.get("toolCall")), options)


def selected(option_id: str) -> dict[str, Any]:
    """The answer "this option"."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}
"""The answer to a permission request whose turn is being cancelled, or that nobody answered."""


@dataclass(frozen=True, slots=True)
class PromptResult:
    """How a turn ended: end_turn, cancelled, max_tokens, max_turn_requests, refusal or new."""

    stop_reason: str
    input_tokens: int | None
    output_tokens: int | None
    has_usage: bool
    meta: Json


def read_prompt_result(result: Any) -> PromptResult:
    """The result of ``session/prompt``."""
    body = mapping(result)
    usage = mapping(body.get("usage"))
    return PromptResult(
        stop_reason=text(body.get("stopReason")) or "end_turn",
        input_tokens=number(usage.get("inputTokens")),
        output_tokens=number(usage.get("outputTokens")),
        has_usage=bool(usage),
        meta=mapping(body.get("_meta")),
    )
