"""How one ACP agent differs from the others: a strategy object that a kind of its own replaces piece by piece.

The defaults suit any agent that follows the protocol. A dialect is shared by all sessions of its backend and keeps no
state; what belongs to one session lives in the ``SessionNotes`` it makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agents.acp.known_modes import BY_AGENT, OPENCODE, Modes
from agents.acp.wire import OptionValue, PermissionAsk, PermissionOption, PromptResult, Update, text
from agents.acp.wire_opening import AgentInfo, Offers
from agents.contract import (
    AgentChoice,
    AgentEvent,
    AgentTraits,
    Answers,
    FailureKind,
    InputId,
    Question,
    ReasonPath,
    TurnFailed,
    sentence,
)
from agents.jsonrpc import Notification, Request, RpcError

if TYPE_CHECKING:
    from agents.acp.session import AcpSession
    from agents.acp.tools import ToolCall


@dataclass(slots=True)
class SessionNotes:
    """What a dialect remembers of one session; subclasses add their own."""

    denied: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ToolView:
    """How a tool call is shown."""

    tool: str
    title: str
    subject: str


class AcpDialect:
    """The behaviour of an agent that follows the protocol and nothing else."""

    is_process_shared = False
    ends_turn_on_denial = False
    can_steer = False
    default_mode = ""
    runs_unasked: str = sentence("whatever the agent's own settings allow")
    modes: Modes = MappingProxyType({})
    """Our words for the agent's modes, see ``known_modes``."""
    modes_without_questions: frozenset[str] = frozenset()
    """Modes in which nothing is asked: no chat may choose one, only the settings file on the computer."""
    silence_limit: float | None = 60.0
    """Seconds without a byte from a working agent after which the person is told; None = never."""
    cancel_limit = 8.0
    """Seconds a cancelled turn may take to end before the session is started anew."""
    open_limit = 60.0
    """Seconds for session/new and session/load."""
    start_limit = 60.0
    """Seconds for the start of the program and ``initialize`` (Qwen cold 4.9 s, OpenCode 3.7 s)."""

    def __init__(self, kind: str = "acp", title: str = "ACP agent") -> None:
        self.kind = kind
        self.title = title

    @property
    def traits(self) -> AgentTraits:
        return AgentTraits(
            title=self.title,
            reason_path=ReasonPath.FOLLOW_UP,
            can_steer=self.can_steer,
            is_process_shared=self.is_process_shared,
            ends_turn_on_denial=self.ends_turn_on_denial,
            default_mode=self.default_mode,
            runs_unasked=self.runs_unasked,
        )

    def notes(self) -> SessionNotes:
        return SessionNotes()

    # What is said to the agent

    def opened(self, session: AcpSession) -> None:
        """The session was opened (again) in a process."""

    def permission_limit(self, session: AcpSession) -> float | None:
        """Seconds the agent itself waits for a decision; None = for ever."""
        return None

    def literal(self, words: str) -> str:
        """A person's text that must not be taken for one of the agent's slash commands.

        A leading blank is not enough: OpenCode 1.18.33 and Hermes 0.19.0 cut it off.
        """
        return f"The person's message, word for word:\n{words}" if words.lstrip().startswith("/") else words

    def server_name(self, topic_key: str) -> str:
        """The name of the hub's own tool server in this session."""
        return f"hub_{topic_key}"

    @property
    def login_hint(self) -> str:
        """What to do when the agent is not logged in."""
        return sentence("Log in once in a terminal on the computer, then send the message again.")

    def means_logged_out(self, cause: str) -> bool:
        """Whether a refusal to open a session means "no login", beyond the protocol's own code for it."""
        return False

    def is_lost(self, offers: Offers) -> bool:
        """The agent answered a load although it does not know the session (Hermes 0.19.0)."""
        return False

    def loads_without_replay(self, info: AgentInfo) -> bool:
        """Whether ``session/resume`` is there and means what it should."""
        return "resume" in info.session_abilities

    def forks_in_its_folder(self, info: AgentInfo) -> bool:
        """A fork stays in the folder of its source, and no word of the protocol removes one made in vain."""
        return info.name == OPENCODE

    # What the agent says

    def mode(self, sent: OptionValue, info: AgentInfo) -> AgentChoice:
        """A mode as it is shown: in our words where the agent and the mode are known."""
        known = self.modes or BY_AGENT.get(info.name, {})
        return known.get(sent.id) or AgentChoice(sent.id, sent.name, sent.description)

    def view(self, call: ToolCall) -> ToolView:
        tool = self.tool_name(call)
        return ToolView(tool, call.title or tool, call.subject)

    def tool_name(self, call: ToolCall) -> str:
        """The machine's name of the tool; the protocol has none, so agents put it into ``_meta`` or nowhere."""
        return text(call.meta.get("toolName")) or call.kind or "tool"

    def result(self, call: ToolCall) -> tuple[str, int | None]:
        """Output and exit code of a call."""
        return call.output, call.exit_code

    def closes_without_news(self, call: ToolCall, *, is_text: bool) -> bool:
        """The agent never tells the end of this call: it is over when text (``is_text``) or another call comes."""
        return False

    def is_own_tool(self, call: ToolCall, server: str) -> bool:
        """A call of the hub's own tools, which the person is not asked about."""
        return self.tool_name(call) in {f"mcp__{server}__send_file", f"mcp__{server}__ask_user"}

    def choose(self, options: Sequence[PermissionOption], *, is_allowed: bool) -> str | None:
        """The id of the option to answer with, never one of the agent's "always". None: answer "cancelled"."""
        wanted = "allow_once" if is_allowed else "reject_once"
        return next((option.id for option in options if option.kind == wanted), None)

    def questions(self, ask: PermissionAsk) -> tuple[Question, ...]:
        """The questions, when this permission request is really the agent asking something."""
        return ()

    def answers(self, ask: PermissionAsk, answers: Answers) -> dict[str, Any]:
        """The reply that carries the answers of ``questions``."""
        raise NotImplementedError

    def plan_of(self, ask: PermissionAsk) -> str:
        """The plan's Markdown, when the request is "leave plan mode"."""
        return ""

    def call_of(self, ask: PermissionAsk, open_calls: Sequence[ToolCall]) -> str:
        """The id under which the asked call was announced; some agents use another one for the request."""
        return ask.call.id

    def failure(self, error: RpcError) -> TurnFailed:
        """A turn's error answer in words for the person."""
        cause = error.detail or error.message
        return TurnFailed(failure_kind(cause), failure_title(cause), detail=f"{error.message} {error.detail}".strip())

    def failure_in(self, answer: str, result: PromptResult) -> TurnFailed | None:
        """A failure that came as an ordinary end of the turn (Hermes writes it as the model's text)."""
        if result.stop_reason == "refusal":
            return TurnFailed(
                FailureKind.REFUSED, sentence("The model refused to go on."), sentence("Ask in another way.")
            )
        if result.stop_reason in {"max_tokens", "max_turn_requests"}:
            limit = sentence("tokens") if result.stop_reason == "max_tokens" else sentence("steps")
            return TurnFailed(
                FailureKind.TOO_LONG,
                sentence("The agent reached its limit of {limit}.", limit=limit),
                sentence("Send “go on”."),
            )
        return None

    # Hooks on the wire

    async def serve(self, session: AcpSession, request: Request) -> None:
        """A request beyond the protocol's own. Return without an answer: the agent is told that it is unknown."""

    def notice(self, session: AcpSession, notification: Notification) -> bool:
        """A notification beyond the protocol's own; True when it was understood."""
        return False

    async def steer(self, session: AcpSession, words: str, input_id: InputId) -> bool:
        """Give a text to the running turn. False: not possible."""
        return False

    def admit(self, session: AcpSession, update: Update) -> Update | None:
        """A first look at an update: as it is, mended, or None to drop it."""
        return update

    def turn_ended(self, session: AcpSession) -> list[AgentEvent]:
        """What is to be told between a turn's last words and its end."""
        return []

    async def stop_background(self, session: AcpSession) -> None:
        """End what the session left running; the protocol has no word for it."""

    def spent(self, session: AcpSession, result: PromptResult) -> PromptResult:
        """The result with the tokens of this turn alone."""
        return result

    def is_wedged(self, *, is_cancelling: bool, error: RpcError | None, answer: str) -> bool:
        """The session will not work again in this process, judged by how a turn ended."""
        return False


