"""The one door of every decision: who may, whether it is still open, the second step, the lock, then the claim.

Looking and claiming happen without an ``await`` in between, so a request is decided at most once.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.contract import PermissionRequest, Verdict
from bridge.audit import AuditEvent, Statement
from bridge.config import Role
from bridge.pending import cards, rows, wording
from bridge.pending.equipment import Equipment
from bridge.pending.records import AskState, Decider, DecisionOutcome, DecisionWay, Ruling, Scope
from bridge.pending.registry import LiveAsk
from bridge.pending.settlement import event_of, reply_of

REFUSALS_KEPT = 1000
"""Strangers' tries that get an audit line of their own in one run; a stranger must not fill the disk."""


class Door:
    """Decides live requests."""

    def __init__(self, equipment: Equipment) -> None:
        self._at = equipment
        self._refused: set[tuple[str, int | None]] = set()

    async def decide(
        self,
        live: LiveAsk,
        verdict: Verdict,
        by: Decider,
        way: DecisionWay,
        reason: str = "",
        *,
        scope: Scope = Scope.ONCE,
        is_confirmed: bool = False,
    ) -> DecisionOutcome:
        """Decide, or say why not. ``is_confirmed`` is the second step of a request that needs one."""
        refused = self.objection(live, by, way) or self._obstacle(live, verdict, by, way, scope)
        if refused is None and verdict is Verdict.ALLOW and live.needs_second_step:
            refused = self._second_step(live, is_confirmed=is_confirmed)
        if refused is not None:
            return refused
        if scope is Scope.SESSION and verdict is Verdict.ALLOW and isinstance(live.ask, PermissionRequest):
            rule, statements = self._at.rules.session_rule(live.origin, live.ask, by)
            outcome = await self._settle(live, verdict, by, way, reason, statements)
            if outcome.ruling is Ruling.DECIDED and outcome.state in (AskState.DECIDED, AskState.DELIVERED):
                self._at.rules.put_in_force(rule)
            return outcome
        return await self._settle(live, verdict, by, way, reason)

    def objection(self, live: LiveAsk, by: Decider, way: DecisionWay) -> DecisionOutcome | None:
        """Why this person can't do anything with this request (any more); None = go on."""
        if by.role is None:
            return self.forbid(live, by, way)
        if self._at.lock is not None and way is not DecisionWay.DESKTOP:
            self._at.lock.touch()
        if live.is_open and self._at.time_left(live) <= 0:
            self._at.settlement.expire(live)
        if live.is_open:
            return None
        self._record(rows.tried(live, AuditEvent.LATE, by, way, self._at.clock.now()))
        return DecisionOutcome(Ruling.ALREADY, wording.already(live), live.verdict, live.state, live.delivered)

    def forbid(self, ask: rows.Described, by: Decider, way: DecisionWay) -> DecisionOutcome:
        """A stranger's try: nothing changes, one audit line per person and request."""
        mark = (ask.token, by.id)
        if mark not in self._refused and len(self._refused) < REFUSALS_KEPT:
            self._refused.add(mark)
            self._record(rows.tried(ask, AuditEvent.REFUSED, by, way, self._at.clock.now()))
        return DecisionOutcome(Ruling.FORBIDDEN, wording.anonymous() if by.is_anonymous else wording.stranger())

    def late(self, past: rows.PastAsk, by: Decider, way: DecisionWay) -> DecisionOutcome:
        """A try on a card that is settled, maybe of a former run of the hub."""
        if by.role is None:
            return self.forbid(past, by, way)
        self._record(rows.tried(past, AuditEvent.LATE, by, way, self._at.clock.now()))
        return DecisionOutcome(Ruling.ALREADY, wording.already(past), past.verdict, past.state, past.told)

    # --- inside

    def _obstacle(
        self, live: LiveAsk, verdict: Verdict, by: Decider, way: DecisionWay, scope: Scope
    ) -> DecisionOutcome | None:
        if verdict is Verdict.DENY:
            return None
        if self._at.is_locked and way is not DecisionWay.DESKTOP:
            return DecisionOutcome(Ruling.LOCKED, wording.locked())
        if live.questionnaire is not None and not live.questionnaire.is_done:
            return DecisionOutcome(Ruling.FORBIDDEN, wording.answer_on_card())
        if scope is Scope.SESSION and not self._may_scope(live, by):
            return DecisionOutcome(Ruling.FORBIDDEN, wording.no_scope())
        return None

    def _may_scope(self, live: LiveAsk, by: Decider) -> bool:
        is_on = self._at.config().allows_session_scope and by.role is Role.OWNER
        return is_on and not live.needs_second_step and isinstance(live.ask, PermissionRequest) and not live.ask.plan

    def _second_step(self, live: LiveAsk, *, is_confirmed: bool) -> DecisionOutcome | None:
        if live.is_armed and is_confirmed:
            return None
        if not live.is_armed:
            live.is_armed = True
            self._at.redraw(live)
        return DecisionOutcome(Ruling.NEEDS_CONFIRMATION, wording.confirm(cards.reasons_of(live)))

    async def _settle(
        self,
        live: LiveAsk,
        verdict: Verdict,
        by: Decider,
        way: DecisionWay,
        reason: str,
        extra: Sequence[Statement] = (),
    ) -> DecisionOutcome:
        reply, now = reply_of(live, verdict, reason), self._at.clock.now()
        if not live.claim(AskState.DECIDED, verdict=verdict, by=by, way=way, reason=reason, at=now):
            return DecisionOutcome(Ruling.ALREADY, wording.already(live), live.verdict, live.state, live.delivered)
        if not await self._at.settlement.decide(live, reply, event_of(live, verdict), extra):
            return DecisionOutcome(Ruling.FAILED, wording.unsaved(), Verdict.DENY, live.state)
        return DecisionOutcome(Ruling.DECIDED, wording.after_decision(live), live.verdict, live.state, live.delivered)

    def _record(self, statement: Statement) -> None:
        self._at.settlement.record([statement])
