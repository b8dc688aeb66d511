"""Notifications of the app-server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agents.codex.wire.fields import mapping, number, objects, pretty, text
from agents.codex.wire.items import Item, parse_item


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as Codex tells it. ``code`` is its own word for it, ``http`` the status behind it."""

    message: str
    code: str = ""
    http: int | None = None
    details: str = ""


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """``root_turn`` names the root's turn when this is a helper's."""

    thread: str
    turn: str
    root_turn: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The only sure end of a turn; ``status`` completed, interrupted or failed."""

    thread: str
    turn: str
    status: str
    problem: Problem | None
    last_text: str


@dataclass(frozen=True, slots=True)
class ItemStarted:
    """An item begins."""

    thread: str
    turn: str
    item: Item


@dataclass(frozen=True, slots=True)
class ItemCompleted:
    """An item is over."""

    thread: str
    turn: str
    item: Item


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a message or of a plan."""

    thread: str
    turn: str
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the last answer of the model used."""

    thread: str
    turn: str
    input: int
    output: int
    total: int
    window: int | None


@dataclass(frozen=True, slots=True)
class LimitWindow:
    """``used`` in per cent; ``minutes`` is the window's length."""

    used: int
    minutes: int | None
    resets_at: datetime | None


@dataclass(frozen=True, slots=True)
class Limits:
    """The account's allowance, of no thread; None = not told this time, not "nothing used"."""

    primary: LimitWindow | None
    secondary: LimitWindow | None
    is_reached: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error; ``will_retry``: Codex goes on by itself."""

    thread: str
    turn: str
    problem: Problem
    will_retry: bool


@dataclass(frozen=True, slots=True)
class RequestResolved:
    """A request of the server is over, answered or not."""

    thread: str
    request_id: Any


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """The thread's settings as they are now."""

    thread: str
    model: str
    effort: str


@dataclass(frozen=True, slots=True)
class NameChanged:
    """The thread got a name."""

    thread: str
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the agent's list; ``status`` pending, inProgress, completed."""

    text: str
    status: str


