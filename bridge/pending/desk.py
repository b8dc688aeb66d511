"""The approval desk: agents ask here and wait, people answer here.

Buttons, reactions, texts, the window and the hub's own rules all end at one door (``bridge.pending.door``), which lets
a request be decided at most once. The agent is only ever told "once". Event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agents.contract import Answers, AskId, Decision, Declined, PermissionRequest, QuestionRequest, Verdict
from bridge.audit import AuditEvent, delivery_note, pruning
from bridge.clock import Clock
from bridge.config import BridgeConfig
from bridge.delivery import Delivery, MessageClass, Outgoing
from bridge.inbound import ButtonPress, IncomingMessage, Person, Place, ReactionChange
from bridge.markdown.part import Part
from bridge.messenger import FileUpload
from bridge.pending import cards, rows, wording
from bridge.pending.attachments import attach
from bridge.pending.door import Door
from bridge.pending.equipment import Equipment, RemoteLock
from bridge.pending.incoming import Incoming
from bridge.pending.lists import ListPart, Lists
from bridge.pending.questionnaire import Questionnaire
from bridge.pending.records import (
    HUB,
    AnsweredCard,
    AskKind,
    AskOrigin,
    AskState,
    Decider,
    DecisionOutcome,
    DecisionWay,
    DueWords,
    OpenAsk,
    PressReply,
    Ruling,
    Scope,
)
from bridge.pending.registry import LiveAsk, Registry, Reply
from bridge.pending.rulebook import Automatic, Rulebook
from bridge.pending.settlement import Follow, Settlement, Speak, refusal
from bridge.policy.classes import Assessment
from bridge.store import Database
from bridge.store.errors import StoreError

log = logging.getLogger(__name__)

WATCH = 5.0
"""Seconds between two looks at the wall clock: after a sleep of the computer a request expires this soon."""
EARS_KEPT = 1000
"""Automatic decisions whose delivery is still to be noted in the audit."""
MARGIN = 2.0
"""Seconds by which the hub's denial comes before the agent's own time limit, so that the agent hears it from us."""

Note = Callable[[Place, str], None]
"""Takes a line for the turn's log of a topic."""


def no_note(_place: Place, _line: str) -> None:
    """For a desk without a turn log: the audit has the line anyway."""


