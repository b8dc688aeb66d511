"""The past of any ACP agent, as far as the protocol goes: it lists, reopens and forks; a saved session is a fork."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.acp.connection import Connection
from agents.acp.wire import text
from agents.acp.wire_opening import ListedSession, read_offers, read_sessions
from agents.contract import AgentError, SessionId, SessionNotFoundError, SessionSpec, Snapshot, StoredSession, sentence
from agents.json_lines import read_object
from agents.jsonrpc import RpcError

if TYPE_CHECKING:
    from agents.acp.backend import AcpBackend

_LIST_LIMIT = 30.0
_FORK_LIMIT = 60.0
_FILE = "session.json"
_PAGES = 20
"""Pages of ``session/list`` that are read; Hermes gives 50 sessions a page."""


class AcpArchive:
    """See ``agents.contract.SessionArchive``."""

    def __init__(self, backend: AcpBackend) -> None:
        self._backend = backend

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        """The agent's own list; empty for an agent that has none. Starts the agent when it does not run."""
        backend = self._backend
        async with self._connected(cwd or backend.finder.home) as connection:
            try:
                found = await _listed(connection, cwd)
            except RpcError as error:
                raise AgentError(
                    sentence("{agent} could not list its sessions.", agent=backend.dialect.title), detail=error.detail
                ) from error
        stored = [as_stored(one, backend.live_ids) for one in found if cwd is None or Path(one.cwd or cwd) == cwd]
        return sorted(stored, key=lambda one: one.updated, reverse=True)

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        """A fork that nobody goes on with: the protocol has no word for a copy, so the agent keeps it."""
        copy = await self._fork(session_id, cwd, to)
        await asyncio.to_thread(_write, to, copy)
        return Snapshot(self._backend.kind, session_id, "", session_id, cwd, to)

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        kept = await asyncio.to_thread(_read, snapshot.folder)
        return await self._fork(kept, cwd, snapshot.folder)

    async def _fork(self, session_id: SessionId, cwd: Path, folder: Path) -> SessionId:
        title = self._backend.dialect.title
        async with self._connected(cwd) as connection:
            if "fork" not in connection.info.session_abilities:
                raise AgentError(
                    sentence("{agent} has no way to save a session apart.", agent=title),
                    sentence("Go on with it by /sessions as long as the agent keeps it."),
                )
            params = {"sessionId": session_id, "cwd": str(cwd), "mcpServers": []}
            try:
                if self._backend.dialect.forks_in_its_folder(connection.info):
                    await self._refuse_elsewhere(connection, session_id, cwd)
                made = read_offers(await connection.call("session/fork", params, within=_FORK_LIMIT)).session_id
                if made:
                    await self._keep_here(connection, made, cwd)
            except RpcError as error:
                raise _unknown(title, f"{folder}: {error.detail or error.message}") from error
        if not made:
            raise _unknown(title, f"{folder}: session/fork without a sessionId")
        return SessionId(made)

    async def _keep_here(self, connection: Connection, made: str, cwd: Path) -> None:
        """Raises AgentError for a fork that is not in ``cwd``; nobody will ever use that one."""
        try:
            await self._refuse_elsewhere(connection, made, cwd)
        except AgentError:
            await _give_up(connection, made)
            raise

    async def _refuse_elsewhere(self, connection: Connection, session_id: str, cwd: Path) -> None:
        """Raises AgentError when the agent's list has the session in another folder than ``cwd``.

        OpenCode 1.18.33 keeps a fork in the folder of its source and asks for permissions there, where nobody hears it.
        """
        listed = await _listed(connection, None)
        home = next((one.cwd for one in listed if one.id == session_id), "")
        if home and not await asyncio.to_thread(_is_same, Path(home), cwd):
            raise AgentError(
                sentence(
                    "{agent} can go on with this session in its own folder only.", agent=self._backend.dialect.title
                ),
                sentence("Go to that folder with /cwd first: {folder}", folder=home),
            )

    @asynccontextmanager
    async def _connected(self, cwd: Path) -> AsyncIterator[Connection]:
        """The agent's process, started when it does not run, and ended when nobody else needs it."""
        connection = await self._backend.connection(SessionSpec(cwd, "list"))
        try:
            yield connection
        finally:
            connection.unexpect()
            await self._backend.leave(connection)

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        return ()


async def _listed(connection: Connection, cwd: Path | None) -> Sequence[ListedSession]:
    if "list" not in connection.info.session_abilities:
        return ()
    found: list[ListedSession] = []
    params: dict[str, Any] = {"cwd": str(cwd)} if cwd else {}
    for _ in range(_PAGES):
        sessions, cursor = read_sessions(await connection.call("session/list", params, within=_LIST_LIMIT))
        found += sessions
        if not cursor:
            break
        params["cursor"] = cursor
    return found


async def _give_up(connection: Connection, session_id: str) -> None:
    """Take a session out of the agent's list, or at least out of its memory, as far as the agent can."""
    for word in ("delete", "close"):
        if word in connection.info.session_abilities:
            with contextlib.suppress(AgentError):
                await connection.call(f"session/{word}", {"sessionId": session_id}, within=_LIST_LIMIT)
                return


def _unknown(title: str, detail: str) -> SessionNotFoundError:
    return SessionNotFoundError(
        sentence("{agent} does not have this session on this computer.", agent=title),
        sentence("A saved session of this agent can be restored only where it was saved."),
        detail,
    )


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _write(folder: Path, session_id: SessionId) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _FILE).write_text(json.dumps({"session": session_id}), encoding="utf-8")


def _read(folder: Path) -> SessionId:
    """The kept copy's id. Raises AgentError for what is no saved session."""
    try:
        session_id = text((read_object((folder / _FILE).read_bytes()) or {}).get("session"))
    except OSError as error:
        raise AgentError(
            sentence("The saved session is incomplete."), sentence("Restore another one."), str(folder)
        ) from error
    if not session_id:
        raise AgentError(sentence("The saved session is incomplete."), sentence("Restore another one."), str(folder))
    return SessionId(session_id)


def as_stored(one: ListedSession, live: frozenset[str]) -> StoredSession:
    """An entry of the agent's list."""
    return StoredSession(SessionId(one.id), Path(one.cwd), one.title or one.id, moment(one.updated), one.id in live)


def moment(words: str) -> datetime:
    """An ISO 8601 text as a time with zone; the beginning of time when it is none."""
    try:
        found = datetime.fromisoformat(words)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
