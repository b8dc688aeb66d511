"""What the app-server asks of us, and the shapes of our answers.

Of Codex' own answers only "once" (``accept``) and "no" (``decline``) are ever built here: its "for the session" and
"with amendment" were measured to grant more than they say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.codex.wire.fields import mapping, number, objects, pretty, strings, text
from agents.codex.wire.items import command_of, is_reading


@dataclass(frozen=True, slots=True)
class CommandApproval:
    """May this command run? ``network`` is set when the question is about a host it wants to reach."""

    thread: str
    turn: str
    item: str
    command: str
    cwd: str
    reason: str
    is_reading: bool
    is_input: bool
    network: str
    extra: str
    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileApproval:
    """May this patch be applied? The patch itself came with the item."""

    thread: str
    turn: str
    item: str
    reason: str
    grant_root: str


@dataclass(frozen=True, slots=True)
class PermissionsApproval:
    """May the rest of the turn do more than the sandbox lets it?"""

    thread: str
    turn: str
    item: str
    cwd: str
    reason: str
    wants_network: bool
    permissions: Mapping[str, Any]
    summary: str


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a question."""

    label: str
    description: str


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question of the tool ``request_user_input``."""

    id: str
    header: str
    text: str
    is_free: bool
    is_secret: bool
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class UserInput:
    """Questions that wait for an answer; ``limit`` in seconds when Codex goes on by itself."""

    thread: str
    turn: str
    item: str
    questions: tuple[AskedQuestion, ...]
    limit: float | None


@dataclass(frozen=True, slots=True)
class McpToolApproval:
    """May a tool of an MCP server run?"""

    thread: str
    turn: str
    server: str
    tool: str
    message: str
    arguments: str


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form; ``values`` and ``labels`` belong together. ``type`` as in JSON schema."""

    key: str
    type: str
    title: str
    description: str
    values: tuple[str, ...]
    labels: tuple[str, ...]
    is_multiple: bool
    is_required: bool


