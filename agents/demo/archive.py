"""The demo agent's past: its files are its sessions, so saving is copying and restoring is copying under a new name."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

from agents.contract import AgentError, SessionId, SessionNotFoundError, Snapshot, StoredSession, sentence
from agents.demo.history import History, said_in
from agents.demo.scenes import VERSION

_FILE = "session.jsonl"


class DemoArchive:
    """See ``agents.contract.SessionArchive``."""

    def __init__(self, folder: Path, live: frozenset[str]) -> None:
        self._history = History(folder)
        self._live = live

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        past = await asyncio.to_thread(self._history.list, str(cwd) if cwd else None)
        return [
            StoredSession(SessionId(one.id), Path(one.cwd), one.title, one.updated, one.id in self._live)
            for one in past
        ]

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        if not self._history.exists(session_id):
            raise SessionNotFoundError(
                sentence("This session does not exist any more."), sentence("Start a new one."), session_id
            )
        return await asyncio.to_thread(self._export, session_id, cwd, to)

    def _export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        to.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._history.file(session_id), to / _FILE)
        title = next((past.title for past in self._history.list(None) if past.id == session_id), session_id)
        return Snapshot("demo", session_id, VERSION, title, cwd, to)

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        return await asyncio.to_thread(self._restore, snapshot, cwd)

    def _restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        source = snapshot.folder / _FILE
        if not source.is_file():
            raise AgentError(
                sentence("The saved session is incomplete."), sentence("Restore another one."), str(source)
            )
        if not any(said.role == "user" for said in said_in(source)):
            raise AgentError(
                sentence("The saved session holds nothing that was said."),
                sentence("Restore another one."),
                str(source),
            )
        session_id = self._history.create(str(cwd))
        with self._history.file(session_id).open("ab") as target:
            target.write(source.read_bytes())
        self._history.move(session_id, str(cwd))
        return SessionId(session_id)

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        """None: the demo agent speaks only to the hub."""
        del session_id, cwd
        return ()
