"""What the demo agent remembers: one JSONL file per session, written as it goes, so a crash loses nothing."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agents.json_lines import objects_in

HOME = "DEMO_AGENT_HOME"
"""The variable that names the folder of the sessions."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the past; ``role`` is user or agent."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Past:
    """A stored session."""

    id: str
    cwd: str
    title: str
    updated: datetime


class History:
    """The sessions in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, cwd: str) -> str:
        """A new, empty session."""
        session_id = str(uuid.uuid4())
        self._folder.mkdir(parents=True, exist_ok=True)
        self._append(session_id, {"cwd": cwd})
        return session_id

    def exists(self, session_id: str) -> bool:
        return self._is_name(session_id) and self.file(session_id).is_file()

    def file(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.jsonl"

    def add(self, session_id: str, said: Said) -> None:
        """Keep a message."""
        self._append(session_id, {"role": said.role, "text": said.text})

    def read(self, session_id: str) -> list[Said]:
        """Everything said in a session, oldest first; after a "forget" only what came later."""
        return said_in(self.file(session_id))

    def forget(self, session_id: str) -> None:
        """Start the conversation anew under the same id."""
        self._append(session_id, {"forget": "yes"})

    def move(self, session_id: str, cwd: str) -> None:
        """The session goes on in another folder."""
        self._append(session_id, {"cwd": cwd})

    def fork(self, session_id: str, cwd: str) -> str:
        """A copy under a new id."""
        copy = self.create(cwd)
        for said in self.read(session_id):
            self.add(copy, said)
        return copy

    def list(self, cwd: str | None) -> list[Past]:
        """The sessions with messages, newest first."""
        files = self._folder.glob("*.jsonl") if self._folder.is_dir() else ()
        found = [past for file in files if (past := self._past(file)) is not None and cwd in {None, past.cwd}]
        return sorted(found, key=lambda past: past.updated, reverse=True)

    def _past(self, file: Path) -> Past | None:
        cwd = title = ""
        try:
            for line in objects_in(file):
                cwd = str(line.get("cwd", cwd))
                if not title and line.get("role") == "user":
                    title = str(line.get("text", "")).strip().split("\n")[0][:80]
            updated = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        except OSError:
            return None  # no file, or not ours to read
        return Past(file.stem, cwd, title, updated) if title else None

    def _append(self, session_id: str, value: dict[str, str]) -> None:
        with self.file(session_id).open("a", encoding="utf-8") as file:
            file.write(json.dumps(value) + "\n")  # in ASCII: half a surrogate pair is no UTF-8

    @staticmethod
    def _is_name(session_id: str) -> bool:
        return bool(session_id) and not set(session_id) & set("/\\:.\0")


def said_in(file: Path) -> list[Said]:
    """Everything said in a session's file, oldest first; after a "forget" only what came later."""
    found: list[Said] = []
    for line in objects_in(file):
        if line.get("forget"):
            found.clear()
        elif "role" in line:
            found.append(Said(str(line["role"]), str(line.get("text", ""))))
    return found