class AskDesk:
    """Where requests wait for people. ``config`` gives the settings of now; ``new_id`` makes ids of <= 40 letters.

    ``note`` gets a line for every decision without a person; it may be set later. ``files``: a folder of the hub for
    what a card can only show in part; None: the card's cut has to do.
    """

    def __init__(
        self,
        *,
        config: Callable[[], BridgeConfig],
        database: Database,
        delivery: Delivery,
        clock: Clock,
        new_id: Callable[[], str],
        lock: RemoteLock | None = None,
        note: Note = no_note,
        files: Path | None = None,
    ) -> None:
        registry = Registry()
        self._at = Equipment(
            config=config,
            database=database,
            clock=clock,
            new_id=new_id,
            registry=registry,
            settlement=Settlement(database, delivery, clock, registry, life=new_id()),
            rules=Rulebook(config, database, clock, new_id),
            lock=lock,
        )
        self._door = Door(self._at)
        self._lists = Lists(self._at, self._door)
        self._incoming = Incoming(self._at, self._door, delivery, self._lists)
        self._delivery = delivery
        self._automatic: dict[AskId, str] = {}
        self.note = note
        self._files = files

    @property
    def rules(self) -> Rulebook:
        """Standing permissions."""
        return self._at.rules

    @property
    def is_locked(self) -> bool:
        """Whether nothing may be allowed from the chat."""
        return self._at.is_locked

    @property
    def follow(self) -> Follow:
        """Who puts a turn's live status below a decided card; set by the hub."""
        return self._at.settlement.follow

    @follow.setter
    def follow(self, follow: Follow) -> None:
        self._at.settlement.follow = follow

    @property
    def speak(self) -> Speak:
        """Who takes a person's words with a denial, as a text for the agent; set by the hub."""
        return self._at.settlement.speak

    @speak.setter
    def speak(self, speak: Speak) -> None:
        self._at.settlement.speak = speak

    # --- what agents call, through their topic's channel

    async def request(self, origin: AskOrigin, ask: PermissionRequest) -> Decision:
        """Wait for a decision. "No answer" in every form is a denial with a reason; nothing is raised for it."""
        known = self._at.registry.by_id(ask.id)
        if known is not None:
            return as_decision(await self._join(known, origin, ask))
        live = self._new(origin, ask, AskKind.PLAN if ask.plan else AskKind.PERMISSION)
        try:
            live.assessment = assessment = self.rules.assess(origin, ask)
            automatic = self._ruling(origin, ask, assessment)
        except Exception:
            log.exception("a request could not be judged and was denied")
            return as_decision(self._at.settlement.give_up(live))
        if automatic is not None:
            return self._decide_automatically(live, automatic)
        return as_decision(await self._wait(live))

    async def ask(self, origin: AskOrigin, ask: QuestionRequest) -> Answers | Declined:
        """Wait for answers."""
        known = self._at.registry.by_id(ask.id)
        if known is not None:
            return as_answers(await self._join(known, origin, ask))
        if not ask.questions:
            return Answers(())
        live = self._new(origin, ask, AskKind.QUESTION)
        live.questionnaire = Questionnaire(ask.questions)
        return as_answers(await self._wait(live))

    async def told(self, ask_id: AskId, *, delivered: bool) -> None:
        """The agent's process took the answer, or could not."""
        token = self._automatic.pop(ask_id, None)
        if token is not None:
            self._at.settlement.record([delivery_note(token, delivered=delivered)])
        live = self._at.registry.by_id(ask_id)
        if live is not None and not live.is_open:
            self._at.settlement.told(live, delivered=delivered)

    async def withdrawn(self, ask_id: AskId, why: str) -> None:
        """The agent cancelled its own request; the waiting call ends with a denial that nobody reads."""
        live = self._at.registry.by_id(ask_id)
        if live is not None:
            self._at.settlement.withdraw(live, why)

    # --- what the chat calls, through the router

    async def press(self, press: ButtonPress) -> PressReply | None:
        """The toast for one of the desk's buttons; None: not ours. Strangers' presses belong here too."""
        return await self._incoming.press(press)

    async def reply(self, message: IncomingMessage) -> bool:
        """Whether a reply to an open card was taken (a denial with its reason, or the answer)."""
        return await self._incoming.reply(message)

    async def free_text(self, message: IncomingMessage) -> bool:
        """Whether the text was taken as the answer to the oldest open question of the topic that takes text."""
        return await self._incoming.free_text(message)

    async def react(self, change: ReactionChange) -> bool:
        """Whether the reaction was on one of the desk's cards; a thumb up or down decides."""
        return await self._incoming.react(change)

    def card_replied_to(self, message: IncomingMessage) -> OpenAsk | None:
        """The open request whose card a message replies to."""
        live = self._incoming.card_replied_to(message)
        return live.view() if live is not None and live.is_open else None

    def decider(self, person: Person) -> Decider:
        """A person of the chat with the role the settings give now."""
        return self._at.decider(person)

    def touch(self) -> None:
        """A person who is on the list did something."""
        if self._at.lock is not None:
            self._at.lock.touch()

    def make_list(self, place: Place | None) -> ListPart:
        """What is open in a topic (or everywhere) as a message with buttons, for /approvals."""
        return self._lists.open_list(place)

    def make_rules(self) -> ListPart:
        """All standing rules with undo buttons, for /rules."""
        return self._lists.rules_list()

    # --- the one door

    async def decide(
        self,
        ask_id: AskId,
        verdict: Verdict,
        by: Decider,
        way: DecisionWay,
        reason: str = "",
        *,
        scope: Scope = Scope.ONCE,
        is_confirmed: bool = False,
    ) -> DecisionOutcome:
        """Decide an open request. One that needs a second step wants a second call, with ``is_confirmed``."""
        live = self._at.registry.by_id(ask_id)
        if live is None:
            return DecisionOutcome(Ruling.UNKNOWN_ASK, wording.unknown_card())
        return await self._door.decide(live, verdict, by, way, reason, scope=scope, is_confirmed=is_confirmed)

    async def answer(self, ask_id: AskId, answers: Answers, by: Decider, way: DecisionWay) -> DecisionOutcome:
        """Answer all questions of a request at once, as the window does."""
        live = self._at.registry.by_id(ask_id)
        if live is None or live.questionnaire is None:
            return DecisionOutcome(Ruling.UNKNOWN_ASK, wording.unknown_card())
        if live.is_open:
            live.questionnaire.fill(answers)
        return await self._door.decide(live, Verdict.ALLOW, by, way)

    # --- what others look at

    def has_open_permission(self, place: Place) -> bool:
        """Whether a permission or a plan waits in this topic (questions do not count)."""
        return any(live.kind is not AskKind.QUESTION for live in self._at.registry.open(place))

    def open_asks(self, place: Place | None = None) -> Sequence[OpenAsk]:
        """What waits for a person, oldest first; of one topic or of all."""
        return tuple(live.view() for live in self._at.registry.open(place))

    def answered_card(self, place: Place) -> AnsweredCard | None:
        """The last decided card of the topic's running turn: the turn's live status goes below it."""
        return self._at.settlement.answered_card(place)

    def words_due(self) -> Sequence[DueWords]:
        """What persons said with denials and no agent was told yet, oldest first."""
        return rows.words_due(self._at.database)

    def words_given(self, tokens: Iterable[str]) -> None:
        """The agent has the words of these requests, or nobody wants it to. Joins the caller's transaction."""
        for token in tokens:
            self._at.database.execute(*rows.words_given(token))

    def words_taken_back(self, tokens: Iterable[str]) -> None:
        """The agent did not get the words of these requests after all. Joins the caller's transaction."""
        for token in tokens:
            self._at.database.execute(*rows.words_taken_back(token))

    def words_moved(self, old: Place, new: Place) -> None:
        """The session of a lost topic goes on in another one, and with it the words that are due. Joins the
        caller's transaction."""
        self._at.database.execute(*rows.words_moved(old, new))

    def turn_ended(self, place: Place) -> None:
        """From now on the topic has no card to put a status under."""
        self._at.settlement.turn_ended(place)

    # --- ends and beginnings

    async def void(self, place: Place, why: str) -> None:
        """The topic's session ended: nothing of it stays open, its session rules are over."""
        for live in self._at.registry.all(place):
            self._at.settlement.void(live, why)
        self._at.rules.session_ended(place)
        self._at.settlement.turn_ended(place)

    async def shut_down(self) -> None:
        """The hub ends: all waiting calls get their denial, all cards say so."""
        for live in self._at.registry.all():
            self._at.settlement.void(live, wording.hub_stopped())

    async def recover(self) -> None:
        """At the start: cards of former runs say what is known, decide nothing; old audit lines go."""
        self._at.settlement.recover()
        for text in await self._at.rules.load():
            for chat_id in self._at.config().chats:
                self._delivery.post(Outgoing(Place(chat_id), cards.notice(text), MessageClass.REPLY, rings=True))
        self._at.settlement.record(list(pruning(self._at.clock.now(), self._at.config().audit_days)))

    def move_chat(self, old_chat_id: int, new_chat_id: int) -> None:
        """The group has a new id: what is open belongs there from now on."""
        for live in self._at.registry.all():
            if live.place.chat_id == old_chat_id:
                live.origin = replace(live.origin, place=replace(live.place, chat_id=new_chat_id))
        moved = "UPDATE asks SET chat_id = ? WHERE chat_id = ?", (new_chat_id, old_chat_id)
        self._at.settlement.record([moved])

    def show_again(self) -> None:
        """After a gap in which presses may be lost (Telegram keeps them 150 s): open cards come anew, below."""
        for live in self._at.registry.open():
            self._at.settlement.show_again(live, self._card(live), self._at.keyboard(live))

    def lock_changed(self) -> None:
        """The hub was locked or unlocked: open cards say so."""
        for live in self._at.registry.open():
            if live.kind is not AskKind.QUESTION:
                self._at.redraw(live)

    # --- inside

    @staticmethod
    async def _join(known: LiveAsk, origin: AskOrigin, ask: PermissionRequest | QuestionRequest) -> Reply:
        """The answer to a request that is asked again. Another one under its id never gets an answer meant for it."""
        if known.ask != ask or known.origin.place != origin.place:
            log.warning("a request under the id of another one was denied")
            return Decision(Verdict.DENY, wording.ID_IN_USE)
        return await asyncio.shield(known.future)

    def _attachments(self, live: LiveAsk) -> tuple[FileUpload, ...]:
        if self._files is None or not isinstance(live.ask, PermissionRequest):
            return ()
        return attach(live.ask, self._files, live.token)

    def _card(self, live: LiveAsk) -> Part:
        return cards.open_card(live, is_locked=self.is_locked)

    def _ruling(self, origin: AskOrigin, ask: PermissionRequest, assessment: Assessment) -> Automatic | None:
        """Locked, nothing is allowed by itself; what the settings deny is denied all the same."""
        if self.is_locked:
            return self.rules.denial(ask, assessment)
        return self.rules.ruling(origin, ask, assessment)

    def _new(self, origin: AskOrigin, ask: PermissionRequest | QuestionRequest, kind: AskKind) -> LiveAsk:
        limit = self._at.config().ask_timeout
        if ask.time_limit is not None:
            limit = max(min(limit, ask.time_limit - MARGIN), 0.0)
        now = self._at.clock.now()
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        return LiveAsk(
            token=self._at.new_id(),
            origin=origin,
            ask=ask,
            kind=kind,
            opened_at=now,
            expires_at=now + limit,
            due=self._at.clock.monotonic() + limit,
            limit=limit,
            future=future,
        )

    async def _wait(self, live: LiveAsk) -> Reply:
        most = self._at.config().open_asks_per_topic
        if len(self._at.registry.open(live.place)) >= most:
            return self._refuse_for_limit(live, most)
        try:
            self._at.settlement.open(live, self._card(live), self._at.keyboard(live), self._attachments(live))
        except StoreError:
            log.exception("a request could not be written and was denied")
            return refusal(live, wording.unsaved())
        except Exception:
            log.exception("a request could not be shown and was denied")
            return self._at.settlement.give_up(live)
        watches = (
            asyncio.ensure_future(self._expire_when_due(live)),
            asyncio.ensure_future(self._void_when_unseen(live)),
        )
        try:
            return await asyncio.shield(live.future)
        except asyncio.CancelledError:
            self._at.settlement.abandon(live, wording.session_closed())
            raise
        finally:
            for watch in watches:
                watch.cancel()
            await asyncio.gather(*watches, return_exceptions=True)

    async def _expire_when_due(self, live: LiveAsk) -> None:
        """The last watch over an open request: however it ends, the request does not stay open."""
        try:
            while live.is_open:
                left = self._at.time_left(live)
                if left <= 0:
                    self._at.settlement.expire(live)
                    return
                await self._at.clock.sleep(min(left, WATCH))
        except Exception:
            log.exception("the watch over a request's time broke; the request is denied now")
            self._at.settlement.give_up(live)

    async def _void_when_unseen(self, live: LiveAsk) -> None:
        """A card that can never be shown must not keep the agent waiting: nobody could decide it there."""
        try:
            sent = await self._delivery.outcome(live.key)
        except Exception:
            log.exception("nobody can say whether a request was shown; its time limit goes on")
            return
        if sent.message_id is None and live.is_open:
            log.warning("a request could not be shown: %s", sent.failure)
            self._at.settlement.void(live, wording.not_shown(sent.failure))

    def _refuse_for_limit(self, live: LiveAsk, most: int) -> Reply:
        reason = wording.limit_reason(most)
        now = self._at.clock.now()
        live.claim(AskState.DECIDED, verdict=Verdict.DENY, by=HUB, way=DecisionWay.LIMIT, reason=reason, at=now)
        self._at.settlement.record([rows.audited(live, AuditEvent.DENIED)])
        self._await_ear(live)
        self.note(live.place, wording.limit_note(most, live.title))
        return refusal(live, reason)

    def _await_ear(self, live: LiveAsk) -> None:
        """Remember an automatic decision until its agent says that it has it."""
        self._automatic[live.id] = live.token
        if len(self._automatic) > EARS_KEPT:
            del self._automatic[next(iter(self._automatic))]

    def _decide_automatically(self, live: LiveAsk, ruling: Automatic) -> Decision:
        now = self._at.clock.now()
        live.claim(AskState.DECIDED, verdict=ruling.verdict, by=HUB, way=ruling.way, reason=ruling.why, at=now)
        is_allowed = ruling.verdict is Verdict.ALLOW
        event = AuditEvent.ALLOWED if is_allowed else AuditEvent.DENIED
        if not self._at.settlement.record([rows.audited(live, event)]):
            return Decision(Verdict.DENY, wording.unsaved())
        self._await_ear(live)
        self.note(live.place, wording.automatic_note(ruling.verdict, live.title, ruling.why))
        return Decision(ruling.verdict, "" if is_allowed else ruling.why)


def as_decision(reply: Reply) -> Decision:
    """A reply to a permission request; anything else would be a bug and is a denial."""
    return reply if isinstance(reply, Decision) else Decision(Verdict.DENY, wording.unsaved())


def as_answers(reply: Reply) -> Answers | Declined:
    """A reply to questions; anything else would be a bug and is no answer."""
    return Declined(reply.reason) if isinstance(reply, Decision) else reply
