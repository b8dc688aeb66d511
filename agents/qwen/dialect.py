"""How Qwen Code 0.24.4 differs from plain ACP: questions, steering, silent retries, turns of its own.

Every rule here was measured on the wire; see ``wire`` for the shapes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agents.acp.background import BackgroundWork
from agents.acp.dialect import AcpDialect, SessionNotes
from agents.acp.known_modes import known
from agents.acp.tools import ToolCall
from agents.acp.wire import (
    MessageChunk,
    PermissionAsk,
    PermissionOption,
    TextBlock,
    ToolUpdate,
    Update,
    mapping,
    text,
)
from agents.contract import (
    AgentChoice,
    AgentEvent,
    Answers,
    InputConsumed,
    InputId,
    InputReturned,
    Question,
    SpentSoFar,
    sentence,
)
from agents.jsonrpc import Notification, Request
from agents.qwen.repeats import RepeatFilter
from agents.qwen.wire import (
    DRAIN,
    END_TURN,
    KNOWN_NOTICES,
    PROCEED,
    START_TURN,
    drained,
    read_background,
    read_questions,
    read_spent,
    write_answers,
)

if TYPE_CHECKING:
    from agents.acp.session import AcpSession

_STARTED = re.compile(r"^Background shell started\.\s*\nid: (\S+)\s*\npid: (\d+)")


@dataclass(slots=True)
class QwenNotes(SessionNotes):
    """``steered`` waits for the agent to fetch it."""

    steered: list[tuple[InputId, str]] = field(default_factory=list)
    repeats: RepeatFilter = field(default_factory=RepeatFilter)
    background: BackgroundWork = field(default_factory=BackgroundWork)


class QwenDialect(AcpDialect):
    """Qwen Code."""

    is_process_shared = True
    ends_turn_on_denial = True
    can_steer = True
    default_mode = "default"
    runs_unasked = sentence("reading inside the folder, harmless commands such as ls and git status")
    silence_limit = 30.0
    modes_without_questions = frozenset({"yolo"})
    modes = known(
        AgentChoice("plan", sentence("Plan"), sentence("Reads and plans, changes nothing")),
        AgentChoice("default", sentence("Ask"), sentence("Asks before everything but reading and harmless commands")),
        AgentChoice("auto-edit", sentence("Accept edits"), sentence("Edits files in the folder without asking")),
        AgentChoice("auto", sentence("Auto"), sentence("A model judges: what it takes for safe runs unasked")),
        AgentChoice("yolo", sentence("No questions"), sentence("Everything runs unasked.")),
    )

    def __init__(self, login: str) -> None:
        super().__init__("qwen", "Qwen Code")
        self._login = login

    @property
    def login_hint(self) -> str:
        return sentence("Run in a terminal: {command}", command=self._login)

    def notes(self) -> QwenNotes:
        return QwenNotes()

    def literal(self, words: str) -> str:
        # With a leading blank Qwen passes the text on as it is.
        return f" {words}" if words.startswith("/") else words

    def choose(self, options: Sequence[PermissionOption], *, is_allowed: bool) -> str | None:
        # Two options may be of kind allow_once; the others switch the mode as well.
        if is_allowed and any(option.id == PROCEED and option.kind == "allow_once" for option in options):
            return PROCEED
        return super().choose(options, is_allowed=is_allowed)

    def result(self, call: ToolCall) -> tuple[str, int | None]:
        # Ended by a signal, a command has no exit code; Qwen gives 0 and says the signal in words of its own.
        raw = mapping(call.raw_output)
        if not raw.get("signal"):
            return super().result(call)
        return call.output or text(raw.get("text")), None

    def questions(self, ask: PermissionAsk) -> tuple[Question, ...]:
        return read_questions(ask)

    def answers(self, ask: PermissionAsk, answers: Answers) -> dict[str, Any]:
        return write_answers(answers)

    def plan_of(self, ask: PermissionAsk) -> str:
        if ask.call.meta.get("toolName") != "exit_plan_mode":
            return ""
        return next((block.text for block in ask.call.content or () if isinstance(block, TextBlock)), "")

    def admit(self, session: AcpSession, update: Update) -> Update | None:
        notes = notes_of(session)
        if isinstance(update, ToolUpdate):
            notes.repeats.reset()
            self._note_background_start(session, update)
            return update
        if not isinstance(update, MessageChunk):
            return update
        if spent := read_spent(update.meta):
            session.translator.add_tokens(spent.input_tokens, spent.output_tokens)
            session.tell(SpentSoFar(session.translator.usage))
        if update.meta.get("source"):
            return self._admit_background(session, update)
        return self._admit_once(session, update)

    def _admit_once(self, session: AcpSession, update: MessageChunk) -> MessageChunk | None:
        """The same text only once, see ``repeats``."""
        repeats, now = notes_of(session).repeats, session.desk.clock()
        if update.role == "thought":
            return None if repeats.is_new_try(now) else update
        if update.role != "agent" or not isinstance(update.block, TextBlock):
            return update
        words = repeats.take(update.block.text, now)
        return replace(update, block=TextBlock(words)) if words else None

    def _admit_background(self, session: AcpSession, update: MessageChunk) -> MessageChunk | None:
        about = read_background(update.meta)
        if about.source == "background_notification":
            return None  # the same words came a moment ago as background_task_completed
        if about.source == "background_task_completed":
            notes_of(session).background.end(session, about.task_id)
        # Each is a message of its own, not a piece of the text before it.
        return replace(update, message_id=f"{about.source} {about.task_id}")

    def _note_background_start(self, session: AcpSession, update: ToolUpdate) -> None:
        blocks = update.part.content or ()
        first = next((block.text for block in blocks if isinstance(block, TextBlock)), "")
        found = _STARTED.match(first)
        if update.part.status != "completed" or found is None:
            return
        call = session.translator.call(update.part.id)
        title = call.command if call else found[1]
        notes_of(session).background.begin(session, found[1], title, int(found[2]))

    async def stop_background(self, session: AcpSession) -> None:
        # Qwen has no word for it from outside.
        await notes_of(session).background.stop(session)

    async def serve(self, session: AcpSession, request: Request) -> None:
        notes = notes_of(session)
        if request.method == DRAIN:
            given, notes.steered = notes.steered, []
            await request.reply(drained([words for _, words in given]))
            for input_id, _ in given:
                session.tell(InputConsumed(input_id))
        elif request.method == START_TURN:
            # Refused while a turn of the person runs; Qwen then asks again later.
            if not session.is_working:
                session.begin_stray(is_open_ended=True)
            await request.reply({"accepted": not session.is_working})

    def notice(self, session: AcpSession, notification: Notification) -> bool:
        if notification.method == START_TURN:
            session.begin_stray(is_open_ended=True)
        elif notification.method == END_TURN:
            session.end_stray()
        else:
            return notification.method in KNOWN_NOTICES
        return True

    async def steer(self, session: AcpSession, words: str, input_id: InputId) -> bool:
        """Kept until Qwen fetches it after its next round of tools; returned when the turn ends before."""
        notes_of(session).steered.append((input_id, words))
        return True

    def turn_ended(self, session: AcpSession) -> list[AgentEvent]:
        notes = notes_of(session)
        notes.repeats.reset()
        left, notes.steered = notes.steered, []
        return [InputReturned(input_id, "The turn ended first.") for input_id, _ in left]


def notes_of(session: AcpSession) -> QwenNotes:
    """What this dialect keeps of a session."""
    if not isinstance(session.notes, QwenNotes):
        raise TypeError("a session of another dialect")
    return session.notes
