"""Which git branch a folder is on, read from two small files; git itself is not started."""

from __future__ import annotations

from pathlib import Path


def branch_of(cwd: Path) -> str:
    """The git branch of a folder as " (branch)", "" outside a repository. Reads two small files at most."""
    for folder in (cwd, *cwd.parents):
        marker = folder / ".git"
        if not marker.exists():
            continue
        try:
            if marker.is_file():  # a worktree: the file names the real folder
                marker = folder / marker.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
            head = (marker / "HEAD").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return f" ({head.removeprefix('ref: refs/heads/') if head.startswith('ref:') else head[:8]})"
    return ""
