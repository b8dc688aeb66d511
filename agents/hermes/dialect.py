"""How Hermes 0.19.0 differs from plain ACP: nameless tools, two shapes of permission, errors as text, a wedge.

Every rule here was measured on the wire; see ``wire`` for the texts and ``shim`` for what is healed inside Hermes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agents.acp.background import BackgroundWork
from agents.acp.dialect import AcpDialect, SessionNotes, ToolView, failure_kind, failure_title
from agents.acp.known_modes import known
from agents.acp.wire import PermissionAsk, PromptResult, TextBlock, ToolUpdate, Update
from agents.acp.wire_opening import AgentInfo, Offers
from agents.contract import (
    AgentChoice,
    AgentEvent,
    AgentGoneError,
    FailureKind,
    InputConsumed,
    InputId,
    InputReturned,
    TurnFailed,
    sentence,
)
from agents.hermes.wire import (
    QUEUED,
    STEER,
    STEERED,
    is_slash_command,
    read_background,
    read_failure,
    read_result,
    read_steered,
    tool_of,
    was_taken,
    write_steer,
)
from agents.jsonrpc import Notification, RpcError
from agents.process_tree import ProcessRecord, descendants
from agents.processes import sweep

if TYPE_CHECKING:
    from agents.acp.session import AcpSession
    from agents.acp.tools import ToolCall

PLAIN_LIMIT = 55.0
"""Seconds a person has without the shim: Hermes itself denies after 60."""
STEER_LIMIT = 10.0
"""Seconds for the answer whether a text came in time; what became of the text is told apart from it."""
_SILENT_TOOLS = ("read", "write", "patch", "memory", "search", "list")
"""Tools whose success Hermes does not report (0 of 24 measured)."""


@dataclass(slots=True)
class HermesNotes(SessionNotes):
    """``spent`` are the tokens told so far: Hermes counts over the process, not over the turn."""

    spent: tuple[int, int] = (0, 0)
    steered: list[InputId] = field(default_factory=list)
    is_wait_raised: bool = False
    takes_steering: bool = False
    background: BackgroundWork = field(default_factory=BackgroundWork)
    servers: frozenset[ProcessRecord] = frozenset()
    """Processes that stood when the session opened: MCP servers, not background work."""


class HermesDialect(AcpDialect):
    """Hermes."""

    can_steer = True
    default_mode = "default"
    runs_unasked = sentence(
        "every command it does not take for dangerous, Python snippets, reading any file; it asks before about 60 kinds"
        " of dangerous commands and before edits"
    )
    modes = known(
        AgentChoice("default", sentence("Ask"), sentence("Asks before edits and dangerous commands")),
        AgentChoice(
            "accept_edits",
            sentence("Accept edits"),
            sentence("Edits files in the folder and in /tmp without asking; dangerous commands still ask"),
        ),
        AgentChoice(
            "dont_ask",
            sentence("Accept all edits"),
            sentence("Edits anywhere but in sensitive places without asking; dangerous commands still ask"),
        ),
    )

    def __init__(self, login: str) -> None:
        super().__init__("hermes", "Hermes")
        self._login = login

    @property
    def login_hint(self) -> str:
        return sentence("Run in a terminal: {command}", command=self._login)

    def means_logged_out(self, cause: str) -> bool:
        return "No LLM provider configured" in cause

    def notes(self) -> HermesNotes:
        return HermesNotes()

    # Opening

    def loads_without_replay(self, info: AgentInfo) -> bool:
        # session/resume of an unknown id silently makes a new session under an id it never tells.
        return False

    def is_lost(self, offers: Offers) -> bool:
        return not offers.modes

    def opened(self, session: AcpSession) -> None:
        notes = notes_of(session)
        notes.spent = (0, 0)
        healed = session.connection.info.meta.get("agentHub")
        notes.is_wait_raised = isinstance(healed, list) and "wait" in healed
        notes.takes_steering = isinstance(healed, list) and "steer" in healed
        notes.servers = frozenset(descendants(records_of(session)))

    def permission_limit(self, session: AcpSession) -> float | None:
        return None if notes_of(session).is_wait_raised else PLAIN_LIMIT

    def literal(self, words: str) -> str:
        return f"The person's message, word for word:\n{words}" if is_slash_command(words) else words

    # Tools

    def tool_name(self, call: ToolCall) -> str:
        return tool_of(call.title)

    def view(self, call: ToolCall) -> ToolView:
        subject = call.subject or command_of(call)
        return ToolView(tool_of(call.title), call.title, subject)

    def result(self, call: ToolCall) -> tuple[str, int | None]:
        if not call.is_over:
            return "", None  # what stands there announces the call
        found = read_result(call.output)
        return found.output, call.exit_code if found.exit_code is None else found.exit_code

    def closes_without_news(self, call: ToolCall, *, is_text: bool) -> bool:
        # Of a round of edits the permissions follow one by one after all have begun; one that was asked has its diff.
        is_past = is_text or call.kind == "read" or call.has_diff
        return is_past and tool_of(call.title).startswith(_SILENT_TOOLS)

    def call_of(self, ask: PermissionAsk, open_calls: Sequence[ToolCall]) -> str:
        wanted = command_in(ask)
        paths = {*ask.call.paths, *(getattr(block, "path", "") for block in ask.call.content or ())} - {""}
        for call in reversed(open_calls):
            if (wanted and command_of(call) == wanted) or (paths & set(call.paths)):
                return call.id
        return ask.call.id

    # The wire

    def admit(self, session: AcpSession, update: Update) -> Update | None:
        if isinstance(update, ToolUpdate) and not update.is_new and update.part.status in {"completed", "failed"}:
            self._note_background(session, update)
        return update

    def _note_background(self, session: AcpSession, update: ToolUpdate) -> None:
        texts = (block.text for block in update.part.content or () if isinstance(block, TextBlock))
        started = read_background("\n".join(texts))
        call = session.translator.call(update.part.id)
        if started is not None and call is not None:
            notes_of(session).background.begin(session, started.key, command_of(call), started.pid)

    async def steer(self, session: AcpSession, words: str, input_id: InputId) -> bool:
        notes = notes_of(session)
        if not notes.takes_steering:
            return False  # Hermes' own /steer loses a text that comes too late and never tells what became of it
        notes.steered.append(input_id)
        params = {"sessionId": session.session_id, **write_steer(input_id, words)}
        try:
            is_taken = was_taken(await session.connection.call(STEER, params, within=STEER_LIMIT))
        except AgentGoneError:
            return True  # perhaps it has it; the news of it, or the turn's end, tells
        except RpcError:
            is_taken = False
        if not is_taken and input_id in notes.steered:
            notes.steered.remove(input_id)
        return is_taken

    def notice(self, session: AcpSession, notification: Notification) -> bool:
        if notification.method != STEERED:
            return False
        notes = notes_of(session)
        for input_id in read_steered(notification.params):
            if input_id in notes.steered:
                notes.steered.remove(input_id)
                session.tell(InputConsumed(input_id))
        return True

    def turn_ended(self, session: AcpSession) -> list[AgentEvent]:
        notes = notes_of(session)
        left, notes.steered = notes.steered, []
        return [InputReturned(input_id, "The turn ended first.") for input_id in left]

    def spent(self, session: AcpSession, result: PromptResult) -> PromptResult:
        notes = notes_of(session)
        if result.input_tokens is None or result.output_tokens is None:
            return result
        before, notes.spent = notes.spent, (result.input_tokens, result.output_tokens)
        used = (result.input_tokens - before[0], result.output_tokens - before[1])
        return replace(result, input_tokens=max(0, used[0]), output_tokens=max(0, used[1]))

    def failure_in(self, answer: str, result: PromptResult) -> TurnFailed | None:
        if result.stop_reason == "refusal":
            return TurnFailed(
                FailureKind.OTHER, sentence("Hermes does not know this session any more."), sentence("Start a new one.")
            )
        if answer.startswith(QUEUED):
            return TurnFailed(
                FailureKind.OTHER,
                sentence("Hermes did not take the message."),
                sentence("It starts anew; send it again."),
            )
        found = None if result.has_usage else read_failure(answer)
        if found is not None and found.detail:
            return replace(found, kind=failure_kind(found.detail), title=failure_title(found.detail))
        return found or super().failure_in(answer, result)

    def is_wedged(self, *, is_cancelling: bool, error: RpcError | None, answer: str) -> bool:
        return (is_cancelling and error is not None) or answer.startswith(QUEUED)

    async def stop_background(self, session: AcpSession) -> None:
        """Whatever runs below Hermes now and did not at the beginning; Hermes has no word for it from outside."""
        await notes_of(session).background.stop(session)
        if session.is_working:
            return
        left = descendants(records_of(session)) - notes_of(session).servers
        await sweep(left)


def records_of(session: AcpSession) -> list[ProcessRecord]:
    record = ProcessRecord.of(session.pid) if session.pid else None
    return [record] if record else []


def command_in(ask: PermissionAsk) -> str:
    """The command a permission request is about."""
    raw = ask.call.raw_input
    command = raw.get("command") if isinstance(raw, dict) else None
    return command if isinstance(command, str) else ""


def command_of(call: ToolCall) -> str:
    """The whole command of a terminal call: its title may be cut, its content begins with "$ "."""
    if call.command:
        return call.command
    first = next((block.text for block in call.content if isinstance(block, TextBlock)), "")
    if first.startswith("$ "):
        return first[2:]
    tool, _, rest = call.title.partition(": ")
    return rest if tool == "terminal" else ""


def notes_of(session: AcpSession) -> HermesNotes:
    """What this dialect keeps of a session."""
    if not isinstance(session.notes, HermesNotes):
        raise TypeError("a session of another dialect")
    return session.notes
