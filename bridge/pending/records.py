"""The words of the approval desk: who asks, who decides by which way, and what became of it. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from agents.contract import AskId, PermissionRequest, QuestionRequest, Verdict
from bridge.config import Role
from bridge.inbound import Person, Place
from bridge.markdown.part import Part
from bridge.policy.classes import Assessment
from bridge.texts import tr


class AskState(StrEnum):
    """Where a request stands. All but OPEN are final as to the decision; DECIDED still waits for the agent's ear."""

    OPEN = "open"
    DECIDED = "decided"
    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    VOID = "void"


class AskKind(StrEnum):
    """What is asked; a plan is a permission with other words on its buttons."""

    PERMISSION = "permission"
    PLAN = "plan"
    QUESTION = "question"


class DecisionWay(StrEnum):
    """By which way a decision came about; kept in the audit."""

    BUTTON = "button"
    REACTION = "reaction"
    TEXT = "text"
    REPLY = "reply"
    DESKTOP = "desktop"
    RULE = "rule"
    POLICY = "policy"
    TIMEOUT = "time-out"
    LIMIT = "limit"
    AGENT = "agent"
    HUB = "hub"


SPOKEN = frozenset({DecisionWay.REPLY, DecisionWay.TEXT, DecisionWay.DESKTOP})
"""Ways to deny that carry a person's own words."""


class Scope(StrEnum):
    """How far an Allow reaches inside the hub; the agent is told "once" in any case."""

    ONCE = "once"
    SESSION = "session"


class Ruling(StrEnum):
    """What a try to decide came to."""

    DECIDED = "decided"
    NEEDS_CONFIRMATION = "needs confirmation"
    ALREADY = "already"
    LOCKED = "locked"
    FORBIDDEN = "forbidden"
    UNKNOWN_ASK = "unknown"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AskOrigin:
    """Which session asks. ``epoch`` names one life of its process; a scope never outlives it.

    ``words_follow``: its protocol can't carry a person's words with a denial; they follow as a text.
    """

    place: Place
    agent: str
    agent_title: str
    epoch: str
    cwd: Path
    words_follow: bool = False


@dataclass(frozen=True, slots=True)
class DueWords:
    """What a person said with a denial and the agent is still to be told; ``token`` names the request."""

    place: Place
    token: str
    text: str


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides. ``id`` None: the hub itself, or the person at the desk (then ``role`` is OWNER)."""

    id: int | None
    name: str
    role: Role | None
    is_anonymous: bool = False

    @classmethod
    def of(cls, person: Person, role: Role | None) -> Decider:
        """A person from the chat with the role the settings give, None for a stranger."""
        return cls(person.id, person.name, role, person.is_anonymous)

    @property
    def shown_name(self) -> str:
        """How people and the audit call them."""
        if self.name:
            return self.name
        if self.id is not None:
            return str(self.id)
        return tr("the hub") if self.role is None else tr("you, at the computer")


DESK_OWNER = Decider(None, "", Role.OWNER)
"""Whoever sits at the computer."""
HUB = Decider(None, "", None)
"""The hub by itself: rules, time-outs, shutdown."""


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """A view of one request for lists and the window; times are wall clock, seconds since the epoch."""

    id: AskId
    token: str
    origin: AskOrigin
    kind: AskKind
    ask: PermissionRequest | QuestionRequest
    title: str
    subject: str
    opened_at: float
    expires_at: float
    assessment: Assessment | None = None
    is_armed: bool = False

    @property
    def needs_second_step(self) -> bool:
        return self.assessment is not None and self.assessment.needs_second_step


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """What a try to decide came to. ``text`` is for the person; ``delivered`` None = not known yet."""

    ruling: Ruling
    text: str
    verdict: Verdict | None = None
    state: AskState = AskState.OPEN
    delivered: bool | None = None


@dataclass(frozen=True, slots=True)
class PressReply:
    """The toast of a press, at most 200 characters."""

    text: str
    is_alert: bool = False


@dataclass(frozen=True, slots=True)
class AnsweredCard:
    """The last decided card of a topic: status text goes below ``head`` by revising ``key``."""

    key: str
    head: Part
    decided_at: float = field(default=0.0)
