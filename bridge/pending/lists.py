"""Lists with buttons: what waits (/approvals) and which rules stand (/rules), and what their buttons do."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from agents.contract import Verdict
from bridge.config import Role
from bridge.inbound import Place
from bridge.markdown import Composer, Part, keep_ends
from bridge.messenger import Button, Keyboard
from bridge.pending import cards, wording
from bridge.pending.door import Door
from bridge.pending.equipment import Equipment
from bridge.pending.records import AskKind, Decider, DecisionOutcome, DecisionWay, PressReply, Ruling
from bridge.pending.registry import LiveAsk
from bridge.texts import tr
from bridge.unseen import reveal

SHOWN = 20
"""Requests or rules in one message; Telegram takes 100 buttons and 98 entities."""
LISTS_KEPT = 50
SUBJECT = 120
TOAST_LIMIT = 200
"""Bot API: answerCallbackQuery."""
ALERTS = frozenset({Ruling.LOCKED, Ruling.FORBIDDEN, Ruling.FAILED})


@dataclass(frozen=True, slots=True)
class ListPart:
    """A message and its buttons."""

    part: Part
    keyboard: Keyboard = ()


class Lists:
    """Makes lists and obeys their buttons. A list knows what it showed: nothing newer is allowed by it."""

    def __init__(self, equipment: Equipment, door: Door) -> None:
        self._at = equipment
        self._door = door
        self._shown: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def open_list(self, place: Place | None) -> ListPart:
        """What waits in a topic, or everywhere, oldest first."""
        waiting = [live for live in self._at.registry.open(place) if self._at.time_left(live) > 0]
        if not waiting:
            return ListPart(cards.notice(wording.nothing_open()))
        shown = waiting[:SHOWN]
        text = Composer().bold(wording.list_head(len(waiting)))
        rows: list[tuple[Button, ...]] = []
        for number, live in enumerate(shown, 1):
            subject = " ".join(reveal(live.shown_subject or live.title).split())
            tool = live.tool or tr("question")
            text.line().text(f"{number}. {live.origin.agent_title} · {tool} ")
            text.code(keep_ends(subject, SUBJECT))
            if live.needs_second_step:
                text.line().text("   🔥 ").text(cards.reasons_of(live))
            rows += buttons_of(number, live)
        if len(waiting) > len(shown):
            text.line().italic(wording.list_rest(len(waiting) - len(shown)))
        easy = tuple(live.token for live in shown if is_easy(live))
        if len(easy) > 1:
            rows.append((Button(wording.allow_all(len(easy)), cards.data_of(cards.LIST, "all", self._remember(easy))),))
        return ListPart(text.part(), tuple(rows))

    async def allow_all(self, list_id: str, by: Decider) -> PressReply:
        """Allow what a list showed and what is still open; never what needs a second step."""
        tokens = self._shown.get(list_id)
        if by.role is None:
            return PressReply(wording.stranger(), is_alert=True)
        if tokens is None:
            return PressReply(wording.old_list(), is_alert=True)
        if self._at.is_locked:
            return PressReply(wording.locked(), is_alert=True)
        found = [self._at.registry.by_token(token) for token in tokens]
        waiting = [live for live in found if live is not None and live.is_open and is_easy(live)]
        outcomes: Sequence[DecisionOutcome] = await asyncio.gather(
            *(self._door.decide(live, Verdict.ALLOW, by, DecisionWay.BUTTON) for live in waiting)
        )
        allowed = sum(outcome.ruling is Ruling.DECIDED and outcome.delivered is not False for outcome in outcomes)
        return PressReply(wording.allowed_of_list(allowed, len(tokens) - allowed))

    def rules_list(self) -> ListPart:
        """Every standing rule with a button that ends it."""
        standing = self._at.rules.standing()
        if not standing:
            return ListPart(cards.notice(wording.no_rules()))
        text = Composer().bold(wording.rules_head(len(standing)))
        rows: list[tuple[Button, ...]] = []
        for number, rule in enumerate(standing[:SHOWN], 1):
            text.line().text(f"{number}. {wording.rule_line(rule)}")
            rows.append((Button(tr("↩️ Undo {number}", number=number), cards.data_of(cards.RULE, "undo", rule.id)),))
        if len(standing) > SHOWN:
            text.line().italic(wording.list_rest(len(standing) - SHOWN))
        return ListPart(text.part(), tuple(rows))

    async def undo_rule(self, rule_id: str, by: Decider) -> PressReply:
        """End a rule; only owners may."""
        if by.role is not Role.OWNER:
            return PressReply(wording.stranger() if by.role is None else wording.owners_only(), is_alert=True)
        rule = await self._at.rules.undo(rule_id, by, DecisionWay.BUTTON)
        return PressReply(wording.rule_gone() if rule is None else wording.rule_undone(rule))

    def _remember(self, tokens: tuple[str, ...]) -> str:
        list_id = self._at.new_id()
        self._shown[list_id] = tokens
        while len(self._shown) > LISTS_KEPT:
            self._shown.popitem(last=False)
        return list_id


def is_easy(live: LiveAsk) -> bool:
    """What may be allowed together with others: permissions without a second step; no plans, no questions."""
    return live.kind is AskKind.PERMISSION and not live.needs_second_step


def buttons_of(number: int, live: LiveAsk) -> list[tuple[Button, ...]]:
    """A row that decides one entry; questions are answered on their own card."""
    if live.kind is AskKind.QUESTION:
        return []
    answer = "really" if live.is_armed else "allow"
    mark = "🔥" if live.needs_second_step else "✅"
    allow = Button(f"{mark} {number}", cards.data_of(cards.ASK, answer, live.token))
    return [(allow, Button(f"⛔ {number}", cards.data_of(cards.ASK, "deny", live.token)))]


def as_toast(outcome: DecisionOutcome) -> PressReply:
    """What the person sees at once."""
    text = outcome.text if len(outcome.text) <= TOAST_LIMIT else f"{outcome.text[: TOAST_LIMIT - 1]}…"
    return PressReply(text, is_alert=outcome.ruling in ALERTS)