@dataclass(frozen=True, slots=True)
class Steps:
    """The agent's list, whole."""

    thread: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning in words; of no thread when it concerns the whole process."""

    thread: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Known and of no use to a person in a chat."""

    thread: str
    method: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A method this version of the adapter has no name for."""

    thread: str
    method: str
    raw: str


CodexEvent = (
    TurnBegan
    | TurnEnded
    | ItemStarted
    | ItemCompleted
    | TextPiece
    | Tokens
    | Limits
    | Trouble
    | RequestResolved
    | SettingsChanged
    | NameChanged
    | Steps
    | Notice
    | Ignored
    | Unknown
)
Params = Mapping[str, Any]


def parse_problem(error: Params) -> Problem:
    """``codexErrorInfo`` is a word, or an object of one key whose value may hold the HTTP status."""
    info = error.get("codexErrorInfo")
    code, http = "", None
    if isinstance(info, str):
        code = info
    elif isinstance(info, dict) and info:
        code = next(iter(info))
        http = number(mapping(info, code), "httpStatusCode")
    return Problem(text(error, "message"), code, http, text(error, "additionalDetails"))


def _turn_began(params: Params) -> CodexEvent:
    turn = mapping(params, "turn")
    return TurnBegan(text(params, "threadId"), text(turn, "id"), text(turn, "rootTurnId"))


def _turn_ended(params: Params) -> CodexEvent:
    turn = mapping(params, "turn")
    error = turn.get("error")
    texts = [text(item, "text") for item in objects(turn, "items") if item.get("type") == "agentMessage"]
    return TurnEnded(
        thread=text(params, "threadId"),
        turn=text(turn, "id"),
        status=text(turn, "status"),
        problem=parse_problem(error) if isinstance(error, dict) else None,
        last_text=texts[-1] if texts else "",
    )


def _item_started(params: Params) -> CodexEvent:
    return ItemStarted(text(params, "threadId"), text(params, "turnId"), parse_item(mapping(params, "item")))


def _item_completed(params: Params) -> CodexEvent:
    return ItemCompleted(text(params, "threadId"), text(params, "turnId"), parse_item(mapping(params, "item")))


def _text_piece(params: Params) -> CodexEvent:
    return TextPiece(text(params, "threadId"), text(params, "turnId"), text(params, "itemId"), text(params, "delta"))


def _tokens(params: Params) -> CodexEvent:
    usage = mapping(params, "tokenUsage")
    last = mapping(usage, "last")
    return Tokens(
        thread=text(params, "threadId"),
        turn=text(params, "turnId"),
        input=number(last, "inputTokens") or 0,
        output=number(last, "outputTokens") or 0,
        total=number(last, "totalTokens") or 0,
        window=number(usage, "modelContextWindow"),
    )


def _window(limits: Params, key: str) -> LimitWindow | None:
    window = mapping(limits, key)
    used = number(window, "usedPercent")
    if used is None:
        return None
    resets = number(window, "resetsAt")
    at = datetime.fromtimestamp(resets, UTC) if resets is not None and 0 < resets < 1 << 40 else None
    return LimitWindow(used, number(window, "windowDurationMins"), at)


def parse_limits(params: Params) -> Limits:
    limits = mapping(params, "rateLimits")
    return Limits(_window(limits, "primary"), _window(limits, "secondary"), bool(limits.get("rateLimitReachedType")))


def _trouble(params: Params) -> CodexEvent:
    problem = parse_problem(mapping(params, "error"))
    return Trouble(text(params, "threadId"), text(params, "turnId"), problem, params.get("willRetry") is True)


def _resolved(params: Params) -> CodexEvent:
    return RequestResolved(text(params, "threadId"), params.get("requestId"))


def _settings(params: Params) -> CodexEvent:
    settings = mapping(params, "threadSettings")
    return SettingsChanged(text(params, "threadId"), text(settings, "model"), text(settings, "effort"))


def _name(params: Params) -> CodexEvent:
    return NameChanged(text(params, "threadId"), text(params, "threadName"))


def _steps(params: Params) -> CodexEvent:
    steps = tuple(Step(text(step, "step"), text(step, "status")) for step in objects(params, "plan"))
    return Steps(text(params, "threadId"), steps)


def _notice(kind: str) -> Callable[[Params], CodexEvent]:
    return lambda params: Notice(text(params, "threadId"), kind, text(params, "message") or text(params, "summary"))


def _mcp_startup(params: Params) -> CodexEvent:
    if text(params, "status") != "failed":
        return Ignored(text(params, "threadId"), "mcpServer/startupStatus/updated")
    said = f"MCP server {text(params, 'name')}: {pretty(params.get('error'))}"
    return Notice(text(params, "threadId"), "mcp", said)


_PARSERS: dict[str, Callable[[Params], CodexEvent]] = {
    "turn/started": _turn_began,
    "turn/completed": _turn_ended,
    "item/started": _item_started,
    "item/completed": _item_completed,
    "item/agentMessage/delta": _text_piece,
    "item/plan/delta": _text_piece,
    "thread/tokenUsage/updated": _tokens,
    "account/rateLimits/updated": parse_limits,
    "error": _trouble,
    "serverRequest/resolved": _resolved,
    "thread/settings/updated": _settings,
    "thread/name/updated": _name,
    "turn/plan/updated": _steps,
    "warning": _notice("warning"),
    "configWarning": _notice("config"),
    "deprecationNotice": _notice("deprecation"),
    "guardianWarning": _notice("guardian"),
    "mcpServer/startupStatus/updated": _mcp_startup,
}
IGNORED: Mapping[str, str] = {
    "thread/started": "told by the answer to our own call",
    "thread/status/changed": "the turn's own events say the same, and more surely",
    "thread/readState/changed": "belongs to Codex' own windows",
    "thread/archived": "only we archive, and we do not",
    "thread/unarchived": "only we archive, and we do not",
    "thread/deleted": "only we delete, and we do not",
    "thread/closed": "the next message loads the thread again",
    "thread/reverted": "only we revert, and we do not",
    "thread/goal/updated": "belongs to Codex' own windows",
    "thread/goal/cleared": "belongs to Codex' own windows",
    "thread/queue/changed": "the queue is the hub's",
    "thread/compacted": "the contextCompaction item says the same",
    "turn/diff/updated": "each change shows its own diff",
    "turn/moderationMetadata": "nothing for a person",
    "item/reasoning/summaryTextDelta": "the whole text follows with the item",
    "item/reasoning/summaryPartAdded": "the whole text follows with the item",
    "item/reasoning/textDelta": "the whole text follows with the item",
    "item/commandExecution/outputDelta": "the whole output follows with the item",
    "item/commandExecution/terminalInteraction": "the output shows what came of it",
    "item/fileChange/outputDelta": "the item shows what came of it",
    "item/fileChange/patchUpdated": "the item holds the whole patch",
    "item/mcpToolCall/progress": "the result follows with the item",
    "item/autoApprovalReview/started": "no model decides for the person here",
    "item/autoApprovalReview/completed": "no model decides for the person here",
    "hook/started": "hooks of the person's own configuration",
    "hook/completed": "hooks of the person's own configuration",
    "account/updated": "asked for when a session opens",
    "account/login/completed": "logins happen at the desk",
    "remoteControl/status/changed": "a service of Codex that is not used here",
    "skills/changed": "nothing for a person",
    "app/list/updated": "nothing for a person",
    "model/rerouted": "the answer is the same to a person",
    "model/verification": "nothing for a person",
    "model/safetyBuffering/updated": "the answer follows",
}
"""Method to the reason why a person does not see it."""
METHODS = frozenset(_PARSERS)


def parse_event(method: str, params: Any) -> CodexEvent:
    """Any notification as a value."""
    fields: Params = params if isinstance(params, dict) else {}
    parser = _PARSERS.get(method)
    if parser is not None:
        return parser(fields)
    if method in IGNORED:
        return Ignored(text(fields, "threadId"), method)
    return Unknown(text(fields, "threadId"), method, pretty(params))
