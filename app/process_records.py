"""Remembers which agent processes run, so that the next start can end those that outlived a crash of the hub.

The reaper ends them within seconds in nearly every case; this file is for the rest (the reaper was killed as well).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from agents.process_tree import MarkedProcess, ProcessRecord


class ProcessFile:
    """A small JSON file, written only when the set changed. Blocking, but a few hundred bytes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._saved: frozenset[MarkedProcess] | None = None

    def load(self) -> tuple[MarkedProcess, ...]:
        """What ran when the hub was last heard of; a missing or torn file means nothing."""
        try:
            values = json.loads(self._path.read_text(encoding="utf-8"))
            return tuple(
                MarkedProcess(ProcessRecord(int(value["pid"]), str(value["birth"])), str(value.get("mark", "")))
                for value in values
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return ()

    def save(self, processes: Iterable[MarkedProcess]) -> None:
        now = frozenset(processes)
        if now == self._saved:
            return
        beside = self._path.with_name(self._path.name + ".new")
        text = json.dumps([{"pid": one.record.pid, "birth": one.record.birth, "mark": one.mark} for one in now])
        with contextlib.suppress(OSError):  # a full disk must not stop the hub; the reaper still stands
            beside.write_text(text, encoding="utf-8")
            beside.replace(self._path)
            self._saved = now
