"""How the window says what happened and by which way: the records themselves keep fixed English words. Pure."""

from __future__ import annotations

from bridge.audit import AuditEvent
from bridge.pending import DecisionWay
from bridge.router import Refusal
from bridge.texts import mark, tr

EVENTS = {
    AuditEvent.ALLOWED: mark("allowed"),
    AuditEvent.DENIED: mark("denied"),
    AuditEvent.ANSWERED: mark("answered"),
    AuditEvent.DECLINED: mark("skipped"),
    AuditEvent.EXPIRED: mark("expired, denied"),
    AuditEvent.WITHDRAWN: mark("taken back by the agent"),
    AuditEvent.VOID: mark("void: hub or agent ended"),
    AuditEvent.REFUSED: mark("press refused"),
    AuditEvent.LATE: mark("too late"),
    AuditEvent.RULE_ADDED: mark("rule made"),
    AuditEvent.RULE_UNDONE: mark("rule undone"),
    AuditEvent.LOCKED: mark("locked"),
    AuditEvent.UNLOCKED: mark("unlocked"),
    AuditEvent.WRONG_CODE: mark("wrong code"),
}
WAYS = {
    DecisionWay.BUTTON: mark("button"),
    DecisionWay.REACTION: mark("reaction"),
    DecisionWay.TEXT: mark("command"),
    DecisionWay.REPLY: mark("reply"),
    DecisionWay.DESKTOP: mark("this computer"),
    DecisionWay.RULE: mark("rule"),
    DecisionWay.POLICY: mark("settings"),
    DecisionWay.TIMEOUT: mark("time ran out"),
    DecisionWay.LIMIT: mark("too many open"),
    DecisionWay.AGENT: mark("the agent"),
    DecisionWay.HUB: mark("the hub"),
}
REFUSALS = {
    Refusal.FOREIGN_CHAT: mark("the group is not on the list"),
    Refusal.FOREIGN_USER: mark("the person is not on the list"),
    Refusal.ANONYMOUS: mark("an anonymous administrator"),
    Refusal.BOT: mark("sent by a bot"),
    Refusal.UNKNOWN: mark("an unknown kind of message"),
}


def event_text(event: AuditEvent) -> str:
    return tr(EVENTS[event])


def way_text(way: str) -> str:
    """A way as it stands in the audit; one that this version does not know stands for itself."""
    return tr(WAYS[DecisionWay(way)]) if way in set(DecisionWay) else way


def refusal_text(reason: Refusal) -> str:
    return tr(REFUSALS[reason])
