"""The open requests of this run of the hub, findable by token, by the agent's id and by topic. Memory only.

A ``LiveAsk`` is the one mutable thing of the desk. Its state leaves OPEN by ``claim`` and never comes back: whoever
claims first decides, in the event loop's thread and without an ``await`` between looking and claiming.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from agents.contract import Answers, AskId, Decision, Declined, PermissionRequest, QuestionRequest, ToolKind, Verdict
from bridge.cards import shown_subject
from bridge.inbound import Place
from bridge.pending.questionnaire import Questionnaire
from bridge.pending.records import SPOKEN, AskKind, AskOrigin, AskState, Decider, DecisionWay, DueWords, OpenAsk
from bridge.policy.classes import Assessment

Reply = Decision | Answers | Declined


@dataclass(slots=True, eq=False)
class LiveAsk:
    """One request from its card to the agent's ear. Wall clock in seconds; ``due`` is monotonic."""

    token: str
    origin: AskOrigin
    ask: PermissionRequest | QuestionRequest
    kind: AskKind
    opened_at: float
    expires_at: float
    due: float
    limit: float
    future: asyncio.Future[Reply]
    assessment: Assessment | None = None
    questionnaire: Questionnaire | None = None
    showings: int = 1
    is_armed: bool = False
    state: AskState = AskState.OPEN
    verdict: Verdict | None = None
    reason: str = ""
    by: Decider | None = None
    way: DecisionWay | None = None
    decided_at: float = 0.0
    delivered: bool | None = None
    was_told: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def id(self) -> AskId:
        return self.ask.id

    @property
    def place(self) -> Place:
        return self.origin.place

    @property
    def is_open(self) -> bool:
        return self.state is AskState.OPEN

    @property
    def key(self) -> str:
        """The key of the newest card."""
        return key_of(self.token, self.showings)

    @property
    def tool(self) -> str:
        return self.ask.tool if isinstance(self.ask, PermissionRequest) else ""

    @property
    def title(self) -> str:
        if isinstance(self.ask, PermissionRequest):
            return self.ask.title or self.ask.tool
        return self.ask.title or (self.ask.questions[0].text if self.ask.questions else "")

    @property
    def subject(self) -> str:
        return self.ask.subject if isinstance(self.ask, PermissionRequest) else ""

    @property
    def shown_subject(self) -> str:
        """The subject for people; the rest of the house works with ``subject``."""
        return shown_subject(self.tool_kind, self.subject, self.origin.cwd)

    @property
    def agent(self) -> str:
        return self.origin.agent

    @property
    def tool_kind(self) -> ToolKind:
        return self.ask.kind if isinstance(self.ask, PermissionRequest) else ToolKind.OTHER

    @property
    def klass(self) -> str:
        return self.assessment.label if self.assessment else self.kind.value

    @property
    def by_name(self) -> str:
        return self.by.shown_name if self.by else ""

    @property
    def told(self) -> bool | None:
        return self.delivered

    @property
    def due_words(self) -> DueWords | None:
        """What a person said with the denial, where it must follow as a text."""
        is_spoken = self.verdict is Verdict.DENY and self.way in SPOKEN and bool(self.reason)
        if not (is_spoken and self.origin.words_follow and self.kind is not AskKind.QUESTION):
            return None
        return DueWords(self.place, self.token, self.reason)

    @property
    def needs_second_step(self) -> bool:
        return self.assessment is not None and self.assessment.needs_second_step

    def claim(  # the one way out of OPEN
        self, state: AskState, *, verdict: Verdict | None, by: Decider, way: DecisionWay, reason: str, at: float
    ) -> bool:
        """Take the decision; False when somebody else has."""
        if not self.is_open:
            return False
        self.state, self.verdict, self.by, self.way, self.reason, self.decided_at = state, verdict, by, way, reason, at
        return True

    def resolve(self, reply: Reply) -> None:
        """Let the waiting call return; no effect when it has or was cancelled."""
        if not self.future.done():
            self.future.set_result(reply)

    def view(self) -> OpenAsk:
        """A frozen picture for lists."""
        return OpenAsk(
            id=self.id,
            token=self.token,
            origin=self.origin,
            kind=self.kind,
            ask=self.ask,
            title=self.title,
            subject=self.subject,
            opened_at=self.opened_at,
            expires_at=self.expires_at,
            assessment=self.assessment,
            is_armed=self.is_armed,
        )


def key_of(token: str, showing: int = 1) -> str:
    """The outbox key of a card; later showings of the same request get a number."""
    return f"card:{token}" if showing == 1 else f"card:{token}:{showing}"


def token_of(key: str) -> str | None:
    """The request a card belongs to, None for other messages."""
    parts = key.split(":")
    return parts[1] if len(parts) > 1 and parts[0] == "card" else None


class Registry:
    """Requests that are open, or decided and not yet told, oldest first."""

    def __init__(self) -> None:
        self._by_token: dict[str, LiveAsk] = {}
        self._by_id: dict[AskId, LiveAsk] = {}

    def add(self, live: LiveAsk) -> None:
        self._by_token[live.token] = live
        self._by_id[live.id] = live

    def remove(self, live: LiveAsk) -> None:
        """Forget it; a newer request under the same id stays."""
        self._by_token.pop(live.token, None)
        if self._by_id.get(live.id) is live:
            del self._by_id[live.id]

    def by_token(self, token: str) -> LiveAsk | None:
        return self._by_token.get(token)

    def by_id(self, ask_id: AskId) -> LiveAsk | None:
        return self._by_id.get(ask_id)

    def all(self, place: Place | None = None) -> Iterator[LiveAsk]:
        """Every known request (of a topic), oldest first; a copy, so that callers may await."""
        return iter([live for live in self._by_token.values() if place is None or live.place == place])

    def open(self, place: Place | None = None) -> list[LiveAsk]:
        """The ones that still wait for a person."""
        return [live for live in self._by_token.values() if live.is_open and (place is None or live.place == place)]
