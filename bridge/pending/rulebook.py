"""What the hub answers by itself: the settings' classes, session scopes and project rules; never anything destructive.

Session rules end with the life of the agent's process; project rules come from the window only. Both are listed,
undone and audited. Rules are kept in memory and in the store; the store is written by the caller's transaction.
A project rule is sealed (``bridge.pending.seals``): one that the hub did not write itself grants nothing.
"""

from __future__ import annotations

import logging
import os.path
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agents.contract import HubError, PermissionRequest, ToolKind, Verdict
from bridge.audit import AuditEvent, AuditLine, Statement, insertion
from bridge.clock import Clock
from bridge.config import BridgeConfig
from bridge.inbound import Place
from bridge.pending import wording
from bridge.pending.records import HUB, AskOrigin, Decider, DecisionWay
from bridge.pending.seals import SealKeeper, is_sealed, seal_of
from bridge.policy.classes import Assessment, Mode
from bridge.policy.judge import Judge
from bridge.store import Database

log = logging.getLogger(__name__)


class RuleScope(StrEnum):
    """How long a rule stands."""

    SESSION = "session"
    PROJECT = "project"


class RuleMatch(StrEnum):
    """What a rule covers: one exact command, a tool inside one folder, or a tool altogether."""

    EXACT = "exact"
    FOLDER = "folder"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Rule:
    """A standing permission. ``project`` is the folder it holds in; ``place`` and ``epoch`` tie a session's rule."""

    id: str
    scope: RuleScope
    tool: str
    match: RuleMatch
    value: str
    by_name: str
    created: float
    place: Place | None = None
    epoch: str = ""
    project: Path | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A project rule as the window makes it; ``agent`` "" = any agent."""

    project: Path
    tool: str
    match: RuleMatch
    value: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Automatic:
    """A decision without a person, and why in a few words."""

    verdict: Verdict
    way: DecisionWay
    why: str


class Rulebook:
    """Judges requests and keeps the rules."""

    def __init__(
        self, config: Callable[[], BridgeConfig], database: Database, clock: Clock, new_id: Callable[[], str]
    ) -> None:
        self._config = config
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self.seals: SealKeeper | None = None
        """Set by the hub's owner before ``load``; without one there are no project rules."""
        self._rules: dict[str, Rule] = {}
        self._judge: Judge | None = None
        self._judged_by: BridgeConfig | None = None

    async def load(self) -> Sequence[str]:
        """Read the project rules; session rules of former runs are over. Returns what a person must hear."""
        self._database.execute(
            "UPDATE rules SET undone = ? WHERE scope = 'session' AND undone IS NULL", (self._clock.now(),)
        )
        rows = self._database.rows("SELECT * FROM rules WHERE undone IS NULL ORDER BY created")
        if not rows:
            return ()
        try:
            secret = await self.seals.read() if self.seals is not None else b""
        except HubError as error:
            log.warning("the secret of the project rules can't be read, so none is used: %s", error.title)
            return (wording.rules_unread(len(rows)),)
        sealed = [row for row in rows if is_sealed(row, secret)]
        self._rules.update({row["id"]: rule_of(row) for row in sealed})
        forged = [row for row in rows if row not in sealed]
        if not forged:
            return ()
        log.error("%d project rules are not the hub's own and are not used", len(forged))
        with self._database.transaction():
            for row in forged:
                self._database.execute(
                    "UPDATE rules SET undone = ?, seal = '' WHERE id IS ?", (self._clock.now(), row["id"])
                )
                self._database.execute(*insertion(self._refusal(row)))
        return (wording.rules_refused([f"{row['tool']}: {row['value'] or '*'}" for row in forged]),)

    def _refusal(self, row: sqlite3.Row) -> AuditLine:
        return AuditLine(
            at=self._clock.now(),
            event=AuditEvent.RULE_UNDONE,
            way=DecisionWay.HUB.value,
            by_id=HUB.id,
            by_name=HUB.shown_name,
            agent=str(row["agent"]),
            token=str(row["id"]),
            tool=str(row["tool"]),
            klass="project",
            subject=str(row["value"]),
            reason=wording.NOT_SEALED,
        )

    # --- judging

    def assess(self, origin: AskOrigin, ask: PermissionRequest) -> Assessment:
        """The class of a request under the settings of now."""
        config = self._config()
        if self._judge is None or self._judged_by is not config:
            self._judge, self._judged_by = Judge(config.policy, reads_pass=config.reads_pass), config
        return self._judge.assess(ask, origin.cwd)

    def ruling(self, origin: AskOrigin, ask: PermissionRequest, assessment: Assessment) -> Automatic | None:
        """What is decided without a person; None = ask. A locked hub calls ``denial`` instead."""
        denied = self.denial(ask, assessment)
        if denied is not None or assessment.needs_second_step or ask.plan:
            return denied
        if assessment.mode is Mode.ALLOW:
            return Automatic(Verdict.ALLOW, DecisionWay.POLICY, wording.class_passes(assessment.label))
        has_scopes = self._config().allows_session_scope
        for rule in self._rules.values():
            if covers(rule, origin, ask) and (has_scopes or rule.scope is RuleScope.PROJECT):
                return Automatic(
                    Verdict.ALLOW, DecisionWay.RULE, wording.rule_why(rule.scope.value, rule.tool, rule.value)
                )
        return None

    @staticmethod
    def denial(ask: PermissionRequest, assessment: Assessment) -> Automatic | None:
        """A class that the settings deny. A plan is only a text: it is always shown."""
        if assessment.mode is Mode.DENY and not ask.plan:
            return Automatic(Verdict.DENY, DecisionWay.POLICY, wording.settings_reason(assessment.label))
        return None

    # --- rules

    def session_rule(self, origin: AskOrigin, ask: PermissionRequest, by: Decider) -> tuple[Rule, Sequence[Statement]]:
        """A rule for this life of the session, to be stored with the decision and then put in force."""
        match, value = RuleMatch.EXACT, exact_of(ask)
        if ask.kind is ToolKind.EDIT:
            match, value = RuleMatch.FOLDER, str(folder_of(ask))
        rule = Rule(
            id=self._new_id(),
            scope=RuleScope.SESSION,
            tool=ask.tool,
            match=match,
            value=value,
            by_name=by.shown_name,
            created=self._clock.now(),
            place=origin.place,
            epoch=origin.epoch,
            project=ask.cwd,
            agent=origin.agent,
        )
        return rule, self._addition(rule, by, DecisionWay.BUTTON)

    async def add_project_rule(self, draft: RuleDraft, by: Decider) -> Rule:
        """A rule for a project. Only the desktop window calls this.

        Raises StoreError, ValueError for an empty one, HubError when the secret of its seal can't be had.
        """
        if not draft.tool or (draft.match is not RuleMatch.TOOL and not draft.value):
            raise ValueError("a rule names its tool and what of it")
        rule = Rule(
            id=self._new_id(),
            scope=RuleScope.PROJECT,
            tool=draft.tool,
            match=draft.match,
            value=draft.value,
            by_name=by.shown_name,
            created=self._clock.now(),
            project=draft.project,
            agent=draft.agent,
        )
        if self.seals is None:
            raise HubError(wording.no_seals())
        statements = self._addition(rule, by, DecisionWay.DESKTOP, await self.seals.make())
        await self._database.durably(lambda connection: [connection.execute(*statement) for statement in statements])
        self.put_in_force(rule)
        return rule

    def put_in_force(self, rule: Rule) -> None:
        """From now on it answers by itself; call it after its row is stored."""
        self._rules[rule.id] = rule

    async def undo(self, rule_id: str, by: Decider, way: DecisionWay) -> Rule | None:
        """End a rule at once, then write it; None when there is no such rule (any more)."""
        rule = self._rules.pop(rule_id, None)
        if rule is None:
            return None
        now = self._clock.now()
        statements = [
            ("UPDATE rules SET undone = ?, seal = '' WHERE id = ?", (now, rule.id)),
            insertion(self._line(rule, AuditEvent.RULE_UNDONE, by, way)),
        ]
        await self._database.durably(lambda connection: [connection.execute(*statement) for statement in statements])
        return rule

    def session_ended(self, place: Place) -> None:
        """Session rules of a topic end with its process."""
        over = [rule for rule in self._rules.values() if rule.scope is RuleScope.SESSION and rule.place == place]
        for rule in over:
            del self._rules[rule.id]
            self._database.execute("UPDATE rules SET undone = ? WHERE id = ?", (self._clock.now(), rule.id))

    def standing(self) -> Sequence[Rule]:
        """All rules in force, oldest first."""
        return tuple(self._rules.values())

    def _addition(self, rule: Rule, by: Decider, way: DecisionWay, secret: bytes = b"") -> Sequence[Statement]:
        row = {
            "id": rule.id,
            "scope": rule.scope.value,
            "chat_id": rule.place.chat_id if rule.place else None,
            "topic_id": rule.place.topic_id if rule.place else None,
            "epoch": rule.epoch,
            "project": str(rule.project or ""),
            "agent": rule.agent,
            "tool": rule.tool,
            "match": rule.match.value,
            "value": rule.value,
            "by_id": by.id,
            "by_name": by.shown_name,
            "created": rule.created,
        }
        row["seal"] = seal_of(row, secret) if secret else ""
        statement = f"INSERT INTO rules ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"  # noqa: S608 - our names
        return (statement, tuple(row.values())), insertion(self._line(rule, AuditEvent.RULE_ADDED, by, way))

    def _line(self, rule: Rule, event: AuditEvent, by: Decider, way: DecisionWay) -> AuditLine:
        return AuditLine(
            at=self._clock.now(),
            event=event,
            way=way.value,
            by_id=by.id,
            by_name=by.shown_name,
            place=rule.place,
            agent=rule.agent,
            token=rule.id,
            tool=rule.tool,
            klass=f"{rule.scope.value} {rule.match.value}",
            subject=rule.value,
            reason=str(rule.project or ""),
        )


