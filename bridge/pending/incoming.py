"""Presses, reactions, replies and texts of the chat, turned into decisions and answers at the one door."""

from __future__ import annotations

from agents.contract import Verdict
from bridge.delivery import Delivery, MessageClass, Outgoing
from bridge.inbound import ButtonPress, IncomingMessage, Place, ReactionChange
from bridge.pending import cards, rows, wording
from bridge.pending.door import Door
from bridge.pending.equipment import Equipment
from bridge.pending.lists import Lists, as_toast
from bridge.pending.records import AskKind, Decider, DecisionOutcome, DecisionWay, PressReply, Ruling, Scope
from bridge.pending.registry import LiveAsk, token_of

YES_MARK, NO_MARK = "👍", "👎"


class Incoming:
    """The chat's side of the desk."""

    def __init__(self, equipment: Equipment, door: Door, delivery: Delivery, lists: Lists) -> None:
        self._at = equipment
        self._door = door
        self._delivery = delivery
        self._lists = lists

    async def press(self, press: ButtonPress) -> PressReply | None:
        """The toast for one of the desk's buttons; None for other people's buttons."""
        verb, _, rest = press.data.partition(":")
        answer, _, token = rest.partition(":")
        if verb not in (cards.ASK, cards.QUESTION, cards.LIST, cards.RULE):
            return None
        by = self._at.decider(press.sender)
        if verb == cards.LIST:
            return await self._lists.allow_all(token, by)
        if verb == cards.RULE:
            return await self._lists.undo_rule(token, by)
        live = self._at.registry.by_token(token)
        if live is None:
            return self._press_on_past(token, by)
        if self._delivery.key_of(press.place.chat_id, press.message_id) is None:
            self._delivery.confirm(live.key, press.message_id)  # its reply was lost, and yet it arrived
        if verb == cards.QUESTION:
            return await self._answer_by_button(live, answer, by)
        return as_toast(await self._decide_by_button(live, answer, by))

    def _press_on_past(self, token: str, by: Decider) -> PressReply:
        past = rows.past(self._at.database, token)
        if past is None:
            return PressReply(wording.unknown_card(), is_alert=True)
        return as_toast(self._door.late(past, by, DecisionWay.BUTTON))

    async def _decide_by_button(self, live: LiveAsk, answer: str, by: Decider) -> DecisionOutcome:
        if answer == "back":
            return self._step_back(live, by)
        verdict = Verdict.DENY if answer == "deny" else Verdict.ALLOW
        if answer not in ("allow", "deny", "session", "really"):
            return DecisionOutcome(Ruling.UNKNOWN_ASK, wording.unknown_card())
        scope = Scope.SESSION if answer == "session" else Scope.ONCE
        confirmed = answer == "really"
        return await self._door.decide(live, verdict, by, DecisionWay.BUTTON, scope=scope, is_confirmed=confirmed)

    def _step_back(self, live: LiveAsk, by: Decider) -> DecisionOutcome:
        objection = self._door.objection(live, by, DecisionWay.BUTTON)
        if objection is not None:
            return objection
        live.is_armed = False
        self._at.redraw(live)
        return DecisionOutcome(Ruling.NEEDS_CONFIRMATION, wording.stepped_back())

    # --- questions

    async def _answer_by_button(self, live: LiveAsk, answer: str, by: Decider) -> PressReply:
        objection = self._door.objection(live, by, DecisionWay.BUTTON)
        if objection is not None:
            return as_toast(objection)
        if answer == "decline":
            return as_toast(await self._door.decide(live, Verdict.DENY, by, DecisionWay.BUTTON, wording.DECLINED))
        if self._at.is_locked:
            return PressReply(wording.locked_answer(), is_alert=True)
        form = live.questionnaire
        number, _, value = answer.partition(".")
        if form is None or not number.isdecimal() or not form.press(int(number), value):
            return PressReply(wording.no_such_answer())
        return await self._go_on(live, by, DecisionWay.BUTTON)

    async def _go_on(self, live: LiveAsk, by: Decider, way: DecisionWay) -> PressReply:
        form = live.questionnaire
        if form is None or not form.is_done:
            self._at.redraw(live)
            return PressReply(wording.noted())
        return as_toast(await self._door.decide(live, Verdict.ALLOW, by, way))

    # --- texts

    async def reply(self, message: IncomingMessage) -> bool:
        """A reply to an open card: the words deny a request, or answer a question. False: not for the desk."""
        text = message.text.strip()
        if message.reply_to is None or message.is_edit or not text or text.startswith("/"):
            return False
        live = self.card_replied_to(message)
        if live is None or not live.is_open:
            return False
        by = self._at.decider(message.sender)
        if live.kind is AskKind.QUESTION:
            if live.questionnaire is None or not live.questionnaire.takes_text:
                self._say(message.place, wording.use_buttons())
                return True
            await self._take_text(live, text, by, DecisionWay.REPLY, message)
            return True
        if wording.means_yes(text):
            self._say(message.place, wording.reply_is_denial())
            return True
        outcome = await self._door.decide(live, Verdict.DENY, by, DecisionWay.REPLY, text)
        self._say_if_refused(message.place, outcome)
        return True

    def card_replied_to(self, message: IncomingMessage) -> LiveAsk | None:
        """The request whose card a message replies to, while it is known to this run."""
        if message.reply_to is None:
            return None
        key = self._delivery.key_of(message.place.chat_id, message.reply_to)
        token = token_of(key) if key else None
        return self._at.registry.by_token(token) if token else None

    async def free_text(self, message: IncomingMessage) -> bool:
        """The answer to the oldest open question of the topic that takes text."""
        text = message.text.strip()
        if not text or message.is_edit:
            return False
        for live in self._at.registry.open(message.place):
            if live.questionnaire is not None and live.questionnaire.takes_text and self._at.time_left(live) > 0:
                await self._take_text(live, text, self._at.decider(message.sender), DecisionWay.TEXT, message)
                return True
        return False

    async def _take_text(
        self, live: LiveAsk, text: str, by: Decider, way: DecisionWay, message: IncomingMessage
    ) -> None:
        objection = self._door.objection(live, by, way)
        if objection is not None:
            self._say(message.place, objection.text)
            return
        if self._at.is_locked:
            self._say(message.place, wording.locked_answer())
            return
        form = live.questionnaire
        problem = form.type(text) if form is not None else ""
        if problem:
            self._say(message.place, problem)
            return
        await self._go_on(live, by, way)

    # --- reactions

    async def react(self, change: ReactionChange) -> bool:
        """A thumb on a card decides; everything else about reactions is ignored. False: not a card of ours."""
        key = self._delivery.key_of(change.chat_id, change.message_id)
        token = token_of(key) if key else None
        if token is None:
            return False
        marks = {YES_MARK, NO_MARK} & set(change.added)
        live = self._at.registry.by_token(token)
        by = self._at.decider(change.sender)
        if live is None or not live.is_open or live.kind is AskKind.QUESTION or len(marks) != 1:
            return True
        verdict = Verdict.ALLOW if YES_MARK in marks else Verdict.DENY
        outcome = await self._door.decide(live, verdict, by, DecisionWay.REACTION)
        if by.role is not None:
            self._say_if_refused(live.place, outcome)
        return True

    # --- saying

    def _say_if_refused(self, place: Place, outcome: DecisionOutcome) -> None:
        if outcome.ruling is not Ruling.DECIDED:
            self._say(place, outcome.text)

    def _say(self, place: Place, text: str) -> None:
        self._delivery.post(Outgoing(place, cards.notice(text), MessageClass.REPLY))
