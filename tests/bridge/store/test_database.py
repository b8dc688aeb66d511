"""The database: one commit or none, and no trouble that loses what was written."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from bridge.store import (
    Database,
    Journal,
    StoreBusyError,
    StoreDamagedError,
    StoreFullError,
    StoreTooNewError,
    StoreUnusableError,
)
from bridge.store import database as module
from bridge.store.files import backup_of
from bridge.store.migrate import Migration, migrate, packaged_migrations
from tests.bridge.clocks import HandClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.db"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def put(database: Database, chat: int) -> None:
    database.execute("INSERT INTO floods (chat_id, until) VALUES (?, 0)", (chat,))


def chats(database: Database) -> list[int]:
    return [row["chat_id"] for row in database.rows("SELECT chat_id FROM floods ORDER BY chat_id")]


def test_what_was_committed_is_there_after_a_new_start(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    put(database, 1)
    database.close()
    again = Database.open(path, clock)
    assert chats(again) == [1]
    assert again.recovered_from is None
    again.close()


def test_an_inner_transaction_joins_the_outer_and_an_error_undoes_both(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)

    def fail_inside() -> None:
        with database.transaction():
            put(database, 1)
            with database.transaction():
                put(database, 2)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail_inside()
    assert chats(database) == []
    with database.transaction():
        put(database, 3)
        with database.transaction():
            put(database, 4)
    assert chats(database) == [3, 4]
    database.close()


def test_calls_for_after_the_commit_wait_for_the_outermost_one(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    seen: list[str] = []
    with database.transaction():
        with database.transaction():
            database.after_commit(lambda: seen.append("done"))
        assert seen == []
    assert seen == ["done"]

    def fail_inside() -> None:
        with database.transaction():
            database.after_commit(lambda: seen.append("never"))
            database.after_rollback(lambda: seen.append("undone"))
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail_inside()
    assert seen == ["done", "undone"]
    database.close()


@pytest.mark.asyncio
async def test_a_durable_change_is_synchronous_full_and_seen_by_the_loop(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)

    def work(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO floods (chat_id, until) VALUES (7, 0)")
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])

    assert await database.durably(work) == 2
    assert chats(database) == [7]
    assert database.rows("PRAGMA synchronous")[0][0] == 1
    database.close()


@pytest.mark.asyncio
async def test_a_failed_durable_change_leaves_nothing(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)

    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO floods (chat_id, until) VALUES (7, 0)")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await database.durably(work)
    assert chats(database) == []
    database.close()


@pytest.mark.asyncio
async def test_both_connections_write_side_by_side(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)

    def work(number: int) -> None:
        async_number = number

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO floods (chat_id, until) VALUES (?, 0)", (async_number,))

        tasks.append(asyncio.ensure_future(database.durably(insert)))

    tasks: list[asyncio.Future[None]] = []
    for number in range(100):
        work(number)
        put(database, 1000 + number)
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert len(chats(database)) == 200
    database.close()


def test_a_full_disk_is_said_and_nothing_is_corrupted(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    put(database, 1)
    pages = database.rows("PRAGMA page_count")[0][0]
    database.rows(f"PRAGMA max_page_count = {pages}")

    def put_many() -> None:
        with database.transaction():
            for chat in range(2, 5000):
                put(database, chat)

    with pytest.raises(StoreFullError) as caught:
        put_many()
    assert "disk is full" in caught.value.title.lower()
    assert chats(database) == [1]
    database.rows(f"PRAGMA max_page_count = {pages + 1000}")
    put(database, 2)
    database.close()
    again = Database.open(path, clock)
    assert chats(again) == [1, 2]
    again.close()


@pytest.mark.asyncio
async def test_a_full_disk_refuses_the_journal_and_later_takes_it(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    journal = Journal(database, clock)
    full = {"update_id": 1, "message": {"text": "x" * 400_000}}

    def limit(connection: sqlite3.Connection, extra: int) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + extra}")

    database_far = database._far
    limit(database_far, 1)
    with pytest.raises(StoreFullError):
        await journal.record([full])
    assert journal.unfinished() == []
    limit(database_far, 1000)
    assert [entry.update_id for entry in await journal.record([full])] == [1]
    database.close()


def test_a_locked_database_is_said_clearly(path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    Database.open(path, clock).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(module, "LOCK_WAIT", 0.05)
    monkeypatch.setattr(module.connect, "__defaults__", (0.05,))
    with pytest.raises(StoreBusyError) as caught:
        Database.open(path, clock)
    assert caught.value.hint
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.parametrize("damage", [b"this is no database at all, only a text of some length. " * 40, b"\x00" * 9000])
def test_a_damaged_database_is_kept_and_the_last_backup_takes_its_place(
    path: Path, clock: HandClock, damage: bytes
) -> None:
    database = Database.open(path, clock)
    put(database, 1)
    database.close()
    Database.open(path, clock).close()  # writes the backup
    assert backup_of(path).exists()
    path.write_bytes(damage)
    again = Database.open(path, clock)
    assert again.recovered_from is not None
    assert again.recovered_from.read_bytes() == damage
    assert chats(again) == [1]
    again.close()


def test_a_database_with_a_broken_page_is_noticed_at_the_start(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    with database.transaction():
        for chat in range(3000):
            put(database, chat)
    database.close()
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = b"\xff" * len(content[4096 * 3 :])
    path.write_bytes(bytes(content))
    again = Database.open(path, clock)
    assert again.recovered_from is not None
    assert chats(again) == []
    again.close()


def test_messages_of_a_restored_backup_are_not_sent_a_second_time(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    database.execute(
        "INSERT INTO outbox (key, chat_id, klass, html, text, posted, changed) VALUES ('k', 1, 2, 'a', 'a', 0, 0)"
    )
    database.close()
    Database.open(path, clock).close()
    path.write_bytes(b"broken" * 1000)
    again = Database.open(path, clock)
    assert [row["state"] for row in again.rows("SELECT state FROM outbox")] == ["failed"]
    again.close()


def test_a_folder_that_can_not_be_used_is_said(tmp_path: Path, clock: HandClock) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnusableError):
        Database.open(tmp_path / "file" / "hub.db", clock)


def test_a_database_of_a_newer_version_is_left_alone(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    database.execute("INSERT INTO migrations (number, name, applied) VALUES (9999, 'future', 0)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNewError):
        Database.open(path, clock)
    assert path.read_bytes() == before


def test_a_step_that_fails_leaves_the_shape_of_before(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection, [Migration(1, "good", "CREATE TABLE one (x);")], 0.0)
    with pytest.raises(sqlite3.Error):
        migrate(connection, [Migration(2, "bad", "CREATE TABLE two (x);\nCREATE TABLE one (x);")], 0.0)
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    assert "two" not in names
    assert [row[0] for row in connection.execute("SELECT number FROM migrations")] == [1]
    connection.close()


def test_the_numbers_of_the_packaged_steps_are_unique() -> None:
    numbers = [step.number for step in packaged_migrations()]
    assert numbers == sorted(set(numbers))
    assert numbers


def test_a_damaged_database_without_any_backup_starts_empty_and_says_so(path: Path, clock: HandClock) -> None:
    path.write_bytes(b"not a database " * 500)
    database = Database.open(path, clock)
    assert database.recovered_from is not None
    assert chats(database) == []
    database.close()


def test_damage_while_running_is_a_clear_error(path: Path, clock: HandClock) -> None:
    database = Database.open(path, clock)
    with database.transaction():
        for chat in range(3000):
            put(database, chat)
    database._far.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    database._near.execute("PRAGMA cache_size = 0")
    database._near.execute("PRAGMA shrink_memory")
    with pytest.raises(StoreDamagedError):
        database.rows("SELECT sum(chat_id), count(until) FROM floods")
    database.close()