def rule_of(row: sqlite3.Row) -> Rule:
    """A project rule as it is stored."""
    return Rule(
        id=row["id"],
        scope=RuleScope(row["scope"]),
        tool=row["tool"],
        match=RuleMatch(row["match"]),
        value=row["value"],
        by_name=row["by_name"],
        created=row["created"],
        project=Path(row["project"]),
        agent=row["agent"],
    )


def covers(rule: Rule, origin: AskOrigin, ask: PermissionRequest) -> bool:
    """Whether a rule answers this request. Sub-agents are covered like the agent itself."""
    if rule.tool != ask.tool or (rule.agent and rule.agent != origin.agent):
        return False
    if rule.scope is RuleScope.SESSION:
        here = (origin.place, origin.epoch, ask.cwd)
        return (rule.place, rule.epoch, rule.project) == here and matches(rule, ask)
    return rule.project is not None and inside(ask.cwd, rule.project) and matches(rule, ask)


def matches(rule: Rule, ask: PermissionRequest) -> bool:
    """Whether the rule's exact command, folder or tool is the request's."""
    if rule.match is RuleMatch.TOOL:
        return ask.kind is not ToolKind.EXECUTE
    if not ask.subject:
        return False
    if rule.match is RuleMatch.EXACT:
        return exact_of(ask) == rule.value
    return ask.kind is ToolKind.EDIT and folder_of(ask) == Path(rule.value)


def exact_of(ask: PermissionRequest) -> str:
    """What an exact rule holds on to. The subject of a tool nobody knows is often a mere name: its arguments count."""
    return f"{ask.subject}\n{ask.arguments}" if ask.kind is ToolKind.OTHER and ask.arguments else ask.subject


def folder_of(ask: PermissionRequest) -> Path:
    """The folder of the file an edit is about, links not followed."""
    return Path(os.path.normpath(ask.cwd / ask.subject)).parent


def inside(folder: Path, root: Path) -> bool:
    """Whether a session's folder is the project or lies in it."""
    return Path(os.path.normpath(folder)).is_relative_to(os.path.normpath(root))
