"""Pressed buttons: the desk's first, then the hub's own. Each press is answered once, after it was resolved.

A press runs in a task of its own: the desk may listen a while for the agent's ear before it knows what to say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from agents.contract import HubError
from bridge.context import HubContext
from bridge.inbound import ButtonPress, Place
from bridge.messenger import MessengerError, PressExpiredError
from bridge.pending import PressReply
from bridge.router import Refusal, Refused
from bridge.texts import told, tr
from bridge.topics import notices
from bridge.topics.inbox import Chosen, Item
from bridge.topics.turn import CANCEL

log = logging.getLogger(__name__)

WORK_LOCKED: Mapping[str, frozenset[str]] = {
    notices.QUEUE: frozenset(("drop",)),
    notices.HELD: frozenset(("drop",)),
    notices.SESSION: frozenset(("stop", "wait")),
    "turn": frozenset((CANCEL,)),
    "all": frozenset(("",)),
}
"""Buttons that a locked hub takes: they stop, drop or show something. "" = with any value."""


def works_locked(verb: str, value: str) -> bool:
    """Whether a button gives no agent anything to do. One that nobody listed does."""
    return bool(WORK_LOCKED.get(verb, frozenset()) & {value.partition(":")[0], ""})


class Presses:
    """``tell`` puts something into a topic's line of work."""

    def __init__(self, context: HubContext, tell: Callable[[Place, Item], None]) -> None:
        self._context = context
        self._tell = tell

    async def take(self, press: ButtonPress) -> None:
        """Resolve first, then answer."""
        try:
            reply = await self._context.desk.press(press)
            if reply is None:
                reply = self._own(press)
        except HubError as error:
            reply = PressReply(told(error.title), is_alert=True)
        finally:
            self._context.finish((press.update_id,))
        await self._answer(press, reply)

    async def refuse(self, press: ButtonPress, refused: Refused) -> None:
        """A stranger's press: the desk keeps the audit of who tried to decide; nothing changes."""
        reply = None
        if refused.reason is not Refusal.FOREIGN_CHAT:
            reply = await self._context.desk.press(press)
        await self._answer(press, reply or PressReply(tr("You are not on this hub's list."), is_alert=True))

    def _own(self, press: ButtonPress) -> PressReply:
        pressed = self._context.buttons.find(press.data, press.place.chat_id)
        if pressed is None:
            return PressReply(tr("This button does not work any more."))
        if self._context.desk.is_locked and not works_locked(pressed.verb, pressed.value):
            return PressReply(tr("🔒 The hub is locked. Send /unlock and your code first."), is_alert=True)
        if pressed.place.topic_id is not None:
            self._tell(pressed.place, Chosen(pressed, press.message_id))
        return PressReply("")

    async def _answer(self, press: ButtonPress, reply: PressReply) -> None:
        try:
            await self._context.messenger.answer_press(press.press_id, reply.text, is_alert=reply.is_alert)
        except PressExpiredError:
            log.debug("press %s was too old to be answered", press.update_id)
        except MessengerError as error:
            log.info("press %s could not be answered: %s", press.update_id, error.title)
