"""What Claude Code says, as frozen values; ``wire`` makes them from lines. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]
"""An object of the protocol that is passed on as it came: a tool's input, a JSON-RPC message."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A finished block of text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """A finished block of thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model calls a tool. ``arguments`` is the tool's input as it came."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave. ``decision`` and ``not_run`` come from ``tool_result_meta``, ``patch`` from an edit."""

    tool_id: str
    text: str
    is_error: bool
    decision: str = ""
    not_run: str = ""
    patch: tuple[Json, ...] = ()
    path: str = ""


Block = TextBlock | ThinkingBlock | ToolUse | ToolResult


@dataclass(frozen=True, slots=True)
class Init:
    """``system/init``: repeated at the beginning of every turn."""

    session_id: str
    model: str
    mode: str
    version: str
    cwd: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """One finished block of the model. ``parent`` is the tool call of a sub-agent. ``error``: the text is an error."""

    blocks: tuple[Block, ...]
    parent: str = ""
    error: str = ""
    context_tokens: int | None = None
    answer_id: str = ""
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user message the program shows: tool results, echoes and notes of its own."""

    blocks: tuple[Block, ...]
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of text of the main model while it writes."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a turn. ``is_error`` decides, not ``subtype``; ``total_cost`` counts from the process's start."""

    is_error: bool
    text: str
    session_id: str = ""
    errors: tuple[str, ...] = ()
    terminal_reason: str = ""
    stop_reason: str = ""
    status: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_cost: float | None = None
    context_window: int | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """What became of a message of ours: queued, started, completed, cancelled."""

    input_id: str
    state: str


@dataclass(frozen=True, slots=True)
class ToolPermission:
    """``can_use_tool``: the program waits, for ever if need be, for an answer."""

    request_id: str
    tool: str
    arguments: Json
    tool_id: str = ""
    description: str = ""
    reason: str = ""
    blocked_path: str = ""
    agent_id: str = ""
    suggestions: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class McpMessage:
    """A JSON-RPC message to the hub's own in-process MCP server."""

    request_id: str
    server: str
    message: Json


@dataclass(frozen=True, slots=True)
class OtherRequest:
    """A request of the program that this adapter does not serve; it must be refused, never left open."""

    request_id: str
    subtype: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The program takes back a request of its own."""

    request_id: str


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request of ours."""

    request_id: str
    body: Json
    error: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """``system/api_retry``."""

    attempt: int
    of: int | None
    delay: float
    error: str


@dataclass(frozen=True, slots=True)
class RateLimit:
    """``rate_limit_event``; stamps are seconds since the epoch, shares 0 to 1. Only with a subscription."""

    status: str
    kind: str
    resets_at: float | None
    windows: tuple[tuple[str, float, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Background:
    """The whole set of what runs in the background."""

    tasks: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HelperStarted:
    """A sub-agent began to work; its permission requests carry its id."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ModeNow:
    """The permission mode changed."""

    mode: str


@dataclass(frozen=True, slots=True)
class TitleNow:
    """The session has another title."""

    title: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of the program's own, no answer of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Silent:
    """Known, and nothing a person needs to hear of."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A message this version of the adapter has no name for."""

    name: str
    raw: str = field(repr=False, default="")


@dataclass(frozen=True, slots=True)
class Stray:
    """Text on stdout that is no message."""

    text: str = field(repr=False)


Message = (
    Init
    | Assistant
    | UserTurn
    | Delta
    | Result
    | Lifecycle
    | ToolPermission
    | McpMessage
    | OtherRequest
    | Cancelled
    | Response
    | Retry
    | RateLimit
    | Background
    | HelperStarted
    | ModeNow
    | TitleNow
    | Note
    | Silent
    | Unknown
    | Stray
)
