"""Writes what happened to a request and shows it: database, card and waiting call, in the safe order.

A decision is claimed in memory, written durably, and only then told to the waiting agent; the card follows. When it
can't be written, the agent is told "deny". One transaction each for opening, deciding and being told.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from agents.contract import Answers, Decision, Declined, Verdict
from bridge import audit
from bridge.audit import AuditEvent, Statement
from bridge.clock import Clock
from bridge.delivery import Delivery, MessageClass, Outgoing
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import FileUpload, Keyboard
from bridge.pending import cards, rows, wording
from bridge.pending.records import HUB, AnsweredCard, AskKind, AskState, DecisionWay, DueWords
from bridge.pending.registry import LiveAsk, Registry, Reply, key_of
from bridge.store import Database
from bridge.store.errors import StoreError

log = logging.getLogger(__name__)

EAR = 1.0
"""Seconds a decision waits for the agent to take it, so that toast and card can say it at once."""


Follow = Callable[[Place], bool]
"""Shows the newest answered card of a topic with the turn's status below it, in one edit; False: it does not."""


Speak = Callable[[DueWords], None]
"""Takes a person's words with a denial, which must reach the agent as a text."""


def kept_for_later(_words: DueWords) -> None:
    """For a desk without topics: the words stay due in the table."""


def followed_by_nobody(_place: Place) -> bool:
    """For a topic without a running turn."""
    return False