@dataclass(frozen=True, slots=True)
class Form:
    """An MCP server asks the person to fill in a form."""

    thread: str
    turn: str
    server: str
    message: str
    fields: tuple[FormField, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """An MCP server asks the person to open an address."""

    thread: str
    turn: str
    server: str
    message: str
    url: str


@dataclass(frozen=True, slots=True)
class HostCall:
    """The model calls a tool of ours."""

    thread: str
    turn: str
    call: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnknownRequest:
    """A method we can't serve; it is answered with an error, never with silence."""

    thread: str
    method: str


CodexRequest = (
    CommandApproval
    | FileApproval
    | PermissionsApproval
    | UserInput
    | McpToolApproval
    | Form
    | Link
    | HostCall
    | UnknownRequest
)
Params = Mapping[str, Any]


def _command(params: Params) -> CodexRequest:
    network = mapping(params, "networkApprovalContext")
    host = text(network, "host")
    offered = params.get("availableDecisions")
    decisions = [entry if isinstance(entry, str) else next(iter(entry), "") for entry in offered or [] if entry]
    return CommandApproval(
        thread=text(params, "threadId"),
        turn=text(params, "turnId"),
        item=text(params, "itemId"),
        command=command_of(params),
        cwd=text(params, "cwd"),
        reason=text(params, "reason"),
        is_reading=is_reading(params),
        is_input=text(params, "kind") == "writeStdin",
        network=f"{text(network, 'protocol')}://{host}" if host else "",
        extra=pretty(params.get("additionalPermissions")),
        decisions=tuple(decisions),
    )


def _file(params: Params) -> CodexRequest:
    return FileApproval(
        text(params, "threadId"),
        text(params, "turnId"),
        text(params, "itemId"),
        text(params, "reason"),
        text(params, "grantRoot"),
    )


def _permissions(params: Params) -> CodexRequest:
    wanted = mapping(params, "permissions")
    return PermissionsApproval(
        thread=text(params, "threadId"),
        turn=text(params, "turnId"),
        item=text(params, "itemId"),
        cwd=text(params, "cwd"),
        reason=text(params, "reason"),
        wants_network=mapping(wanted, "network").get("enabled") is True,
        permissions=wanted,
        summary=_summary(wanted),
    )


def _summary(wanted: Params) -> str:
    files = mapping(wanted, "fileSystem")
    lines = ["network access"] if mapping(wanted, "network").get("enabled") is True else []
    lines += [f"read {path}" for path in strings(files, "read")]
    lines += [f"write {path}" for path in strings(files, "write")]
    for entry in objects(files, "entries"):
        path = mapping(entry, "path")
        lines.append(f"{text(entry, 'access')} {text(path, 'path') or text(path, 'pattern') or pretty(dict(path))}")
    return "\n".join(lines) or pretty(dict(wanted))


def _user_input(params: Params) -> CodexRequest:
    questions = tuple(
        AskedQuestion(
            id=text(asked, "id"),
            header=text(asked, "header"),
            text=text(asked, "question"),
            is_free=asked.get("isOther") is True,
            is_secret=asked.get("isSecret") is True,
            options=tuple(Option(text(o, "label"), text(o, "description")) for o in objects(asked, "options")),
        )
        for asked in objects(params, "questions")
    )
    limit = number(params, "autoResolutionMs")
    return UserInput(
        text(params, "threadId"),
        text(params, "turnId"),
        text(params, "itemId"),
        questions,
        None if limit is None else limit / 1000,
    )


def _elicitation(params: Params) -> CodexRequest:
    thread, turn, server = text(params, "threadId"), text(params, "turnId"), text(params, "serverName")
    meta = mapping(params, "_meta")
    if text(meta, "codex_approval_kind") == "mcp_tool_call":
        arguments = pretty(meta.get("tool_params"))
        return McpToolApproval(thread, turn, server, text(meta, "tool_name"), text(params, "message"), arguments)
    mode = text(params, "mode")
    if mode == "url":
        return Link(thread, turn, server, text(params, "message"), text(params, "url"))
    if mode == "form":
        return Form(thread, turn, server, text(params, "message"), _fields(mapping(params, "requestedSchema")))
    return UnknownRequest(thread, f"mcpServer/elicitation/request {mode}")


def _fields(schema: Params) -> tuple[FormField, ...]:
    required = set(strings(schema, "required"))
    shapes = mapping(schema, "properties")
    return tuple(_field(key, mapping(shapes, key), key in required) for key in shapes)


def _field(key: str, shape: Params, required: bool) -> FormField:
    is_multiple = text(shape, "type") == "array"
    source = mapping(shape, "items") if is_multiple else shape
    titled = objects(source, "oneOf") or objects(source, "anyOf")
    values = [text(option, "const") for option in titled] or strings(source, "enum")
    labels = [text(option, "title") for option in titled] or strings(source, "enumNames")
    return FormField(
        key=key,
        type=text(shape, "type"),
        title=text(shape, "title"),
        description=text(shape, "description"),
        values=tuple(values),
        labels=tuple(labels) if len(labels) == len(values) and all(labels) else tuple(values),
        is_multiple=is_multiple,
        is_required=required,
    )


def _host_call(params: Params) -> CodexRequest:
    return HostCall(
        text(params, "threadId"),
        text(params, "turnId"),
        text(params, "callId"),
        text(params, "tool"),
        mapping(params, "arguments"),
    )


_PARSERS: dict[str, Callable[[Params], CodexRequest]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _file,
    "item/permissions/requestApproval": _permissions,
    "item/tool/requestUserInput": _user_input,
    "mcpServer/elicitation/request": _elicitation,
    "item/tool/call": _host_call,
}
REQUESTS = frozenset(_PARSERS)


def parse_request(method: str, params: Any) -> CodexRequest:
    """Any request as a value."""
    fields: Params = params if isinstance(params, dict) else {}
    parser = _PARSERS.get(method)
    return parser(fields) if parser else UnknownRequest(text(fields, "threadId"), method)


def approval(*, is_allowed: bool) -> dict[str, Any]:
    """To a command or a patch: once, or no; "no" lets the turn go on."""
    return {"decision": "accept" if is_allowed else "decline"}


def granted(permissions: Mapping[str, Any] | None) -> dict[str, Any]:
    """To a wish for permissions: for this turn, or none."""
    return {"permissions": dict(permissions or {}), "scope": "turn"}


def answers(given: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """To questions; an empty mapping is "no answer"."""
    return {"answers": {key: {"answers": list(values)} for key, values in given.items()}}


def filled(content: Mapping[str, Any] | None) -> dict[str, Any]:
    """To a form, a link or a tool of an MCP server: accepted with what was filled in, or declined."""
    if content is None:
        return {"action": "decline", "content": None}
    return {"action": "accept", "content": dict(content)}


def tool_result(said: str, *, is_success: bool) -> dict[str, Any]:
    """To a call of our own tool."""
    return {"contentItems": [{"type": "inputText", "text": said}], "success": is_success}
