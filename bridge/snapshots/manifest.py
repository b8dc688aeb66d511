"""What is written down about a saved session, and which names its files may have. Pure.

A manifest may come from another computer: everything in it is checked before it is believed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.contract import HubError
from bridge.texts import tr

FORMAT = 1
FILES_LIMIT = 5_000
BYTES_LIMIT = 1_000_000_000
MANIFEST_LIMIT = 4_000_000
"""Bytes of a manifest; five thousand files with long names need about two million."""
TEXT_LIMIT = 500
NAME_LIMIT = 60
PATH_LIMIT, PART_LIMIT, DEPTH_LIMIT = 400, 200, 12
_SHA256 = re.compile(r"[0-9a-f]{64}")
_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
_UNSAFE = re.compile(r'[<>:"\\|?*]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\..*)?", re.IGNORECASE)


class SnapshotError(HubError):
    """A saved session can't be used; nothing was changed."""


@dataclass(frozen=True, slots=True)
class SavedFile:
    """One file of the agent's; ``path`` has forward slashes."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Saved:
    """One saved session. ``id`` names its folder on this computer only; ``saved`` is wall clock, seconds."""

    id: str
    name: str
    agent: str
    version: str
    title: str
    session_id: str
    cwd: str
    saved: float
    files: tuple[SavedFile, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(file.size for file in self.files)


def damaged(why: str) -> SnapshotError:
    return SnapshotError(
        tr("This saved session is damaged or was changed; it was not used."),
        tr("Save it again where it came from."),
        why,
    )


def as_text(saved: Saved) -> str:
    """The manifest as it is written."""
    content = {
        "format": FORMAT,
        "name": saved.name,
        "agent": saved.agent,
        "version": saved.version,
        "title": saved.title,
        "session": saved.session_id,
        "folder": saved.cwd,
        "saved": saved.saved,
        "files": [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in saved.files],
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def read(text: bytes, snapshot_id: str) -> Saved:
    """The manifest behind a text. Raises SnapshotError for anything that is not exactly one."""
    if len(text) > MANIFEST_LIMIT:
        raise damaged("the manifest is too long")
    try:
        found = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise damaged("the manifest is no JSON") from error
    if not isinstance(found, dict):
        raise damaged("the manifest is no object")
    form = found.get("format")
    if type(form) is int and form > FORMAT:
        raise SnapshotError(
            tr("This session was saved by a newer version of agent-hub."), tr("Update agent-hub on this computer.")
        )
    if type(form) is not int or form != FORMAT:
        raise damaged("unknown format")
    return Saved(
        id=snapshot_id,
        name=clean_name(_text(found, "name")) or snapshot_id,
        agent=_matching(found, "agent", _AGENT),
        version=_text(found, "version"),
        title=_text(found, "title"),
        session_id=_matching(found, "session", _SESSION),
        cwd=_text(found, "folder", PATH_LIMIT * 10),
        saved=_moment(found),
        files=_files(found.get("files")),
    )


def _files(found: object) -> tuple[SavedFile, ...]:
    if not isinstance(found, list) or not 0 < len(found) <= FILES_LIMIT:
        raise damaged("no files, or too many")
    files, seen = [], set[str]()
    for entry in found:
        if not isinstance(entry, dict):
            raise damaged("a file is no object")
        path, size = _text(entry, "path"), entry.get("size")
        check_path(path)
        if type(size) is not int or not 0 <= size <= BYTES_LIMIT:
            raise damaged("a size is none")
        key = unicodedata.normalize("NFC", path).casefold()
        if key in seen:
            raise damaged("a file is named twice")
        seen.add(key)
        files.append(SavedFile(path, size, _matching(entry, "sha256", _SHA256)))
    if sum(file.size for file in files) > BYTES_LIMIT:
        raise too_large()
    return tuple(files)


def too_large() -> SnapshotError:
    return SnapshotError(
        tr("This session is too large to be saved or brought here (limit {limit} MB).", limit=BYTES_LIMIT // 1_000_000)
    )


def _text(found: Mapping[str, Any], key: str, limit: int = TEXT_LIMIT) -> str:
    value = found.get(key)
    if not isinstance(value, str) or len(value) > limit:
        raise damaged(f"{key} is no text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise damaged(f"{key} is no text") from error
    return value


def _matching(found: Mapping[str, Any], key: str, form: re.Pattern[str]) -> str:
    value = _text(found, key)
    if not form.fullmatch(value):
        raise damaged(f"{key} has a wrong form")
    return value


def _moment(found: Mapping[str, Any]) -> float:
    value = found.get("saved")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 4e9:
        raise damaged("the time is none")
    return float(value)


def check_path(path: str) -> None:
    """A relative path that means the same one file on every system, or SnapshotError."""
    parts = path.split("/")
    if not path or len(path) > PATH_LIMIT or len(parts) > DEPTH_LIMIT:
        raise damaged("a path is empty, too long or too deep")
    for part in parts:
        if not is_safe_part(part):
            raise damaged(f"unsafe path: {path[:80]!r}")


def is_safe_part(part: str) -> bool:
    """Whether a name is one plain file or folder everywhere."""
    if part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > PART_LIMIT:
        return False
    if part != part.rstrip(" .") or part != part.lstrip(" ") or _UNSAFE.search(part) or _DEVICES.fullmatch(part):
        return False
    return all(unicodedata.category(letter)[0] != "C" for letter in part)


def clean_name(name: str) -> str:
    """A person's name for a saved session on one short line; it never becomes a path."""
    visible = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in name)
    return " ".join(visible.split())[:NAME_LIMIT].strip()
