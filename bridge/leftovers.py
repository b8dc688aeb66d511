"""Clears away old files of the hub's own: logs of turns and copies of files that were sent. Never anything else."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

log = logging.getLogger(__name__)

LOGS_KEPT = 90 * 24 * 3600.0
"""Seconds the whole log of a turn is kept."""
COPIES_KEPT = 7 * 24 * 3600.0
"""Seconds a copy may wait for its delivery."""


def sweep(data: Path, now: float) -> int:
    """Remove what is older; returns how many. Blocks; a file that can't be removed is left for the next time."""
    removed = 0
    for folder, kept in ((data / "turns", LOGS_KEPT), (data / "outgoing", COPIES_KEPT)):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            try:
                if now - path.lstat().st_mtime < kept:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
                removed += 1
            except OSError as error:
                log.info("%s stays: %s", path.name, error)
    return removed
