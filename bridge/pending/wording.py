"""The sentences of the approval desk: first lines of cards, toasts, notices, reasons for the agent. Pure.

Two rules: "allowed" is said only once the agent's process has the answer, and who, when and how are always named.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from agents.contract import Verdict
from bridge.clock import as_datetime
from bridge.pending.records import AskKind, AskState, DecisionWay
from bridge.policy.classes import Assessment, RiskClass
from bridge.texts import told, tr, trn

if TYPE_CHECKING:
    from bridge.pending.rulebook import Rule


class Settled(Protocol):
    """What a verdict line needs to know of a request, live or stored."""

    @property
    def kind(self) -> AskKind: ...
    @property
    def state(self) -> AskState: ...
    @property
    def verdict(self) -> Verdict | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def by_name(self) -> str: ...
    @property
    def way(self) -> DecisionWay | None: ...
    @property
    def opened_at(self) -> float: ...
    @property
    def expires_at(self) -> float: ...
    @property
    def decided_at(self) -> float | None: ...
    @property
    def told(self) -> bool | None: ...


YES_WORDS = frozenset(
    {"y", "yes", "yep", "ok", "okay", "k", "sure", "allow", "approve", "go", "👍", "✅", "+"}
) | frozenset({"д", "да", "ок", "окей", "ага", "хорошо", "можно", "разрешаю", "давай"})
"""Typed on a phone in a hurry; the hub asks back instead of denying."""


def clock_text(seconds: float | None) -> str:
    """Hours and minutes on the computer's clock."""
    return f"{local(seconds):%H:%M}" if seconds else "–"


def local(seconds: float) -> datetime:
    """A wall-clock stamp in the computer's time zone."""
    return as_datetime(seconds).astimezone()


def span_text(seconds: float) -> str:
    """A length of time for people: seconds below two minutes, then minutes, then hours."""
    if seconds < 120:
        return trn("{count} second", "{count} seconds", round(seconds))
    if seconds < 7200:
        return trn("{count} minute", "{count} minutes", round(seconds / 60))
    return trn("{count} hour", "{count} hours", round(seconds / 3600))


# --- the first line of a closed card -------------------------------------------------------------------------------


def verdict_line(ask: Settled) -> str:
    """What is known for good about a request that is not open any more."""
    if ask.state is AskState.EXPIRED:
        span = span_text(ask.expires_at - ask.opened_at)
        if ask.kind is AskKind.QUESTION:
            return tr("⌛ Nobody answered in {span}", span=span) + told_mark(ask.told)
        return tr("⌛ Nobody answered in {span}: denied", span=span) + told_mark(ask.told)
    if ask.state is AskState.WITHDRAWN:
        return with_reason(tr("↩️ The agent withdrew this. Nothing was decided"), ask.reason)
    if ask.state is AskState.VOID:
        return with_reason(tr("⚪ No longer open. Nothing was allowed"), ask.reason)
    return decided_line(ask)


def decided_line(ask: Settled) -> str:
    """The line of a request that a person decided."""
    who, at = ask.by_name, clock_text(ask.decided_at)
    choice = choice_text(ask)
    if ask.state is AskState.UNDELIVERED:
        return tr(
            "⚠️ Not delivered: {who} chose “{choice}” at {at}, but the agent was gone.", who=who, choice=choice, at=at
        )
    if ask.state is AskState.UNKNOWN:
        return tr(
            "❔ {who} chose “{choice}” at {at}. Whether the agent heard it is not known.", who=who, choice=choice, at=at
        )
    if ask.state is AskState.DECIDED:
        return tr("⏳ {who} chose “{choice}” at {at}. Telling the agent…", who=who, choice=choice, at=at)
    return delivered_line(ask, who, at)


def delivered_line(ask: Settled, who: str, at: str) -> str:
    """The line once the agent's process has the answer."""
    if ask.kind is AskKind.QUESTION:
        if ask.verdict is Verdict.ALLOW:
            return tr("✅ Answered by {who} · {at} · delivered", who=who, at=at)
        return with_reason(tr("⛔ Not answered: {who} · {at} · delivered", who=who, at=at), ask.reason)
    if ask.kind is AskKind.PLAN:
        if ask.verdict is Verdict.ALLOW:
            return tr("✅ Plan approved by {who} · {at} · delivered", who=who, at=at)
        return with_reason(tr("📝 Keep planning: {who} · {at} · delivered", who=who, at=at), ask.reason)
    if ask.verdict is Verdict.ALLOW:
        return tr("✅ Allowed by {who} · {at} · delivered", who=who, at=at)
    return with_reason(tr("⛔ Denied by {who} · {at} · delivered", who=who, at=at), ask.reason)


def choice_text(ask: Settled) -> str:
    """The word on the button that was chosen."""
    is_yes = ask.verdict is Verdict.ALLOW
    if ask.kind is AskKind.QUESTION:
        return tr("Answer") if is_yes else tr("Decline")
    if ask.kind is AskKind.PLAN:
        return tr("Approve") if is_yes else tr("Keep planning")
    return tr("Allow") if is_yes else tr("Deny")


