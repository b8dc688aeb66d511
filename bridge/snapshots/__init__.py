"""Saved sessions: a shelf of frozen copies, and the one file that carries them to another computer."""

from __future__ import annotations

from bridge.snapshots.manifest import Saved, SnapshotError
from bridge.snapshots.shelf import Shelf

__all__ = ["Saved", "Shelf", "SnapshotError"]
