"""The hub's one SQLite file (WAL): a connection for the event loop's thread and a fully synchronous one beside it.

Commits through ``transaction`` survive a crash of the process (synchronous NORMAL, about 0.01 ms); commits through
``durably`` also survive a power cut (FULL, 0.15 ms on a fast disk, far more on a laptop) and therefore run in a worker
thread. All methods but ``open`` and ``close`` belong to the event loop's thread. A transaction must never be held
over an ``await``: a statement of another task would join it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from bridge.clock import Clock
from bridge.store.errors import StoreDamagedError, StoreError, store_error
from bridge.store.files import restore_backup, set_aside, write_backup
from bridge.store.migrate import migrate, missing, packaged_migrations

log = logging.getLogger(__name__)

T = TypeVar("T")
Parameters = Sequence[object] | Mapping[str, object]

LOCK_WAIT = 5.0
"""Seconds to wait for another program that holds the file."""
LOCK_WAIT_OF_LOOP = 1.0
"""The same in the event loop's thread, which can do nothing else meanwhile."""
CHECKPOINT_EVERY = 400
"""Commits of the loop's thread between two checkpoints; they run in the worker, because they write to the disk."""


class Database:
    """Reads, short transactions and durable commits on the hub's file."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Use ``Database.open``."""
        self.path = path
        self.recovered_from: Path | None = None
        """Where the damaged file of a former life was kept, None when all was well."""
        self._clock = clock
        self._writing = threading.Lock()
        self._depth = 0
        self._commits = 0
        self._after_commit: list[Callable[[], None]] = []
        self._after_rollback: list[Callable[[], None]] = []
        self._near = connect(path, "NORMAL", LOCK_WAIT_OF_LOOP)
        self._far = connect(path, "FULL")
        self._near.execute("PRAGMA wal_autocheckpoint = 0")
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")

    @classmethod
    def open(cls, path: Path, clock: Clock) -> Database:
        """Open, check and migrate the file; make it when it is missing. Blocks; call it before the loop is busy.

        A damaged file is kept under another name and the last backup (or an empty database) takes its place:
        ``recovered_from`` then says where the damaged one lies. Raises StoreError in every other trouble.
        """
        kept: Path | None = None
        try:
            try:
                prepare(path, clock)
            except (sqlite3.DatabaseError, StoreDamagedError) as error:
                if not is_damage(error):
                    raise
                kept = set_aside(path, clock.now())
                log.exception("the database was damaged; it is kept as %s", kept)
                restore_backup(path)
                prepare(path, clock)
                forget_unsent(path)
            database = cls(path, clock)
        except (sqlite3.Error, OSError) as error:
            raise store_error(error, path) from error
        database.recovered_from = kept
        return database

    def close(self) -> None:
        """Wait for durable commits under way, then close both connections."""
        self._worker.shutdown(wait=True)
        self._near.close()
        self._far.close()

    # --- reading

    def rows(self, sql: str, parameters: Parameters = ()) -> list[sqlite3.Row]:
        """All rows of a query, own uncommitted changes included."""
        return self._run(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Parameters = ()) -> sqlite3.Row | None:
        """The first row of a query or None."""
        found: sqlite3.Row | None = self._run(sql, parameters).fetchone()
        return found

    # --- writing in the loop's thread

    def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Change something, in the open transaction or in one of its own; returns the number of rows changed."""
        with self.transaction():
            return self._run(sql, parameters).rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """One commit for everything inside; an inner one joins the outer. Any exception undoes all of it.

        Never await inside. Raises StoreError; the database is then as it was before.
        """
        if self._depth:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            return
        try:
            with self._writing, self._one_commit():
                yield
        except BaseException:
            self._tell(committed=False)
            raise
        self._tell(committed=True)

    def after_commit(self, call: Callable[[], None]) -> None:
        """Run ``call`` once the open transaction is committed; at once when there is none."""
        if self._depth:
            self._after_commit.append(call)
        else:
            call()

    def after_rollback(self, call: Callable[[], None]) -> None:
        """Run ``call`` if the open transaction is undone."""
        if self._depth:
            self._after_rollback.append(call)

    # --- writing durably

    async def durably(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in one fully synchronous transaction in the worker thread.

        ``work`` gets the connection and must touch nothing else. When this returns, the change is on the disk.
        Raises StoreError; nothing of ``work`` was kept then. Cancelling the caller does not stop the commit.
        """
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._durable, work)

    def _durable(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._writing:
            try:
                self._far.execute("BEGIN IMMEDIATE")
                result = work(self._far)
                self._far.execute("COMMIT")
            except sqlite3.Error as error:
                roll_back(self._far)
                raise store_error(error, self.path) from error
            except BaseException:
                roll_back(self._far)
                raise
            return result

    # --- inside

    def _run(self, sql: str, parameters: Parameters) -> sqlite3.Cursor:
        try:
            return self._near.execute(sql, parameters)
        except sqlite3.Error as error:
            raise store_error(error, self.path) from error

    @contextlib.contextmanager
    def _one_commit(self) -> Iterator[None]:
        self._run("BEGIN IMMEDIATE", ())
        self._depth = 1
        try:
            yield
            self._run("COMMIT", ())
        except BaseException:
            roll_back(self._near)
            raise
        finally:
            self._depth = 0
        self._commits += 1
        if self._commits % CHECKPOINT_EVERY == 0:
            self._worker.submit(self._checkpoint)

    def _tell(self, *, committed: bool) -> None:
        calls = self._after_commit if committed else self._after_rollback
        self._after_commit, self._after_rollback = [], []
        for call in calls:
            call()

    def _checkpoint(self) -> None:
        try:
            self._far.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error as error:
            log.warning("checkpoint put off: %s", error)


def connect(path: Path, synchronous: str, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """A connection in autocommit mode; transactions are begun by hand."""
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def roll_back(connection: sqlite3.Connection) -> None:
    """Undo what is open; after some errors SQLite has done it already."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def prepare(path: Path, clock: Clock) -> None:
    """Check the file, keep a backup of a good one, and bring it to the newest shape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(connect(path, "FULL")) as connection:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise StoreDamagedError("The hub's database is damaged.", detail=f"{path}: {verdict}")
        steps = packaged_migrations()
        to_do = missing(connection, steps)
        write_backup(connection, path, clock.now(), is_due=bool(to_do) and len(to_do) < len(steps))
        migrate(connection, to_do, clock.now())


def is_damage(error: sqlite3.DatabaseError | StoreError) -> bool:
    """Whether the file itself is broken (and not merely held, full or forbidden)."""
    if isinstance(error, StoreDamagedError):
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def forget_unsent(path: Path) -> None:
    """A backup may hold messages that went out after it was made: none of them is sent a second time."""
    with contextlib.closing(connect(path, "FULL")) as connection:
        connection.execute(
            "UPDATE outbox SET state = 'failed', failure = 'lost with a damaged database' WHERE state != 'sent'"
        )
