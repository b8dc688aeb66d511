"""Hermes' sessions are copied between folders and homes without the old home's address of the model."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agents.contract import AgentError, SessionId, SessionNotFoundError, Snapshot
from agents.hermes.archive import HermesArchive
from tests.agents.test_hostile_histories import CONTENTS


def database(file: Path, session_id: str, cwd: str, address: str, *extra_columns: str) -> Path:
    columns = "".join(f", {name} TEXT" for name in extra_columns)
    config = json.dumps({"cwd": cwd, "provider": "custom", "base_url": address})
    with closing(sqlite3.connect(file)) as db, db:
        db.execute(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT, title TEXT UNIQUE,"
            f" parent_session_id TEXT, started_at REAL, cwd TEXT{columns})"
        )
        db.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,"
            " timestamp REAL)"
        )
        db.execute(
            "INSERT INTO sessions (id, source, model, model_config, title, started_at, cwd)"
            " VALUES (?, 'acp', ?, ?, ?, 1, ?)",
            (session_id, f"model of {address}", config, "Tests", cwd),
        )
        for role, words in (("user", "Fix the tests"), ("assistant", "Done")):
            db.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, 2)",
                (session_id, role, words),
            )
    return file


@pytest.mark.asyncio
async def test_a_copy_in_another_home_calls_that_home_s_model(tmp_path: Path) -> None:
    old = HermesArchive(database(tmp_path / "old.db", "a", "/old", "http://dead", "only_here"), frozenset({"a"}))
    new = HermesArchive(database(tmp_path / "new.db", "b", "/new", "http://alive"), frozenset())
    snapshot = await old.export(SessionId("a"), Path("/old"), tmp_path / "saved")
    restored = await new.restore(snapshot, Path("/there"))
    with closing(sqlite3.connect(tmp_path / "new.db")) as db:
        model, config, title = db.execute(
            "SELECT model, model_config, title FROM sessions WHERE id = ?", (restored,)
        ).fetchone()
        said = db.execute("SELECT role, content FROM messages WHERE session_id = ?", (restored,)).fetchall()
    assert model == "model of http://alive"
    assert json.loads(config) == {"cwd": "/there", "provider": "custom", "base_url": "http://alive"}
    assert title.startswith("Tests (")
    assert said == [("user", "Fix the tests"), ("assistant", "Done")]


@pytest.mark.asyncio
async def test_sessions_are_listed_by_their_folder(tmp_path: Path) -> None:
    archive = HermesArchive(database(tmp_path / "state.db", "a", "/old", "http://x"), frozenset({"a"}))
    (found,) = await archive.list(Path("/old"))
    assert (found.id, found.title, found.is_live) == ("a", "Tests", True)
    assert await archive.list(Path("/elsewhere")) == []


@pytest.mark.asyncio
async def test_a_home_without_sessions_lists_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    archive = HermesArchive(tmp_path / "none.db", frozenset())
    assert await archive.list(None) == ()
    with pytest.raises(SessionNotFoundError):
        await archive.export(SessionId("a"), tmp_path, tmp_path / "saved")


@pytest.mark.asyncio
async def test_a_damaged_copy_changes_nothing(tmp_path: Path) -> None:
    source = HermesArchive(database(tmp_path / "state.db", "a", "/old", "http://x"), frozenset())
    snapshot = await source.export(SessionId("a"), Path("/old"), tmp_path / "saved")
    (tmp_path / "saved" / "session.json").write_text('{"session": {"id": "a"}, "messages"')
    with pytest.raises(AgentError):
        await source.restore(snapshot, Path("/there"))
    assert len(await source.list(None)) == 1


@pytest.mark.asyncio
async def test_a_strangers_snapshot_can_not_say_where_requests_go(tmp_path: Path) -> None:
    old = HermesArchive(database(tmp_path / "old.db", "a", "/old", "http://stranger"), frozenset())
    snapshot = await old.export(SessionId("a"), Path("/old"), tmp_path / "saved")
    here = database(tmp_path / "new.db", "b", "/new", "http://mine")
    with closing(sqlite3.connect(here)) as db, db:
        db.execute("UPDATE sessions SET model_config = '{}'")
    restored = await HermesArchive(here, frozenset()).restore(snapshot, Path("/there"))
    with closing(sqlite3.connect(here)) as db:
        (config,) = db.execute("SELECT model_config FROM sessions WHERE id = ?", (restored,)).fetchone()
    assert json.loads(config) == {"cwd": "/there"}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"session": 1, "messages": []}',
        '{"session": {}, "messages": 5}',
        '{"session": {"id": "x"}, "messages": [1]}',
        '{"session": {"title": "t"}, "messages": [{"no_such": 1}, null]}',
    ],
)
async def test_a_hostile_snapshot_leaves_no_half_session(content: str, tmp_path: Path) -> None:
    here = database(tmp_path / "new.db", "b", "/new", "http://mine")
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "session.json").write_text(content, encoding="utf-8")
    snapshot = Snapshot("hermes", SessionId("x"), "", "t", Path("/old"), folder)
    with pytest.raises(AgentError):
        await HermesArchive(here, frozenset()).restore(snapshot, Path("/there"))
    with closing(sqlite3.connect(here)) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM messages").fetchone() == (2,)


@pytest.mark.asyncio
@pytest.mark.parametrize("what", CONTENTS)
async def test_a_hostile_save_is_refused_and_leaves_the_database_as_it_was(tmp_path: Path, what: str) -> None:
    file = database(tmp_path / "state.db", "a", "/old", "http://x")
    (tmp_path / "session.json").write_bytes(CONTENTS[what])
    before = file.read_bytes()
    with pytest.raises(AgentError, match="incomplete"):
        await HermesArchive(file, frozenset()).restore(
            Snapshot("hermes", SessionId("a"), "1", "t", Path("/old"), tmp_path), tmp_path
        )
    assert file.read_bytes() == before


@pytest.mark.asyncio
@pytest.mark.parametrize("moment", ["yesterday", 1e300, -1e300, None, b"x"])
async def test_a_message_of_no_time_hides_no_session(tmp_path: Path, moment: object) -> None:
    file = database(tmp_path / "state.db", "a", "/old", "http://x")
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE messages SET timestamp = ?", (moment,))
    (found,) = await HermesArchive(file, frozenset()).list(None)
    assert found.id == "a"
