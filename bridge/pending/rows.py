"""Statements for the table of asks and the way back from a row. Run by whoever holds the transaction. Pure SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from agents.contract import ToolKind, Verdict
from bridge.audit import SUBJECT_LIMIT, AuditEvent, AuditLine, Rows, Statement, insertion, storable
from bridge.inbound import Place
from bridge.pending.records import HUB, AskKind, AskState, Decider, DecisionWay, DueWords
from bridge.pending.registry import LiveAsk
from bridge.store import Database


@dataclass(frozen=True, slots=True)
class PastAsk:
    """A stored request; ``told`` None = not known."""

    token: str
    place: Place
    agent: str
    agent_title: str
    cwd: Path
    kind: AskKind
    tool: str
    tool_kind: ToolKind
    sub_agent: str
    klass: str
    title: str
    subject: str
    showings: int
    state: AskState
    verdict: Verdict | None
    reason: str
    by_id: int | None
    by_name: str
    way: DecisionWay | None
    opened_at: float
    expires_at: float
    decided_at: float | None
    told: bool | None


def opening(live: LiveAsk, life: str) -> Statement:
    """The row of a new request."""
    origin = live.origin
    return (
        "INSERT INTO asks (token, ask_id, life, chat_id, topic_id, agent, agent_title, epoch, cwd, kind, tool,"
        " tool_kind, sub_agent, class, title, subject, state, opened, expires)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            live.token,
            live.id,
            life,
            origin.place.chat_id,
            origin.place.topic_id,
            origin.agent,
            origin.agent_title,
            origin.epoch,
            str(origin.cwd),
            live.kind.value,
            storable(live.tool),
            live.tool_kind.value,
            storable(live.ask.sub_agent),
            live.klass,
            storable(live.title),
            storable(live.subject[:SUBJECT_LIMIT]),
            live.state.value,
            live.opened_at,
            live.expires_at,
        ),
    )


def closing(live: LiveAsk) -> Statement:
    """The row of a request whose state has changed: decision, expiry, withdrawal, end."""
    return (
        "UPDATE asks SET state = ?, verdict = ?, reason = ?, by_id = ?, by_name = ?, way = ?, decided = ?, told = ?,"
        " showings = ?, words_due = ? WHERE token = ?",
        (
            live.state.value,
            live.verdict.value if live.verdict else "",
            storable(live.reason),
            live.by.id if live.by else None,
            live.by_name,
            live.way.value if live.way else "",
            live.decided_at,
            None if live.delivered is None else int(live.delivered),
            live.showings,
            int(live.due_words is not None),
            live.token,
        ),
    )


def words_due(database: Rows) -> Sequence[DueWords]:
    """What persons said with denials and no agent was told yet, oldest first."""
    found = database.rows("SELECT chat_id, topic_id, token, reason FROM asks WHERE words_due = 1 ORDER BY decided")
    return tuple(DueWords(Place(row["chat_id"], row["topic_id"]), row["token"], row["reason"]) for row in found)


def words_given(token: str) -> Statement:
    """Nothing more will come of the words with this denial."""
    return "UPDATE asks SET words_due = 0 WHERE token = ?", (token,)


def words_taken_back(token: str) -> Statement:
    """The words with this denial are due again."""
    return "UPDATE asks SET words_due = 1 WHERE token = ?", (token,)


def words_moved(old: Place, new: Place) -> Statement:
    """Words that are due in one topic are due in another."""
    return (
        "UPDATE asks SET chat_id = ?, topic_id = ? WHERE words_due = 1 AND chat_id = ? AND topic_id = ?",
        (new.chat_id, new.topic_id, old.chat_id, old.topic_id),
    )


def audited(live: LiveAsk, event: AuditEvent) -> Statement:
    """The audit line of what just happened to a live request."""
    line = described(live, event, live.way or DecisionWay.HUB, live.decided_at)
    by_id = live.by.id if live.by else None
    return insertion(replace(line, by_id=by_id, by_name=live.by_name, reason=live.reason, delivered=live.delivered))


class Described(Protocol):
    """What the audit tells about a request, live or stored."""

    @property
    def token(self) -> str: ...
    @property
    def place(self) -> Place: ...
    @property
    def agent(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def klass(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def subject(self) -> str: ...


def described(ask: Described, event: AuditEvent, way: DecisionWay, now: float) -> AuditLine:
    """A line about a request, without who."""
    return AuditLine(
        at=now,
        event=event,
        way=way.value,
        place=ask.place,
        agent=ask.agent,
        token=ask.token,
        tool=ask.tool,
        klass=ask.klass,
        subject=ask.subject or ask.title,
    )


def tried(ask: Described, event: AuditEvent, by: Decider, way: DecisionWay, now: float) -> Statement:
    """The audit line of a try that changed nothing."""
    return insertion(replace(described(ask, event, way, now), by_id=by.id, by_name=by.shown_name))


def settled(token: str, state: AskState, told: bool | None) -> Statement:
    """Only the state and whether the agent was told."""
    return (
        "UPDATE asks SET state = ?, told = ? WHERE token = ?",
        (state.value, None if told is None else int(told), token),
    )


def run(connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
    """Execute on the durable connection."""
    for sql, values in statements:
        connection.execute(sql, values)


def past(database: Database, token: str) -> PastAsk | None:
    """A request of any run of the hub."""
    row = database.row("SELECT * FROM asks WHERE token = ?", (token,))
    return None if row is None else as_past(row)


def unsettled(database: Database, life: str) -> Sequence[PastAsk]:
    """What former runs left open, or decided without knowing whether the agent heard it."""
    found = database.rows(
        "SELECT * FROM asks WHERE state IN ('open', 'decided') AND life != ? ORDER BY opened", (life,)
    )
    return tuple(as_past(row) for row in found)


def open_rows(database: Rows) -> Sequence[PastAsk]:
    """What waits for a person, oldest first."""
    return tuple(as_past(row) for row in database.rows("SELECT * FROM asks WHERE state = 'open' ORDER BY opened"))


def corrected(ask: PastAsk, now: float) -> Sequence[Statement]:
    """What a later run knows of it; a void one gets its audit line."""
    update = (
        "UPDATE asks SET state = ?, reason = ?, way = ?, decided = coalesce(decided, ?) WHERE token = ?",
        (ask.state.value, ask.reason, ask.way.value if ask.way else "", now, ask.token),
    )
    if ask.state is not AskState.VOID:
        return (update,)
    line = described(ask, AuditEvent.VOID, DecisionWay.HUB, now)
    return update, insertion(replace(line, by_name=HUB.shown_name, reason=ask.reason))


def as_past(row: sqlite3.Row) -> PastAsk:
    """A stored row as values."""
    return PastAsk(
        token=row["token"],
        place=Place(row["chat_id"], row["topic_id"]),
        agent=row["agent"],
        agent_title=row["agent_title"],
        cwd=Path(row["cwd"]),
        kind=AskKind(row["kind"]),
        tool=row["tool"],
        tool_kind=ToolKind(row["tool_kind"]),
        sub_agent=row["sub_agent"],
        klass=row["class"],
        title=row["title"],
        subject=row["subject"],
        showings=row["showings"],
        state=AskState(row["state"]),
        verdict=Verdict(row["verdict"]) if row["verdict"] else None,
        reason=row["reason"],
        by_id=row["by_id"],
        by_name=row["by_name"],
        way=DecisionWay(row["way"]) if row["way"] else None,
        opened_at=row["opened"],
        expires_at=row["expires"],
        decided_at=row["decided"],
        told=None if row["told"] is None else bool(row["told"]),
    )
