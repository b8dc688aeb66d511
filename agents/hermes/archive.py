"""Hermes' sessions in its SQLite file: listed, copied out and copied in again (measured on 0.19.0).

A copied session takes provider, address and model from the newest session of the target, because Hermes keeps them per
session and a restored one would go on calling an address that may be dead. No login data is in these tables.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.acp.wire import text
from agents.contract import AgentError, SessionId, SessionNotFoundError, Snapshot, StoredSession, sentence
from agents.json_lines import read_object

_FILE = "session.json"
_SOURCE = "acp"
"""What Hermes calls the sessions of programs such as the hub."""
_LIMIT = 500
_BUSY = 5.0
"""Seconds to wait for Hermes when it writes."""

_OF_THE_PLACE = frozenset({"provider", "base_url", "api_mode", "api_key", "key_env", "headers"})
"""Where requests go: never taken from a saved session, which may come from a stranger who would like to be asked."""

Row = dict[str, Any]


class HermesArchive:
    """See ``agents.contract.SessionArchive``."""

    def __init__(self, database: Path, live: frozenset[str]) -> None:
        self._database = database
        self._live = live

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        return await asyncio.to_thread(self._list, cwd)

    def _list(self, cwd: Path | None) -> Sequence[StoredSession]:
        if not self._database.is_file():
            return ()
        with self._reading() as db:
            rows = db.execute(
                "SELECT s.*, MAX(m.timestamp) AS last, "
                "(SELECT content FROM messages WHERE session_id = s.id AND role = 'user' ORDER BY id LIMIT 1) AS first "
                "FROM sessions s JOIN messages m ON m.session_id = s.id GROUP BY s.id ORDER BY last DESC LIMIT ?",
                (_LIMIT,),
            ).fetchall()
        found = [self._stored(dict(row)) for row in rows]
        return [one for one in found if cwd in {None, one.cwd}]

    def _stored(self, row: Row) -> StoredSession:
        first = (text(row.get("title")) or text(row.get("first")) or row["id"]).strip().splitlines()
        updated = moment(row["last"])
        cwd = Path(cwd_of(row) or ".")
        # Its ACP side opens no session of another source, such as one of `hermes chat` (measured on 0.19.0).
        is_foreign = row.get("source") != _SOURCE
        return StoredSession(
            SessionId(row["id"]), cwd, (first or [""])[0][:100], updated, row["id"] in self._live, is_foreign
        )

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        return await asyncio.to_thread(self._export, session_id, cwd, to)

    def _export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        row, messages = self._read(session_id)
        to.mkdir(parents=True, exist_ok=True)
        content = {"session": row, "messages": messages}
        (to / _FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        title = text(row.get("title")) or next((text(one["content"]) for one in messages if one["role"] == "user"), "")
        return Snapshot("hermes", session_id, "", title.strip().partition("\n")[0][:100] or session_id, cwd, to)

    def _read(self, session_id: SessionId) -> tuple[Row, Sequence[Row]]:
        if self._database.is_file():
            with self._reading() as db:
                row = db.execute("SELECT * FROM sessions WHERE id = ?", (session_id,)).fetchone()
                rows = db.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY id", (session_id,)).fetchall()
            if row is not None and rows:
                return dict(row), [dict(one) for one in rows]
        raise SessionNotFoundError(
            sentence("This session has no history yet."), sentence("Send a message first."), session_id
        )

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        return await asyncio.to_thread(self._restore, snapshot, cwd)

    def _restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        try:
            content = read_object((snapshot.folder / _FILE).read_bytes()) or {}
            session, messages = dict(content["session"]), [dict(message) for message in content["messages"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AgentError(
                sentence("The saved session is incomplete."), sentence("Restore another one."), str(snapshot.folder)
            ) from error
        if not self._database.is_file():
            raise AgentError(
                sentence("Hermes has no sessions here yet."), sentence("Give it one task first, then restore.")
            )
        session_id = SessionId(str(uuid.uuid4()))
        with self._writing() as db:
            own = db.execute(
                "SELECT * FROM sessions ORDER BY source = ? DESC, started_at DESC LIMIT 1", (_SOURCE,)
            ).fetchone()
            insert(db, "sessions", moved(session, dict(own) if own else {}, session_id, cwd))
            for message in messages:
                insert(db, "messages", {**message, "id": None, "session_id": session_id})
        return session_id

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        return ("hermes", "chat", "--resume", session_id)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._connected("ro") as db:
            yield db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._connected("rw") as db, db:
            yield db

    @contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(f"{self._database.resolve().as_uri()}?mode={mode}", uri=True, timeout=_BUSY)
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        db.row_factory = sqlite3.Row
        try:
            yield db
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        finally:
            db.close()

    def _trouble(self, error: sqlite3.Error) -> AgentError:
        return AgentError(
            sentence("Hermes' session file can't be used."),
            sentence("Try again in a moment."),
            f"{self._database}: {error}",
        )


def moved(session: Row, own: Row, session_id: SessionId, cwd: Path) -> Row:
    """A session's row under another id and folder, with the model of the target."""
    kept = {key: value for key, value in config_of(session).items() if key not in _OF_THE_PLACE}
    config = {**kept, **config_of(own), "cwd": str(cwd)}
    changed: Row = {"id": session_id, "cwd": str(cwd), "model_config": json.dumps(config), "parent_session_id": None}
    taken = {"model": own["model"]} if own.get("model") else {}
    if session.get("title"):
        changed["title"] = f"{session['title']} ({session_id[:8]})"  # Hermes keeps titles unique
    carried = {key: value for key, value in session.items() if not key.startswith(("billing_", "handoff_"))}
    return {**carried, **taken, **changed, "source": _SOURCE, "ended_at": None, "end_reason": None}


def moment(seconds: object) -> datetime:
    """A message's time; the beginning of time when it is none, as a restored history of a stranger may have it."""
    try:
        return datetime.fromtimestamp(seconds if isinstance(seconds, int | float) else 0, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def config_of(row: Row) -> Row:
    """The row's ``model_config``: cwd, provider, base_url, api_mode."""
    return read_object(text(row.get("model_config"))) or {}


def cwd_of(row: Row) -> str:
    return text(config_of(row).get("cwd")) or text(row.get("cwd"))


def insert(db: sqlite3.Connection, table: str, row: Row) -> None:
    """Insert what this version of the table has columns for. ``table`` is one of ours, never from outside."""
    columns = {info["name"] for info in db.execute(f"PRAGMA table_info({table})")}
    names = [name for name in row if name in columns]
    marks = ", ".join("?" for _ in names)
    values = [row[name] for name in names]
    db.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", values)  # noqa: S608
