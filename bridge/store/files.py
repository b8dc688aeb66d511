"""The files beside the database: its backup, and where a damaged one is kept. Nothing is ever deleted here."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

BACKUP_EVERY = 24 * 3600.0
"""Seconds between two backups; one is made when the hub starts."""


def backup_of(path: Path) -> Path:
    """Where the last good copy lies."""
    return path.with_name(path.name + ".backup")


def write_backup(connection: sqlite3.Connection, path: Path, now: float, *, is_due: bool) -> None:
    """Copy a checked database beside itself when the last copy is old, or ``is_due`` (its shape is to change)."""
    backup = backup_of(path)
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return
    if not is_due and backup.exists() and now - backup.stat().st_mtime < BACKUP_EVERY:
        return
    fresh = path.with_name(path.name + ".backup-new")
    fresh.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(fresh)) as copy:
        connection.backup(copy)
    fresh.replace(backup)


def set_aside(path: Path, now: float) -> Path:
    """Move a damaged database and its log out of the way; returns its new name."""
    kept = path.with_name(f"{path.name}.damaged-{int(now)}")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.damaged-{int(now)}-{number}")
    path.replace(kept)
    for suffix in ("-wal", "-shm"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.replace(kept.with_name(kept.name + suffix))
    return kept


def restore_backup(path: Path) -> bool:
    """Put the last good copy in place if it is readable; False when there is none."""
    backup = backup_of(path)
    if not backup.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(backup)) as copy:
            is_sound = bool(copy.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False
    if is_sound:
        shutil.copyfile(backup, path)
    return is_sound
