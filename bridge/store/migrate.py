"""Brings a database file to the newest shape: one numbered SQL file at a time, each in one transaction.

Files are ``migrations/NNNN_name.sql``. Numbers are never reused and files never change once released. Any file not
yet recorded is applied in the order of the numbers, so that parts of the hub may keep ranges of their own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from bridge.store.errors import StoreTooNewError
from bridge.texts import tr


@dataclass(frozen=True, slots=True)
class Migration:
    """One step; ``sql`` holds statements without BEGIN and COMMIT."""

    number: int
    name: str
    sql: str


def packaged_migrations() -> tuple[Migration, ...]:
    """Every step that belongs to this version of the hub, by number."""
    folder = resources.files("bridge.store") / "migrations"
    found = []
    for file in folder.iterdir():
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, file.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda step: step.number))


def applied(connection: sqlite3.Connection) -> frozenset[int]:
    """Numbers of the steps this file has behind it; none for a new file."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
    if known is None:
        return frozenset()
    return frozenset(number for (number,) in connection.execute("SELECT number FROM migrations"))


def missing(connection: sqlite3.Connection, steps: Sequence[Migration]) -> tuple[Migration, ...]:
    """Steps still to take. Raises StoreTooNewError when the file knows steps that this version does not."""
    done = applied(connection)
    unknown = done - {step.number for step in steps}
    if unknown:
        raise StoreTooNewError(
            tr("The hub's database was written by a newer version of agent-hub."),
            tr("Install the newer version again, or use another data folder."),
            f"unknown migrations: {sorted(unknown)}",
        )
    return tuple(step for step in steps if step.number not in done)


def migrate(connection: sqlite3.Connection, steps: Sequence[Migration], now: float) -> None:
    """Take the steps; a step that fails leaves the file as it was before that step."""
    for step in steps:
        record = "INSERT INTO migrations (number, name, applied) VALUES (?, ?, ?)"
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations"
                " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied REAL NOT NULL)"
            )
            for statement in statements(step.sql):
                connection.execute(statement)
            connection.execute(record, (step.number, step.name, now))
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def statements(script: str) -> list[str]:
    """The script cut into complete statements; ``executescript`` would commit on its own."""
    found: list[str] = []
    current = ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    if current.strip() and not current.strip().startswith("--"):
        found.append(current)
    return found
