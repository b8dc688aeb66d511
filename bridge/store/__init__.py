"""What must not be lost: one SQLite file with numbered migrations, and the journal of updates."""

from __future__ import annotations

from bridge.store.database import Database
from bridge.store.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreTooNewError,
    StoreUnusableError,
)
from bridge.store.journal import Journal, JournalEntry, UpdateState

__all__ = [
    "Database",
    "Journal",
    "JournalEntry",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreTooNewError",
    "StoreUnusableError",
    "UpdateState",
]
