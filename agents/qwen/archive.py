"""Qwen Code's sessions on disk: listed, copied out and copied in again (measured on 0.24.4).

A session is ``projects/<munged cwd>/chats/<id>.jsonl``; every record carries the session id and the cwd, and a session
whose records name another cwd than its folder's is invisible to Qwen. So restoring rewrites both on every line.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.acp.wire import mapping, objects, text
from agents.contract import AgentError, SessionId, SessionNotFoundError, Snapshot, StoredSession, sentence
from agents.json_lines import objects_in

_FILE = "session.jsonl"
_HEAD = 200
"""Records read for a title."""


def munge(cwd: Path) -> str:
    """Qwen's folder name of a working folder."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(cwd))


class QwenArchive:
    """See ``agents.contract.SessionArchive``. It reads and writes session files only, never settings or logins."""

    def __init__(self, projects: Path, live: frozenset[str]) -> None:
        self._projects = projects
        self._live = live

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        return await asyncio.to_thread(self._list, cwd)

    def _list(self, cwd: Path | None) -> Sequence[StoredSession]:
        folder = munge(cwd) if cwd else "*"
        found = [self._stored(file) for file in self._projects.glob(f"{folder}/chats/*.jsonl")]
        kept = [one for one in found if one is not None and cwd in {None, one.cwd}]
        return sorted(kept, key=lambda one: one.updated, reverse=True)

    def _stored(self, file: Path) -> StoredSession | None:
        cwd = title = ""
        try:
            for number, record in enumerate(objects_in(file)):
                cwd = cwd or text(record.get("cwd"))
                title = title or first_words(record)
                if (cwd and title) or number >= _HEAD:
                    break
            updated = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        except OSError:
            return None  # no file, or not ours to read; or Qwen Code has just removed it
        if not cwd or not title:
            return None
        return StoredSession(SessionId(file.stem), Path(cwd), title, updated, file.stem in self._live)

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        return await asyncio.to_thread(self._export, session_id, cwd, to)

    def _export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        source = self._file(session_id, cwd)
        if not source.is_file():
            raise SessionNotFoundError(
                sentence("This session has no history yet."), sentence("Send a message first."), str(source)
            )
        to.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, to / _FILE)
        title = version = ""
        for record in objects_in(source):
            title = title or first_words(record)
            version = text(record.get("version")) or version
        return Snapshot("qwen", session_id, version, title or session_id, cwd, to)

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        return await asyncio.to_thread(self._restore, snapshot, cwd)

    def _restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        source = snapshot.folder / _FILE
        if not source.is_file():
            raise AgentError(
                sentence("The saved session is incomplete."), sentence("Restore another one."), str(source)
            )
        if not any(first_words(record) for record in objects_in(source)):
            raise AgentError(
                sentence("The saved session holds nothing that was said."),
                sentence("Restore another one."),
                str(source),
            )
        session_id = SessionId(str(uuid.uuid4()))
        target = self._file(session_id, cwd)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(".part")
        try:
            with draft.open("w", encoding="utf-8") as file:
                for record in objects_in(source):
                    changed = {**record, "sessionId": session_id, "cwd": str(cwd)}
                    file.write(json.dumps(changed) + "\n")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        return session_id

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        return ("qwen", "--resume", session_id)

    def _file(self, session_id: SessionId, cwd: Path) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9-]+", session_id):
            raise SessionNotFoundError(
                sentence("This session does not exist any more."), sentence("Start a new one."), session_id
            )
        return self._projects / munge(cwd) / "chats" / f"{session_id}.jsonl"


def first_words(record: dict[str, Any]) -> str:
    """The first line of a person's message, empty for any other record."""
    if record.get("type") != "user":
        return ""
    parts = objects(mapping(record.get("message")).get("parts"))
    words = "\n".join(text(part.get("text")) for part in parts).strip()
    return words.splitlines()[0][:100] if words else ""
