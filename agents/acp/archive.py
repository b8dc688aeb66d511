"""The past of any ACP agent, as far as the protocol goes: it can list and reopen, it has no word for export."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.acp.wire_opening import ListedSession, read_sessions
from agents.contract import AgentError, SessionId, SessionSpec, Snapshot, StoredSession, sentence
from agents.jsonrpc import RpcError

if TYPE_CHECKING:
    from agents.acp.backend import AcpBackend

_LIST_LIMIT = 30.0
_PAGES = 20
"""Pages of ``session/list`` that are read; Hermes gives 50 sessions a page."""


class AcpArchive:
    """See ``agents.contract.SessionArchive``."""

    def __init__(self, backend: AcpBackend) -> None:
        self._backend = backend

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        """The agent's own list; empty for an agent that has none. Starts the agent when it does not run."""
        backend = self._backend
        connection = await backend.connection(SessionSpec(cwd or backend.finder.home, "list"))
        try:
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
        except RpcError as error:
            raise AgentError(
                sentence("{agent} could not list its sessions.", agent=backend.dialect.title), detail=error.detail
            ) from error
        finally:
            connection.unexpect()
            await backend.leave(connection)
        stored = [as_stored(one, backend.live_ids) for one in found if cwd is None or Path(one.cwd or cwd) == cwd]
        return sorted(stored, key=lambda one: one.updated, reverse=True)

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        raise AgentError(
            sentence("{agent} has no way to save a session apart.", agent=self._backend.dialect.title),
            sentence("Go on with it by /sessions as long as the agent keeps it."),
        )

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        raise AgentError(sentence("{agent} has no way to restore a saved session.", agent=self._backend.dialect.title))

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        return ()


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
