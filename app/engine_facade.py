"""The running engine as window and command line see it: frozen rows out, plain verbs in. In the engine's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import psutil

from agents.contract import Answers, AskId, HubError, PermissionRequest, QuestionRequest, Verdict
from app.audit_words import event_text, refusal_text, way_text
from app.cli import version
from app.daemon_thread import in_daemon_thread
from app.engine import Engine
from app.facade import (
    AskRow,
    AuditRow,
    HealthRow,
    HubSnapshot,
    RejectedRow,
    RuleRow,
    SessionRow,
    SessionState,
)
from app.secrets import store_lock_secret
from app.settings import Settings, edit
from app.settings_fields import put
from app.settings_watch import PendingChange
from app.update_check import Release
from bridge.audit import AuditLine, audit_lines
from bridge.inbound import Place
from bridge.news import TopicSummary
from bridge.pending import DESK_OWNER, DecisionWay, OpenAsk, Rule, RuleDraft, RuleMatch, RuleScope, Ruling, exact_of
from bridge.policy.classes import RiskClass
from bridge.router import Refused
from bridge.telegram.poller import PollState
from bridge.texts import tr
from bridge.unseen import readable, reveal

AUDIT_ROWS = 500


class Owner(Protocol):
    """Who holds the engine: keeps the settings and can begin a new life."""

    settings_file: Path
    pending: tuple[PendingChange, ...]

    @property
    def newer(self) -> Release | None: ...

    def use_changes(self, in_file: Settings, names: Collection[str]) -> None: ...

    async def accept_pending(self) -> None: ...


class EngineFacade:
    """Implements ``app.facade.Facade``."""

    def __init__(self, engine: Engine, owner: Owner) -> None:
        self._engine = engine
        self._owner = owner

    # --- looking

    async def snapshot(self) -> HubSnapshot:
        engine = self._engine
        status = engine.hub.status()
        titles = {topic.place: topic.title for topic in status.topics}
        memory = await asyncio.to_thread(memory_of, [topic.pid for topic in status.topics])
        costs = engine.hub.context.ledger.by_session()
        return HubSnapshot(
            view=engine.make_view(),
            sessions=tuple(session_row(topic, engine.clock.now(), memory, costs) for topic in status.topics),
            asks=tuple(ask_row(ask, titles) for ask in engine.desk.open_asks()),
            rules=tuple(rule_row(rule) for rule in engine.desk.rules.standing() if rule.scope is RuleScope.PROJECT),
            audit=tuple(audit_row(line) for line in self._audit()),
            rejected=tuple(rejected_row(refused) for refused in status.recent_refusals),
            health=self._health(),
            pending=tuple(f"{change.name}: {change.old} → {change.new}" for change in self._owner.pending),
        )

    def _audit(self) -> Sequence[AuditLine]:
        return audit_lines(self._engine.database, limit=AUDIT_ROWS)

    def _health(self) -> tuple[HealthRow, ...]:
        engine = self._engine
        journal, now = engine.hub.context.journal, engine.clock.now()
        poll, waits = engine.poller.state, max(0.0, engine.waiting_until - now)
        size = sum(file.stat().st_size for file in engine.folders.data.glob("hub.sqlite3*"))
        return (
            HealthRow(tr("Telegram"), poll_text(poll), poll.is_connected),
            HealthRow(tr("Last answer from Telegram"), age_text(journal.last_poll(), now)),
            HealthRow(tr("Last message received"), age_text(journal.last_received(), now)),
            HealthRow(tr("Messages waiting to be sent"), str(engine.outbox.waiting)),
            HealthRow(tr("Telegram asks to wait"), f"{waits:.0f} s" if waits else tr("no"), waits < 60),
            HealthRow(tr("Database"), tr("{count} MB", count=round(size / 2**20, 1))),
            version_row(self._owner.newer),
        )

    # --- doing

    async def pause(self, is_paused: bool) -> None:
        if is_paused:
            self._engine.hub.pause()
        else:
            self._engine.hub.resume()

    async def decide(self, ask_id: str, *, allow: bool, confirmed: bool, reason: str) -> str:
        verdict = Verdict.ALLOW if allow else Verdict.DENY
        step = partial(self._engine.desk.decide, AskId(ask_id), verdict, DESK_OWNER, DecisionWay.DESKTOP, reason)
        outcome = await step()
        if confirmed and outcome.ruling is Ruling.NEEDS_CONFIRMATION:
            outcome = await step(is_confirmed=True)  # the window's own question was the second step
        if outcome.ruling is not Ruling.DECIDED:
            raise HubError(outcome.text)
        return outcome.text

    async def answer(self, ask_id: str, answers: Answers) -> str:
        outcome = await self._engine.desk.answer(AskId(ask_id), answers, DESK_OWNER, DecisionWay.DESKTOP)
        if outcome.ruling is not Ruling.DECIDED:
            raise HubError(outcome.text)
        return outcome.text

    async def make_rule(self, ask_id: str) -> str:
        found = self._find(ask_id)
        ask = found.ask
        if not isinstance(ask, PermissionRequest) or found.needs_second_step or ask.plan or not ask.subject:
            raise HubError(tr("No rule can cover this request."), hint=tr("Decide it each time."))
        draft = RuleDraft(found.origin.cwd, ask.tool, RuleMatch.EXACT, exact_of(ask), found.origin.agent)
        await self._engine.desk.rules.add_project_rule(draft, DESK_OWNER)
        return await self.decide(ask_id, allow=True, confirmed=False, reason="")

    async def undo_rule(self, rule_id: str) -> None:
        await self._engine.desk.rules.undo(rule_id, DESK_OWNER, DecisionWay.DESKTOP)

    async def stop_session(self, key: str) -> None:
        self._engine.hub.stop_topic(place_of_key(key))

    async def reset_session(self, key: str) -> None:
        self._engine.hub.reset_topic(place_of_key(key))

    async def hibernate_session(self, key: str) -> None:
        self._engine.hub.hibernate_topic(place_of_key(key))

    async def desk_command(self, key: str) -> tuple[tuple[str, ...], str]:
        return await self._engine.hub.desk_command(place_of_key(key))

    async def apply_settings(self, changes: Mapping[str, Any]) -> None:
        file = self._owner.settings_file
        in_file = await asyncio.to_thread(edit, file, lambda document: put(document, changes))
        self._owner.use_changes(in_file, changes.keys())

    async def accept_pending(self) -> None:
        await self._owner.accept_pending()

    async def unlock(self) -> None:
        self._engine.lock.unlock_at_desk()

    async def lock_now(self) -> None:
        if not self._engine.lock.lock_now(by_id=None, by_name=tr("you, at the computer")):
            raise HubError(tr("The lock is switched off."), hint=tr("Set it up first."))

    async def keep_lock_secret(self, secret: str) -> None:
        await in_daemon_thread(store_lock_secret, secret, self._engine.folders)
        self._engine.lock_secret = secret
        await self.apply_settings({"lock.enabled": True})
        self._engine.lock.unlock_at_desk()

    def _find(self, ask_id: str) -> OpenAsk:
        for found in self._engine.desk.open_asks():
            if found.id == ask_id:
                return found
        raise HubError(tr("This request is not open any more."))


# --- rows


def key_of_place(place: Place) -> str:
    return f"{place.chat_id}/{place.topic_id or 0}"


def place_of_key(key: str) -> Place:
    chat, _, topic = key.partition("/")
    return Place(int(chat), int(topic) or None)


def session_row(
    topic: TopicSummary,
    now: float,
    memory: Mapping[int, int],
    costs: Mapping[tuple[str, str], float],
) -> SessionRow:
    if topic.state == "lost":
        state = SessionState.PARKED
    elif topic.waits_for_person:
        state = SessionState.WAITING
    elif topic.busy_for is not None:
        state = SessionState.WORKING
    else:
        state = SessionState.IDLE if topic.pid else SessionState.ASLEEP
    return SessionRow(
        key=key_of_place(topic.place),
        topic=topic.title or str(topic.place.topic_id or tr("General")),
        chat_id=topic.place.chat_id,
        topic_id=topic.place.topic_id,
        agent=topic.agent_title,
        folder=str(topic.cwd),
        state=state,
        since=now - (topic.busy_for or 0.0) if topic.busy_for is not None else topic.touched,
        cost_usd=costs.get((topic.agent, topic.session_id)),
        memory=memory.get(topic.pid or 0, 0),
        session_id=topic.session_id,
    )


def ask_row(found: OpenAsk, titles: Mapping[Place, str]) -> AskRow:
    ask = found.ask
    is_permission = isinstance(ask, PermissionRequest)
    shown = readable(ask) if isinstance(ask, PermissionRequest) else None
    assessment = found.assessment
    return AskRow(
        id=str(found.id),
        topic=titles.get(found.origin.place, ""),
        agent=found.origin.agent_title,
        title=reveal(found.title, with_blanks=False),
        subject=reveal(found.subject),
        risk="; ".join(assessment.reasons) if assessment else "",
        asked_at=found.opened_at,
        expires_at=found.expires_at,
        is_permission=is_permission,
        is_destructive=found.needs_second_step or (assessment is not None and assessment.risk is RiskClass.DESTRUCTIVE),
        details=(shown.diff or shown.plan or shown.arguments) if shown is not None else "",
        questions=ask.questions if isinstance(ask, QuestionRequest) else (),
    )


def rejected_row(refused: Refused) -> RejectedRow:
    key = str(refused.update_id)
    return RejectedRow(key, refused.at, refusal_text(refused.reason), refused.chat_id, refused.user_id, refused.name)


def rule_row(rule: Rule) -> RuleRow:
    what = rule.value or tr("everything with this tool")
    return RuleRow(rule.id, str(rule.project or ""), rule.tool, what, rule.created)


def audit_row(line: AuditLine) -> AuditRow:
    """Its id stays when newer lines come, so that the window keeps the selected one."""
    delivered = {True: tr("yes"), False: tr("no"), None: ""}[line.delivered]
    who = line.by_name or (str(line.by_id) if line.by_id else tr("the hub"))
    what = f"{line.tool}: {line.subject}" if line.tool else line.subject
    return AuditRow(
        f"{line.at}-{line.event}-{line.token}",
        line.at,
        who,
        way_text(line.way),
        reveal(what),
        event_text(line.event),
        delivered,
    )


def memory_of(pids: Sequence[int | None]) -> dict[int, int]:
    """Resident bytes of each process with its children; what is gone counts nothing."""
    sizes: dict[int, int] = {}
    for pid in {pid for pid in pids if pid}:
        try:
            process = psutil.Process(pid)
            family = [process, *process.children(recursive=True)]
            sizes[pid] = sum(memory_or_zero(member) for member in family)
        except psutil.Error:
            continue
    return sizes


def memory_or_zero(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def version_row(newer: Release | None) -> HealthRow:
    """The running version, and what is new."""
    if newer is None:
        return HealthRow(tr("Version"), version())
    said = tr("{version}; {newer} is there.", version=version(), newer=newer.version)
    return HealthRow(tr("Version"), said, None, newer.news, newer.link)


def poll_text(poll: PollState) -> str:
    return poll.problem.title if poll.problem else (tr("connected") if poll.is_connected else tr("connecting"))


def age_text(at: float | None, now: float) -> str:
    """Seconds while they say something, then the moment itself."""
    if at is None:
        return tr("none yet")
    if now - at < 120:
        return tr("{count} s ago", count=round(max(0.0, now - at)))
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")