class Settlement:
    """The hands of the desk: every change of a request's state goes through here."""

    def __init__(self, database: Database, delivery: Delivery, clock: Clock, registry: Registry, life: str) -> None:
        self._database = database
        self._delivery = delivery
        self._clock = clock
        self._registry = registry
        self._life = life
        self._answered: dict[Place, LiveAsk] = {}
        self.follow: Follow = followed_by_nobody
        self.speak: Speak = kept_for_later

    # --- opening

    def open(self, live: LiveAsk, card: Part, keyboard: Keyboard, files: tuple[FileUpload, ...] = ()) -> None:
        """Row, card and the files below it in one commit. Raises StoreError."""
        with self._database.transaction():
            self._execute([rows.opening(live, self._life)])
            self._post(live, card, keyboard)
            if files:
                caption = cards.notice(wording.whole_request())
                self._delivery.post(Outgoing(live.place, caption, MessageClass.REPLY, files=files))
        self._registry.add(live)

    def show_again(self, live: LiveAsk, card: Part, keyboard: Keyboard) -> None:
        """A new card below, which rings; the old one points down. Both decide the same request."""
        with self._database.transaction():
            self._delivery.revise(live.key, cards.moved_card(live))
            live.showings += 1
            self._execute([("UPDATE asks SET showings = ? WHERE token = ?", (live.showings, live.token))])
            self._post(live, card, keyboard)

    def _post(self, live: LiveAsk, card: Part, keyboard: Keyboard) -> None:
        message = Outgoing(live.place, card, MessageClass.PROMPT, key=live.key, keyboard=keyboard, rings=True)
        self._delivery.post(message)

    # --- decisions, claimed by the caller

    async def decide(self, live: LiveAsk, reply: Reply, event: AuditEvent, extra: Sequence[Statement] = ()) -> bool:
        """Write a claimed decision (and ``extra``) durably, tell the waiting call, listen for the agent's ear.

        False: it could not be written and the agent is told "deny".
        """
        statements = [rows.closing(live), rows.audited(live, event), *extra]
        commit = asyncio.ensure_future(self._database.durably(lambda connection: rows.run(connection, statements)))
        try:
            await asyncio.wait({commit})
        except asyncio.CancelledError:
            # The commit goes on in its thread: what it writes must also be told, whoever lost interest.
            await asyncio.wait({commit})
            self._conclude(live, commit, reply)
            raise
        if not self._conclude(live, commit, reply):
            return False
        await self._listen(live)
        return True

    def _conclude(self, live: LiveAsk, commit: asyncio.Future[None], reply: Reply) -> bool:
        """Tell what was written; whatever kept it from being written makes it a denial."""
        error = asyncio.CancelledError() if commit.cancelled() else commit.exception()
        if error is not None:
            self._fail(live, error)
            return False
        self._tell(live, reply)
        return True

    def _tell(self, live: LiveAsk, reply: Reply) -> None:
        if live.state is AskState.DECIDED:
            live.resolve(reply)
        else:  # cut off while it was being written: the row says "decided" now and must say what is true
            self.record([rows.settled(live.token, live.state, live.delivered), *self._note(live)])
        if words := live.due_words:
            self.speak(words)

    def _fail(self, live: LiveAsk, error: BaseException) -> None:
        log.error("a decision could not be written and is a denial now", exc_info=error)
        live.verdict, live.reason, live.by = Verdict.DENY, wording.unsaved(), HUB
        live.resolve(refusal(live, wording.unsaved()))
        self.record([], live)

    async def _listen(self, live: LiveAsk) -> None:
        """Wait for ``told``, at most EAR seconds; then the card says what is known."""
        heard = asyncio.ensure_future(live.was_told.wait())
        patience = asyncio.ensure_future(self._clock.sleep(EAR))
        try:
            await asyncio.wait({heard, patience}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (heard, patience):
                task.cancel()
            await asyncio.gather(heard, patience, return_exceptions=True)
        if not live.was_told.is_set():
            self.record([], live)

    def told(self, live: LiveAsk, *, delivered: bool) -> None:
        """The agent's process took the answer, or could not: row, audit and card in one commit."""
        live.delivered = delivered
        if live.state is AskState.DECIDED:
            live.state = AskState.DELIVERED if delivered else AskState.UNDELIVERED
        self.record([rows.settled(live.token, live.state, delivered), *self._note(live)], live)
        live.was_told.set()
        self._registry.remove(live)

    # --- ends without a person

    def expire(self, live: LiveAsk) -> None:
        """Time is up: denied, written, told, and said aloud."""
        reason = wording.expired_reason(live.limit)
        if not self._claim(live, AskState.EXPIRED, DecisionWay.TIMEOUT, reason, Verdict.DENY):
            return
        notice = cards.notice(wording.expired_notice(live.title))
        message = Outgoing(live.place, notice, MessageClass.REPLY, key=f"expired:{live.token}", rings=True)
        self.record([rows.closing(live), rows.audited(live, AuditEvent.EXPIRED)], live, message)
        live.resolve(refusal(live, reason))

    def give_up(self, live: LiveAsk) -> Reply:
        """Something of the hub itself broke: an open request is denied, and that is said aloud. Returns the denial."""
        was_open = live.is_open
        self.void(live, wording.broken())
        if was_open:
            notice = cards.notice(wording.broken_notice(live.title))
            message = Outgoing(live.place, notice, MessageClass.REPLY, key=f"broken:{live.token}", rings=True)
            self.record([], post=message)
        return refusal(live, wording.broken())

    def withdraw(self, live: LiveAsk, why: str) -> None:
        """The agent does not want an answer any more. A decision it has not heard yet never reaches it."""
        if self._claim(live, AskState.WITHDRAWN, DecisionWay.AGENT, why, None):
            self._close(live, AuditEvent.WITHDRAWN)
        elif live.state is AskState.DECIDED:
            self._cut_off(live, AskState.UNDELIVERED)
        live.resolve(refusal(live, why))

    def void(self, live: LiveAsk, why: str) -> None:
        """Session or hub ended. A decision under way is undelivered if the agent can't have heard it, else unknown."""
        if self._claim(live, AskState.VOID, DecisionWay.HUB, why, None):
            self._close(live, AuditEvent.VOID)
        elif live.state is AskState.DECIDED:
            self._cut_off(live, AskState.UNKNOWN if live.future.done() else AskState.UNDELIVERED)
        else:
            self._registry.remove(live)
        live.resolve(refusal(live, why))

    def abandon(self, live: LiveAsk, why: str) -> None:
        """The waiting call was cancelled: the agent surely heard nothing."""
        if self._claim(live, AskState.VOID, DecisionWay.HUB, why, None):
            self._close(live, AuditEvent.VOID)
        elif live.state is AskState.DECIDED:
            self._cut_off(live, AskState.UNDELIVERED)
        else:
            self._registry.remove(live)

    def _claim(self, live: LiveAsk, state: AskState, way: DecisionWay, reason: str, verdict: Verdict | None) -> bool:
        return live.claim(state, verdict=verdict, by=HUB, way=way, reason=reason, at=self._clock.now())

    def _close(self, live: LiveAsk, event: AuditEvent) -> None:
        self.record([rows.closing(live), rows.audited(live, event)], live)
        self._registry.remove(live)

    def _cut_off(self, live: LiveAsk, state: AskState) -> None:
        live.state = state
        live.delivered = False if state is AskState.UNDELIVERED else None
        self.record([rows.settled(live.token, state, live.delivered), *self._note(live)], live)
        live.was_told.set()
        self._registry.remove(live)

    @staticmethod
    def _note(live: LiveAsk) -> Sequence[Statement]:
        if live.delivered is None:
            return ()
        return (audit.delivery_note(live.token, delivered=live.delivered),)

    def record(
        self, statements: Sequence[Statement], shown: LiveAsk | None = None, post: Outgoing | None = None
    ) -> bool:
        """One commit with the card's new look and a message; False (and a log line) when it could not be written.

        Nothing is raised: an agent waits for what follows. What can't be shown must not undo the rest.
        """
        try:
            with self._database.transaction():
                self._execute(statements)
                if shown is not None:
                    self.show(shown)
                if post is not None:
                    self._delivery.post(post)
        except StoreError:
            log.exception("the state of a request could not be written")
            return False
        except Exception:
            log.exception("a request could not be written and shown in one go")
        else:
            return True
        if sum((bool(statements), shown is not None, post is not None)) < 2:
            return False
        is_written = self.record(statements)
        self.record([], shown)
        self.record([], None, post)
        return is_written

    def _execute(self, statements: Sequence[Statement]) -> None:
        for sql, values in statements:
            self._database.execute(sql, values)

    # --- showing

    def show(self, live: LiveAsk) -> None:
        """The card of a closed request, as far as things are known now."""
        is_decided = live.state in (AskState.DECIDED, AskState.DELIVERED)
        if is_decided:
            self._answered[live.place] = live
        is_followed = is_decided and self.follow(live.place)
        closed = cards.closed_card(live)
        for showing in range(1, live.showings + (0 if is_followed else 1)):
            self._delivery.revise(key_of(live.token, showing), closed)

    def revise(self, live: LiveAsk, card: Part, keyboard: Keyboard) -> None:
        """Another look of a request that is still open (second step, next question)."""
        self._delivery.revise(live.key, card, keyboard=keyboard, klass=MessageClass.PROMPT)

    def answered_card(self, place: Place) -> AnsweredCard | None:
        """The last card of the topic's running turn that was closed."""
        live = self._answered.get(place)
        if live is None:
            return None
        return AnsweredCard(live.key, cards.answered_head(live), live.decided_at)

    def turn_ended(self, place: Place) -> None:
        """Later turns put their status elsewhere."""
        self._answered.pop(place, None)

    def recover(self) -> None:
        """Close what former runs left behind, say so on the cards and once per topic; decide nothing."""
        closed: Counter[Place] = Counter()
        for ask in rows.unsettled(self._database, self._life):
            if ask.state is AskState.OPEN:
                closed[ask.place] += 1
                fixed = replace(ask, state=AskState.VOID, reason=wording.hub_restarted(), way=DecisionWay.HUB)
            else:
                fixed = replace(ask, state=AskState.UNKNOWN)
            with self._database.transaction():
                self._execute(rows.corrected(fixed, self._clock.now()))
                for showing in range(1, ask.showings + 1):
                    self._delivery.revise(key_of(ask.token, showing), cards.closed_card(fixed))
        for place, count in closed.items():
            notice = cards.notice(wording.closed_by_restart(count))
            self._delivery.post(Outgoing(place, notice, MessageClass.REPLY, rings=True))


def refusal(live: LiveAsk, reason: str) -> Reply:
    """What the waiting call gets when there is no answer."""
    return Declined(reason) if live.kind is AskKind.QUESTION else Decision(Verdict.DENY, reason)


def reply_of(live: LiveAsk, verdict: Verdict, reason: str) -> Reply:
    """What the waiting call gets for a person's verdict."""
    if live.questionnaire is None:
        return Decision(verdict, reason)
    if verdict is Verdict.ALLOW:
        answers: Answers = live.questionnaire.answers()
        return answers
    return Declined(reason)


def event_of(live: LiveAsk, verdict: Verdict) -> AuditEvent:
    """The audit's word for a person's verdict."""
    if live.kind is AskKind.QUESTION:
        return AuditEvent.ANSWERED if verdict is Verdict.ALLOW else AuditEvent.DECLINED
    return AuditEvent.ALLOWED if verdict is Verdict.ALLOW else AuditEvent.DENIED
