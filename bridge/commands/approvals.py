"""/approve, /deny, /approvals, /rules, /lock and /unlock. None of them ever reaches an agent as text.

Plain functions of the desk, the message and its arguments; ``APPROVAL_COMMANDS`` is their table. They run at once,
before the topic's own line of work, because an approval must not wait behind anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from agents.contract import Verdict
from bridge.cards import notice
from bridge.commands.table import Call, CommandSpec, DirectRun, Section, Where
from bridge.delivery import Delivery, MessageClass, Outgoing
from bridge.inbound import IncomingMessage, Place
from bridge.lock import HubLock, UnlockResult
from bridge.pending import AskDesk, AskKind, DecisionOutcome, DecisionWay, OpenAsk, Ruling
from bridge.pending.lists import ListPart
from bridge.pending.wording import clock_text
from bridge.texts import mark, tr

REALLY = frozenset({"really", "really run", "точно"})
"""The word that is the second step of a destructive request by text."""

Answering = Callable[[IncomingMessage, str], Awaitable[ListPart]]
Handler = Callable[[AskDesk, IncomingMessage, str], Awaitable[ListPart]]


@dataclass(frozen=True, slots=True)
class ApprovalCommand:
    """One command of the desk. ``summary`` is the English sentence that is looked up when it is shown."""

    name: str
    summary: str
    handler: Handler
    usage: str = ""


async def approve(desk: AskDesk, message: IncomingMessage, arguments: str) -> ListPart:
    """Allow the request replied to, else the only open one, else show the list."""
    target = target_of(desk, message)
    if target is None:
        return desk.make_list(scope_of(message))
    is_confirmed = arguments.strip().casefold() in REALLY
    by = desk.decider(message.sender)
    outcome = await desk.decide(target.id, Verdict.ALLOW, by, DecisionWay.TEXT, is_confirmed=is_confirmed)
    return told(outcome)


async def deny(desk: AskDesk, message: IncomingMessage, arguments: str) -> ListPart:
    """Deny with a reason, or decline a question."""
    target = target_of(desk, message, with_questions=True)
    if target is None:
        return desk.make_list(scope_of(message))
    by = desk.decider(message.sender)
    return told(await desk.decide(target.id, Verdict.DENY, by, DecisionWay.TEXT, arguments.strip()))


async def list_open(desk: AskDesk, message: IncomingMessage, _arguments: str) -> ListPart:
    """What waits here; in General: everywhere."""
    return desk.make_list(scope_of(message))


async def list_rules(desk: AskDesk, _message: IncomingMessage, _arguments: str) -> ListPart:
    """Standing rules with undo buttons."""
    return desk.make_rules()


APPROVAL_COMMANDS: Sequence[ApprovalCommand] = (
    ApprovalCommand("approve", mark("Allow what the agent asks"), approve),
    ApprovalCommand("deny", mark("Deny what the agent asks"), deny, mark("[reason]")),
    ApprovalCommand("approvals", mark("What waits for a decision"), list_open),
    ApprovalCommand("rules", mark("What the hub allows by itself, with undo"), list_rules),
)


def target_of(desk: AskDesk, message: IncomingMessage, *, with_questions: bool = False) -> OpenAsk | None:
    """The request a command means: the one replied to, else the only one that is open here."""
    replied = desk.card_replied_to(message)
    if replied is not None:
        return replied
    waiting = [ask for ask in desk.open_asks(scope_of(message)) if ask.kind is not AskKind.QUESTION]
    if not waiting and with_questions:
        waiting = list(desk.open_asks(scope_of(message)))
    return waiting[0] if len(waiting) == 1 else None


def scope_of(message: IncomingMessage) -> Place | None:
    """A topic looks at itself, General at everything."""
    return None if message.place.topic_id is None else message.place


def told(outcome: DecisionOutcome) -> ListPart:
    """The answer in the chat; how to take the second step by text is said here, where there is no button."""
    hint = ""
    if outcome.ruling is Ruling.NEEDS_CONFIRMATION:
        hint = tr("Or send /approve really.")
    return ListPart(notice(outcome.text, hint=hint))


# --- the lock ------------------------------------------------------------------------------------------------------


async def unlock(lock: HubLock, message: IncomingMessage, arguments: str) -> ListPart:
    """Try a code."""
    if not arguments.strip():
        return ListPart(notice(tr("Send /unlock and the six digits of your authenticator app.")))
    outcome = await lock.unlock(arguments, by_id=message.sender.id, by_name=message.sender.name)
    hint = tr("Codes are taken again at {at}.", at=clock_text(outcome.until))
    return ListPart(notice(outcome.text, hint=hint if outcome.result is UnlockResult.TOO_MANY else ""))


async def lock_now(lock: HubLock, message: IncomingMessage, _arguments: str) -> ListPart:
    """Lock at once."""
    if lock.lock_now(by_id=message.sender.id, by_name=message.sender.name):
        return ListPart(notice(tr("🔒 Locked. Send /unlock and your code to go on.")))
    return ListPart(notice(tr("The lock is switched off. Switch it on in the window, under Settings.")))


# --- for the hub's table -------------------------------------------------------------------------------------------


def approval_specs(desk: AskDesk, lock: HubLock | None, delivery: Delivery) -> list[CommandSpec]:
    """The commands as the hub's table takes them; they post their own replies and work while locked."""

    def answering(call: Answering) -> DirectRun:
        async def run(use: Call) -> None:
            reply = await call(use.message, use.arguments)
            place = use.message.place
            delivery.post(Outgoing(place, reply.part, MessageClass.REPLY, keyboard=reply.keyboard))

        return run

    handlers: list[tuple[str, str, str, Answering, Section]] = [
        (entry.name, entry.summary, entry.usage, partial(entry.handler, desk), Section.PERMISSION)
        for entry in APPROVAL_COMMANDS
    ]
    if lock is not None:
        handlers.append(("unlock", mark("Open the hub with a code"), mark("CODE"), partial(unlock, lock), Section.HUB))
        handlers.append(("lock", mark("Lock the hub now"), "", partial(lock_now, lock), Section.HUB))
    return [
        CommandSpec(name, text, Where.BOTH, usage, run=answering(handler), works_locked=True, section=section)
        for name, text, usage, handler, section in handlers
    ]