def failure_kind(cause: str) -> FailureKind:
    """What kind of trouble a model's error text tells of."""
    low = cause.lower()
    for kind, marks in _MARKS:
        if any(mark in low for mark in marks):
            return kind
    return FailureKind.OTHER


_MARKS: tuple[tuple[FailureKind, tuple[str, ...]], ...] = (
    (FailureKind.LOGIN, ("401", "403", "api key", "api_key", "unauthorized", "authentication", "not logged in")),
    (FailureKind.QUOTA, ("quota", "credit", "billing", "usage limit", "402")),
    (FailureKind.TOO_LONG, ("context length", "context window", "too long", "maximum context", "413")),
    (FailureKind.OVERLOADED, ("429", "rate limit", "overloaded", "503", "529", "500", "502")),
    (
        FailureKind.NETWORK,
        ("connection", "network", "timed out", "timeout", "econn", "enotfound", "fetch failed", "stream"),
    ),
)
_TITLES = {
    FailureKind.LOGIN: sentence("The model's service did not accept the login."),
    FailureKind.QUOTA: sentence("The account's allowance is used up."),
    FailureKind.TOO_LONG: sentence("The conversation is too long for the model."),
    FailureKind.OVERLOADED: sentence("The model's service is overloaded."),
    FailureKind.NETWORK: sentence("The model's service could not be reached."),
}


def failure_title(cause: str) -> str:
    """One sentence for the person."""
    return _TITLES.get(failure_kind(cause), sentence("The agent could not finish."))
