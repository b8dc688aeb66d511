"""Asking the person: permission requests, questions, files, and the channel they go through."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from agents.contract.ids import AskId, ToolId


class ToolKind(StrEnum):
    """What a tool call does, as far as the agent says."""

    READ = "read"
    EDIT = "edit"
    EXECUTE = "execute"
    NETWORK = "network"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class AgentOption:
    """One of the agent's own answers to a permission request; shown in the audit, never chosen beyond "once"."""

    id: str
    label: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """The agent asks before it acts. ``subject`` is the exact command, path or address, never shortened.

    ``plan`` (Markdown) is set when the request is "approve this plan and leave plan mode".
    ``time_limit`` is how many seconds the agent itself waits before it denies (Hermes: 60), None = for ever.
    ``arguments`` is the tool's input as indented JSON where ``subject`` can't show it all (MCP tools).
    ``sub_agent`` names the helper of the agent that asks, empty for the agent itself.
    """

    id: AskId
    tool: str
    kind: ToolKind
    title: str
    subject: str
    cwd: Path
    reason: str = ""
    diff: str = ""
    plan: str = ""
    arguments: str = ""
    sub_agent: str = ""
    options: tuple[AgentOption, ...] = ()
    time_limit: float | None = None
    tool_id: ToolId | None = None


class Verdict(StrEnum):
    """The only two things an agent is ever told; "allow" always means once."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a permission request. ``reason`` reaches the agent with a denial where the protocol can."""

    verdict: Verdict
    reason: str = ""

    @property
    def is_allowed(self) -> bool:
        return self.verdict is Verdict.ALLOW


class QuestionKind(StrEnum):
    """How a question is answered."""

    CHOICE = "choice"
    TEXT = "text"
    NUMBER = "number"
    CONFIRM = "confirm"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a question."""

    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``key`` is the agent's name for the answer; labels may be of any length.

    ``allows_free_text`` matters for choices only; TEXT and NUMBER are always typed.
    """

    key: str
    text: str
    header: str = ""
    kind: QuestionKind = QuestionKind.CHOICE
    choices: tuple[Choice, ...] = ()
    is_multiple: bool = False
    allows_free_text: bool = True
    is_required: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """Questions that the agent asks together and wants answered together."""

    id: AskId
    questions: tuple[Question, ...]
    title: str = ""
    sub_agent: str = ""
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The chosen labels (in the order of the options) or the typed text of one question; no values = skipped.

    CONFIRM gives "yes" or "no", LINK gives "yes" when the person opened it and went through, NUMBER gives a text that
    ``float()`` reads.
    """

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """What the person answered, one entry per question asked."""

    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """The person does not answer (or time is up); ``reason`` reaches the agent where the protocol can."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file the agent wants the person to have; the path may be relative to the session's folder."""

    path: Path
    caption: str = ""


@dataclass(frozen=True, slots=True)
class FileDelivery:
    """What really became of a file: ``detail`` is a sentence for the agent."""

    is_delivered: bool
    detail: str


class UserChannel(Protocol):
    """The human on the other side, as one session sees them.

    Cancelling a task that awaits ``request`` or ``ask`` counts as a time-out: the agent is told "deny".
    """

    async def request(self, ask: PermissionRequest) -> Decision:
        """Wait for a decision. Never raises for "no answer": time-out and shutdown are denials with a reason."""

    async def ask(self, ask: QuestionRequest) -> Answers | Declined:
        """Wait for answers."""

    async def told(self, ask_id: AskId, *, delivered: bool) -> None:
        """The decision's bytes were taken by the agent's process (drained to its pipe), or could not be."""

    async def withdrawn(self, ask_id: AskId, why: str) -> None:
        """The agent cancelled its own request; the pending ``request``/``ask`` call is ended by the channel."""

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        """Hand a file to the person; checks that the path is inside the session's folder."""
