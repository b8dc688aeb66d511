"""The record of every decision: who, when, what, by which way, and whether the agent got it.

Statements are built here and run by whoever holds the transaction, so that a decision and its line are one commit.
Nothing in this module decides anything. Event loop's thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from bridge.inbound import Place

Statement = tuple[str, tuple[object, ...]]
"""One SQL statement with its values."""

SUBJECT_LIMIT = 10_000
"""Characters of a command that are kept; the rest is cut with a mark."""
DAY = 86_400.0


class AuditEvent(StrEnum):
    """What a line tells."""

    ALLOWED = "allowed"
    DENIED = "denied"
    ANSWERED = "answered"
    DECLINED = "declined"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    VOID = "void"
    REFUSED = "refused"
    LATE = "late"
    RULE_ADDED = "rule added"
    RULE_UNDONE = "rule undone"
    LOCKED = "locked"
    UNLOCKED = "unlocked"
    WRONG_CODE = "wrong code"


DECISIONS = frozenset(
    {AuditEvent.ALLOWED, AuditEvent.DENIED, AuditEvent.ANSWERED, AuditEvent.DECLINED, AuditEvent.EXPIRED}
)
"""Events whose answer goes to an agent, so that "delivered" means something."""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line. ``at`` is wall clock, seconds; ``delivered`` None = not known or not meant for an agent."""

    at: float
    event: AuditEvent
    way: str
    by_id: int | None = None
    by_name: str = ""
    place: Place | None = None
    agent: str = ""
    token: str = ""
    tool: str = ""
    klass: str = ""
    subject: str = ""
    reason: str = ""
    delivered: bool | None = None


def insertion(line: AuditLine) -> Statement:
    """The statement that writes a line."""
    return (
        "INSERT INTO audit (at, event, way, by_id, by_name, chat_id, topic_id, agent, token, tool, class, subject,"
        " reason, is_decision, delivered) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            line.at,
            line.event.value,
            line.way,
            line.by_id,
            line.by_name,
            line.place.chat_id if line.place else None,
            line.place.topic_id if line.place else None,
            line.agent,
            line.token,
            storable(line.tool),
            line.klass,
            shortened(line.subject),
            storable(line.reason),
            int(line.event in DECISIONS),
            None if line.delivered is None else int(line.delivered),
        ),
    )


def delivery_note(token: str, *, delivered: bool) -> Statement:
    """The statement that marks an ask's decision as taken (or not) by the agent."""
    return "UPDATE audit SET delivered = ? WHERE token = ? AND is_decision = 1", (int(delivered), token)


def shortened(subject: str) -> str:
    """At most SUBJECT_LIMIT characters."""
    subject = storable(subject)
    if len(subject) <= SUBJECT_LIMIT:
        return subject
    return f"{subject[:SUBJECT_LIMIT]}… (+{len(subject) - SUBJECT_LIMIT})"


class Rows(Protocol):
    """Whatever can read the hub's tables: the open database, or a glance at it."""

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[sqlite3.Row]: ...


def storable(text: str) -> str:
    """Without halves of surrogate pairs, which agents do send and SQLite does not take."""
    return text.encode("utf-8", "replace").decode("utf-8")


def audit_lines(database: Rows, *, since: float = 0.0, limit: int | None = None) -> Sequence[AuditLine]:
    """Lines from ``since`` on, oldest first; with ``limit`` the newest that many. For ``agent-hub audit``."""
    found = database.rows(
        "SELECT * FROM audit WHERE at >= ? ORDER BY id DESC LIMIT ?", (since, -1 if limit is None else limit)
    )
    return tuple(as_line(row) for row in reversed(found))


def as_line(row: sqlite3.Row) -> AuditLine:
    """A stored line."""
    place = None if row["chat_id"] is None else Place(row["chat_id"], row["topic_id"])
    return AuditLine(
        at=row["at"],
        event=AuditEvent(row["event"]),
        way=row["way"],
        by_id=row["by_id"],
        by_name=row["by_name"],
        place=place,
        agent=row["agent"],
        token=row["token"],
        tool=row["tool"],
        klass=row["class"],
        subject=row["subject"],
        reason=row["reason"],
        delivered=None if row["delivered"] is None else bool(row["delivered"]),
    )


def pruning(now: float, days: int) -> Iterator[Statement]:
    """The statements that forget what is older than ``days``; open asks are never touched."""
    before = now - days * DAY
    yield "DELETE FROM audit WHERE at < ?", (before,)
    yield "DELETE FROM asks WHERE opened < ? AND state NOT IN ('open', 'decided')", (before,)
    yield "DELETE FROM rules WHERE undone < ?", (before,)
