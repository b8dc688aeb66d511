"""How the database can fail, each with what a person can do about it. SQLite's own texts go to ``detail`` only."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from agents.contract import HubError
from bridge.texts import tr


class StoreError(HubError):
    """The hub's database could not do what was asked; nothing of the failed change was kept."""


class StoreBusyError(StoreError):
    """Another program holds the database."""


class StoreFullError(StoreError):
    """The disk is full or the file may not grow."""


class StoreDamagedError(StoreError):
    """The file is not (any more) a readable database."""


class StoreTooNewError(StoreError):
    """The file was written by a newer version of the hub."""


class StoreUnusableError(StoreError):
    """The file can't be opened or written at all (rights, missing folder)."""


def store_error(error: sqlite3.Error | OSError, path: Path) -> StoreError:
    """The error a person may see for one of SQLite's (result codes: sqlite.org/rescode.html)."""
    detail = f"{path}: {error}"
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    text = str(error).lower()
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(
            tr("Another program is using the hub's database."),
            tr("Close the other agent-hub (or the database viewer) and start again."),
            detail,
        )
    if primary == sqlite3.SQLITE_FULL or "disk is full" in text or "no space" in text:
        return StoreFullError(
            tr("The disk is full: the hub can't write its database."),
            tr("Free some space. The hub goes on by itself; nothing that was written is lost."),
            detail,
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamagedError(
            tr("The hub's database is damaged."),
            tr("A copy is kept beside it. Start the hub again; it begins from its last backup."),
            detail,
        )
    return StoreUnusableError(
        tr("The hub can't use its database."),
        tr("Check that the data folder exists and may be written."),
        detail,
    )
