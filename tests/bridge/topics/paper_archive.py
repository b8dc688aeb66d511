"""An agent's past made of plain files; implements the contract, starts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from agents.contract import AgentError, SessionId, Snapshot, StoredSession


@dataclass
class PaperArchive:
    """``stored`` is what it lists; ``restored`` remembers where what was brought."""

    kind: str = "claude"
    version: str = "1.2.3"
    stored: list[StoredSession] = field(default_factory=list)
    restored: list[tuple[str, Path]] = field(default_factory=list)
    fault: Exception | None = None

    def add(self, session_id: str, cwd: Path, title: str, updated: float, **about: bool) -> None:
        """``about``: ``is_live``, ``is_only_copied``."""
        moment = datetime.fromtimestamp(updated, UTC)
        self.stored.append(StoredSession(SessionId(session_id), cwd, title, moment, **about))

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        return [one for one in self.stored if cwd in {None, one.cwd}]

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        to.mkdir(parents=True)
        (to / "past.txt").write_text(f"past of {session_id}", encoding="utf-8")
        if self.fault is not None:
            raise self.fault
        return Snapshot(self.kind, session_id, self.version, "The blue plan", cwd, to)

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        if self.fault is not None:
            raise self.fault
        text = (snapshot.folder / "past.txt").read_text(encoding="utf-8")
        self.restored.append((text, cwd))
        return SessionId(f"restored-{len(self.restored)}")

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        return ("paper", "--resume", session_id)


def broken() -> AgentError:
    return AgentError("The saved session is incomplete.", "Restore another one.")


def damage(folder: Path) -> None:
    """Change one saved file behind the hub's back."""
    for file in folder.rglob("past.txt"):
        file.chmod(0o600)
        file.write_text("something else", encoding="utf-8")