def told_mark(told: bool | None) -> str:
    """The end of an expiry line."""
    if told is None:
        return ""
    return tr(" · delivered") if told else tr(" · the agent was gone")


def with_reason(line: str, reason: str) -> str:
    """A line and why, in one sentence each."""
    return f"{line}\n{told(reason)}" if reason else f"{line}"


# --- toasts --------------------------------------------------------------------------------------------------------


def already(ask: Settled) -> str:
    """The toast of a press that came too late."""
    if ask.state is AskState.EXPIRED:
        return tr("Too late: this expired at {at} and was denied.", at=clock_text(ask.decided_at))
    if ask.state is AskState.WITHDRAWN:
        return tr("The agent withdrew this request. Nothing was decided.")
    if ask.state is AskState.VOID:
        return with_reason(tr("This request is no longer open. Nothing was allowed."), ask.reason)
    return tr(
        "Already decided: {who} chose “{choice}” at {at}.",
        who=ask.by_name,
        choice=choice_text(ask),
        at=clock_text(ask.decided_at),
    )


def after_decision(ask: Settled) -> str:
    """The toast of the press that decided: what the agent was really told."""
    if ask.told is None:
        return tr(
            "“{choice}” is recorded. The agent has not taken it yet; the card will say so.", choice=choice_text(ask)
        )
    if not ask.told:
        return tr("Not delivered: the agent was gone before it could hear “{choice}”.", choice=choice_text(ask))
    return tr("“{choice}” was delivered to the agent.", choice=choice_text(ask))


def stranger() -> str:
    return tr("You are not on this hub's list of users. Nothing was changed.")


def anonymous() -> str:
    return tr(
        "You act as the group (anonymous administrator), so I can't tell who you are. Turn that off and press again."
    )


def locked() -> str:
    return tr("🔒 The hub is locked. Send /unlock and your code, then allow. Deny works at any time.")


def locked_answer() -> str:
    return tr("🔒 The hub is locked. Send /unlock and your code, then answer again.")


def confirm(reasons: str) -> str:
    return tr("Careful: {reasons}. To run it, press “Really run”.", reasons=reasons)


def stepped_back() -> str:
    return tr("Nothing was decided.")


def answer_on_card() -> str:
    return tr("Answer the question on its card.")


def no_scope() -> str:
    return tr("Only an owner can allow for a session, and not what is destructive. Press Allow for this once.")


def no_such_answer() -> str:
    return tr("This question is already answered, or the answer does not fit. Look at the card.")


def noted() -> str:
    return tr("Noted.")


def use_buttons() -> str:
    return tr("Please answer this one with its buttons.")


def reply_is_denial() -> str:
    return tr("Nothing was decided. To allow, press Allow or send /approve; any other reply denies with your words.")


def means_yes(text: str) -> bool:
    """A reply that surely does not mean "deny, and here is why"."""
    return text.strip(" .!").casefold() in YES_WORDS


def unknown_card() -> str:
    return tr("This card is too old; I know nothing about it any more. Nothing was changed.")


def unsaved() -> str:
    return tr("Denied: the hub could not write its records, and nothing runs without a record.")


def really_run(reasons: str) -> str:
    return tr("Really run? {reasons}", reasons=reasons)


def risk_mark(assessment: Assessment | None) -> str:
    """The class and why, for requests that can do harm or that fall into a class of the user's own."""
    if assessment is None or not (assessment.reasons or assessment.own_class):
        return ""
    label = RISK_NAMES[assessment.risk]() if not assessment.own_class else assessment.own_class
    return f"{label}: {'; '.join(assessment.reasons)}" if assessment.reasons else label


RISK_NAMES = {
    RiskClass.READ: lambda: tr("read"),
    RiskClass.EDIT: lambda: tr("change"),
    RiskClass.NETWORK: lambda: tr("network"),
    RiskClass.EXECUTE: lambda: tr("runs a program"),
    RiskClass.DESTRUCTIVE: lambda: tr("destructive"),
}


def locked_mark() -> str:
    return tr("🔒 locked: send /unlock and your code, then allow")


# --- lists ---------------------------------------------------------------------------------------------------------


def nothing_open() -> str:
    return tr("Nothing waits for you.")


def list_head(count: int) -> str:
    return trn("{count} request waits for you", "{count} requests wait for you", count)


def list_rest(count: int) -> str:
    return trn("… and {count} more", "… and {count} more", count)


def allow_all(count: int) -> str:
    return tr("✅ Allow all shown ({count})", count=count)


def old_list() -> str:
    return tr("This list is too old. Send /approvals again.")


def allowed_of_list(allowed: int, left: int) -> str:
    done = trn("{count} allowed.", "{count} allowed.", allowed)
    rest = trn("{count} was not: look at it.", "{count} were not: look at them.", left)
    return f"{done} {rest}" if left else done


