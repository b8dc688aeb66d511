"""The whole of what a card can only show in part, as files below it: nobody should allow what they can't read.

Small blocking writes in the loop's thread, only for long requests. Files live in the hub's own folder for a day.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from pathlib import Path

from agents.contract import PermissionRequest, ToolKind
from bridge import cards
from bridge.markdown import utf16_length
from bridge.messenger import FileUpload
from bridge.unseen import readable

log = logging.getLogger(__name__)

KEPT = 86_400.0
"""Seconds a file stays; by then it was sent, or never will be."""


def hidden_parts(ask: PermissionRequest) -> Iterator[tuple[str, str]]:
    """Names and texts of what the card cuts, as a person can read them."""
    ask = readable(ask)
    shown = cards.WHOLE_COMMAND if ask.kind is ToolKind.EXECUTE else cards.SUBJECT
    if utf16_length(ask.subject) > shown:
        yield "command.txt", ask.subject
    if utf16_length(ask.plan) > cards.PLAN_UNITS:
        yield "plan.md", ask.plan
    if utf16_length(ask.arguments) > cards.ARGUMENTS_UNITS:
        yield "arguments.json", ask.arguments
    if utf16_length(ask.diff) > cards.DIFF_UNITS or ask.diff.count("\n") > cards.DIFF_LINES:
        yield "changes.diff", ask.diff


def attach(ask: PermissionRequest, folder: Path, token: str) -> tuple[FileUpload, ...]:
    """Write what the card cuts; nothing for a short request or a folder that can't be written."""
    parts = list(hidden_parts(ask))
    if not parts:
        return ()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        return tuple(written(folder / f"{token}-{name}", name, text) for name, text in parts)
    except OSError as error:
        log.warning("the whole of a long request could not be written: %s", error.strerror)
        return ()


def written(path: Path, name: str, text: str) -> FileUpload:
    """One file on the disk."""
    path.write_text(text, encoding="utf-8", errors="replace")
    return FileUpload(path, name)


def sweep(folder: Path) -> None:
    """Forget old files. One that another program holds stays: it must not keep a new request from being shown whole."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - KEPT:
                path.unlink(missing_ok=True)
