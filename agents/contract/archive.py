"""What an agent keeps of its past: stored sessions and snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from agents.contract.ids import SessionId


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session of the past, begun by the hub or in a terminal.

    ``is_only_copied``: the hub can't open it itself, only a copy of it (``export``, then ``restore``).
    """

    id: SessionId
    cwd: Path
    title: str
    updated: datetime
    is_live: bool = False
    is_only_copied: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A frozen copy of a session's history: no project files, no login data.

    ``folder`` holds the agent's own files; the bridge adds the manifest and the checksum.
    """

    kind: str
    session_id: SessionId
    agent_version: str
    title: str
    cwd: Path
    folder: Path


class SessionArchive(Protocol):
    """/save, /restore, /sessions and /resume."""

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]: ...

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot: ...

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        """Make a new session with the snapshot's past in ``cwd``; open it with ``SessionSpec.resume``."""

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        """The command a person types at the desk to go on."""
