"""Thread items: what a turn consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.codex.wire.fields import mapping, number, objects, pretty, strings, text
from agents.contract import ToolKind

DONE = {"completed", "failed", "declined"}


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message reached the model; ``client_id`` is our own id of it."""

    id: str
    client_id: str


@dataclass(frozen=True, slots=True)
class AsyncQuestion:
    """A question inside an ordinary message: the turn goes on, the answer is ordinary text."""

    title: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """Text of the agent; ``questions`` make it a question that waits for nobody."""

    id: str
    text: str
    questions: tuple[AsyncQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanText:
    """The plan of plan mode, in place of a message."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thinks, as far as it says."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command; ``command`` is what the model wrote, without the shell around it."""

    id: str
    command: str
    cwd: str
    status: str
    is_reading: bool
    output: str
    exit_code: int | None
    process_id: str
    is_of_user: bool


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one file; for a new or deleted file ``diff`` is its plain content."""

    path: str
    kind: str
    moved_to: str
    diff: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """A patch over one or more files."""

    id: str
    status: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Any other tool. ``status`` as on the wire; items without one are over at once."""

    id: str
    tool: str
    kind: ToolKind
    title: str
    subject: str
    status: str
    output: str = ""


@dataclass(frozen=True, slots=True)
class SubAgent:
    """The link to a helper's thread; ``kind`` started, interacted, interrupted, completed."""

    id: str
    kind: str
    thread_id: str
    path: str


@dataclass(frozen=True, slots=True)
class IgnoredItem:
    """A kind that tells a person nothing."""

    id: str
    type: str


@dataclass(frozen=True, slots=True)
class UnknownItem:
    """A kind this version of the adapter has no name for."""

    id: str
    type: str
    raw: str


Item = (
    UserMessage
    | AgentMessage
    | PlanText
    | Reasoning
    | Command
    | FileChange
    | ToolCall
    | SubAgent
    | IgnoredItem
    | UnknownItem
)


def _user_message(item: Mapping[str, Any]) -> Item:
    return UserMessage(text(item, "id"), text(item, "clientId"))


def _agent_message(item: Mapping[str, Any]) -> Item:
    asked = tuple(AsyncQuestion(text(q, "title"), tuple(strings(q, "options"))) for q in objects(item, "questions"))
    return AgentMessage(text(item, "id"), text(item, "text"), asked)


def _plan(item: Mapping[str, Any]) -> Item:
    return PlanText(text(item, "id"), text(item, "text"))


def _reasoning(item: Mapping[str, Any]) -> Item:
    return Reasoning(text(item, "id"), "\n\n".join(strings(item, "summary") or strings(item, "content")))


def command_of(source: Mapping[str, Any]) -> str:
    """The command without its shell wrapper, which ``commandActions`` holds; several parts make one line."""
    inner = [text(action, "command") for action in objects(source, "commandActions")]
    whole = text(source, "command")
    if len(inner) == 1 and inner[0]:
        return inner[0]
    return whole


def is_reading(source: Mapping[str, Any]) -> bool:
    """Whether Codex itself takes every part of the command for reading, listing or searching."""
    kinds = [text(action, "type") for action in objects(source, "commandActions")]
    return bool(kinds) and all(kind in {"read", "listFiles", "search"} for kind in kinds)


def _command(item: Mapping[str, Any]) -> Item:
    return Command(
        id=text(item, "id"),
        command=command_of(item),
        cwd=text(item, "cwd"),
        status=text(item, "status"),
        is_reading=is_reading(item),
        output=text(item, "aggregatedOutput"),
        exit_code=number(item, "exitCode"),
        process_id=text(item, "processId"),
        is_of_user=text(item, "source") == "userShell",
    )


def _file_change(item: Mapping[str, Any]) -> Item:
    changes = tuple(
        Change(
            path=text(change, "path"),
            kind=text(mapping(change, "kind"), "type"),
            moved_to=text(mapping(change, "kind"), "move_path"),
            diff=text(change, "diff"),
        )
        for change in objects(item, "changes")
    )
    return FileChange(text(item, "id"), text(item, "status"), changes)


def _mcp_call(item: Mapping[str, Any]) -> Item:
    name = f"{text(item, 'server')}.{text(item, 'tool')}"
    result = mapping(item, "result")
    said = [text(part, "text") for part in objects(result, "content")]
    return ToolCall(
        id=text(item, "id"),
        tool=name,
        kind=ToolKind.OTHER,
        title=name,
        subject=pretty(item.get("arguments")),
        status=text(item, "status"),
        output="\n".join(filter(None, said)) or text(mapping(item, "error"), "message"),
    )


def _host_call(item: Mapping[str, Any]) -> Item:
    said = [text(part, "text") for part in objects(item, "contentItems")]
    return ToolCall(
        id=text(item, "id"),
        tool=text(item, "tool"),
        kind=ToolKind.OTHER,
        title=text(item, "tool"),
        subject=pretty(item.get("arguments")),
        status=text(item, "status"),
        output="\n".join(filter(None, said)),
    )


def _agents_call(item: Mapping[str, Any]) -> Item:
    tool = text(item, "tool")
    return ToolCall(
        text(item, "id"),
        f"agents.{tool}",
        ToolKind.OTHER,
        f"helpers: {tool}",
        text(item, "prompt"),
        text(item, "status"),
    )


def _sub_agent(item: Mapping[str, Any]) -> Item:
    return SubAgent(text(item, "id"), text(item, "kind"), text(item, "agentThreadId"), text(item, "agentPath"))


def _web_search(item: Mapping[str, Any]) -> Item:
    query = text(item, "query")
    return ToolCall(text(item, "id"), "web_search", ToolKind.NETWORK, f"search: {query}", query, "")


def _image_view(item: Mapping[str, Any]) -> Item:
    path = text(item, "path")
    return ToolCall(text(item, "id"), "view_image", ToolKind.READ, f"look at {path}", path, "")


def _image_generation(item: Mapping[str, Any]) -> Item:
    path = text(item, "savedPath")
    return ToolCall(
        text(item, "id"), "image_generation", ToolKind.OTHER, "make an image", path, text(item, "status"), output=path
    )


def _compaction(item: Mapping[str, Any]) -> Item:
    return ToolCall(text(item, "id"), "compact", ToolKind.OTHER, "shorten the history", "", "")


def _sleep(item: Mapping[str, Any]) -> Item:
    return ToolCall(text(item, "id"), "sleep", ToolKind.OTHER, "wait", "", "")


_PARSERS: dict[str, Callable[[Mapping[str, Any]], Item]] = {
    "userMessage": _user_message,
    "agentMessage": _agent_message,
    "plan": _plan,
    "reasoning": _reasoning,
    "commandExecution": _command,
    "fileChange": _file_change,
    "mcpToolCall": _mcp_call,
    "dynamicToolCall": _host_call,
    "collabAgentToolCall": _agents_call,
    "subAgentActivity": _sub_agent,
    "webSearch": _web_search,
    "imageView": _image_view,
    "imageGeneration": _image_generation,
    "contextCompaction": _compaction,
    "sleep": _sleep,
}
IGNORED_ITEMS: Mapping[str, str] = {
    "enteredReviewMode": "the review was asked for",
    "exitedReviewMode": "the review comes again as a message",
    "hookPrompt": "a hook's words to the model",
    "functionCallOutput": "raw output for the model; the tool's own item shows it",
}
"""Type to the reason why a person does not see it."""
ITEM_KINDS = frozenset(_PARSERS)


def parse_item(item: Mapping[str, Any]) -> Item:
    """Any item as a value."""
    kind = text(item, "type")
    parser = _PARSERS.get(kind)
    if parser is not None:
        return parser(item)
    if kind in IGNORED_ITEMS:
        return IgnoredItem(text(item, "id"), kind)
    return UnknownItem(text(item, "id"), kind, pretty(dict(item)))