def no_rules() -> str:
    return tr("There are no standing rules: everything is asked, but for what the settings let pass.")


def rules_head(count: int) -> str:
    return trn("{count} standing rule", "{count} standing rules", count)


def rule_line(rule: Rule) -> str:
    """One standing rule for people."""
    what = f"{rule.tool}: {first_line(rule.value, 80)}" if rule.value else rule.tool
    if rule.match == "folder":
        what = tr("{tool} in {folder}", tool=rule.tool, folder=rule.value)
    since = f"{local(rule.created):%d.%m. %H:%M}"
    if rule.scope == "session":
        return tr("{what} · this session · {who}, {since}", what=what, who=rule.by_name, since=since)
    return tr(
        "{what} · project {project} · {who}, {since}", what=what, project=rule.project, who=rule.by_name, since=since
    )


def rule_undone(rule: Rule) -> str:
    return tr("Undone. {tool} asks again.", tool=rule.tool)


def rule_gone() -> str:
    return tr("This rule is not in force any more.")


def owners_only() -> str:
    return tr("Only an owner can change rules.")


# --- notices -------------------------------------------------------------------------------------------------------


def expired_notice(title: str) -> str:
    return tr("⌛ Nobody answered, so this was denied: {title}", title=first_line(title))


def whole_request() -> str:
    return tr("The whole of the request above")


def asked_again() -> str:
    return tr("🔁 Asked again below")


def hub_restarted() -> str:
    return tr("The hub was restarted meanwhile.")


def closed_by_restart(count: int) -> str:
    return trn(
        "⚪ The hub was restarted. {count} open request here is closed; nothing was allowed.",
        "⚪ The hub was restarted. {count} open requests here are closed; nothing was allowed.",
        count,
    )


def hub_stopped() -> str:
    return tr("The hub was stopped.")


def broken() -> str:
    return tr("Denied: something in the hub went wrong with this request. The log has the details.")


def broken_notice(title: str) -> str:
    return tr("⚠️ Something in the hub went wrong, so this was denied: {title}", title=first_line(title))


NOT_SEALED = "not made by the hub"
RULES_SHOWN = 5


def rules_unread(count: int) -> str:
    return trn(
        "⚠️ {count} project rule is not used now: the keyring does not answer. Unlock it and restart the hub.",
        "⚠️ {count} project rules are not used now: the keyring does not answer. Unlock it and restart the hub.",
        count,
    )


def rules_refused(rules: Sequence[str]) -> str:
    shown = "\n".join(f"• {first_line(rule)}" for rule in rules[:RULES_SHOWN])
    text = trn(
        "⚠️ {count} project rule was not made by this hub and is removed. Somebody or some program wrote it"
        " into the hub's records:",
        "⚠️ {count} project rules were not made by this hub and are removed. Somebody or some program wrote them"
        " into the hub's records:",
        len(rules),
    )
    return f"{text}\n{shown}"


def no_seals() -> str:
    return tr("No project rules can be made here: there is no place for their secret.")


def not_shown(why: str) -> str:
    return tr("The request could not be shown in the chat: {why}", why=why)


def session_closed() -> str:
    return tr("The session was closed.")


def limit_note(most: int, title: str) -> str:
    return tr("🚫 Denied by the hub: {count} requests wait already · {title}", count=most, title=first_line(title))


def automatic_note(verdict: Verdict, title: str, why: str) -> str:
    """A line for the turn's log about a decision without a person."""
    if verdict is Verdict.ALLOW:
        return tr("☑️ Allowed by the hub ({why}): {title}", why=why, title=first_line(title))
    return tr("🚫 Denied by the hub ({why}): {title}", why=why, title=first_line(title))


def class_passes(label: str) -> str:
    return tr("the settings allow “{label}”", label=label)


def rule_why(scope: str, tool: str, value: str) -> str:
    """Which rule allowed something."""
    what = f"{tool}: {first_line(value, 60)}" if value else tool
    return tr("session rule, {what}", what=what) if scope == "session" else tr("project rule, {what}", what=what)


def first_line(text: str, limit: int = 120) -> str:
    """The first line of a title, short enough for a notice."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


# --- reasons for the agent: English, because a model reads them ----------------------------------------------------

DECLINED = "The person declined to answer."
ID_IN_USE = "Denied: another request has this id and is not settled yet. Ask again under a new one."


def expired_reason(seconds: float) -> str:
    """English on purpose: a model reads it."""
    wait = round(seconds)
    return f"Nobody answered within {wait} seconds, so the request was denied. Go on without it or ask again later."


def limit_reason(count: int) -> str:
    """For the agent that asks too much at once."""
    return f"Denied: {count} requests of this session already wait for an answer. Wait for those first."


def settings_reason(label: str) -> str:
    """For a class of requests that the settings deny."""
    return f"Denied by the user's settings: requests of class '{label}' are not allowed."
