"""Claude Code's own history: listing past sessions, freezing one, making a new one out of a frozen one.

Works on the program's files only and starts no process. Layout measured on 2.1.332: ``<config>/projects/<folder's
name with every odd character turned into "-">/<session id>.jsonl`` and a folder of the same name beside it for what
helpers did and for large outputs; the file's name is the session's id. No project file and no login data is touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agents.claude.handshake import CLAUDE
from agents.claude.messages import Json
from agents.claude.wire import object_of, objects_of, text_of
from agents.contract import AgentError, SessionId, SessionNotFoundError, Snapshot, StoredSession, sentence
from agents.json_lines import read_object
from agents.process_tree import ProcessRecord

_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LONGEST_NAME = 200
_LISTED = 200
"""Sessions in one list, the newest; a heavy user has thousands."""
_DRAFT = ".part"
_HEAD, _TAIL = 256 * 1024, 64 * 1024
_TITLE_WIDTH = 80
_NOT_HISTORY = (b'{"type":"api-request', b'{"type":"queue-operation')
"""Lines that repeat whole requests to the API; a session resumes without them."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a history says of itself."""

    cwd: Path | None
    title: str
    version: str
    is_spoken: bool


class ClaudeArchive:
    """See ``agents.contract.SessionArchive``."""

    def __init__(
        self,
        environment: Callable[[], Awaitable[Mapping[str, str]]],
        program: str,
        home: Path,
        new_id: Callable[[], str],
    ) -> None:
        self._environment = environment
        self._program = program
        self._home = home
        self._new_id = new_id

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        config = await self.config_folder()
        return await asyncio.to_thread(_list, config, cwd)

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        config = await self.config_folder()
        return await asyncio.to_thread(_export, config, session_id, cwd, to)

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        """A copy under a new id; the program's own fork would write nothing before its first turn (measured)."""
        config = await self.config_folder()
        new_id = SessionId(self._new_id())
        await asyncio.to_thread(_restore, config, snapshot, cwd, new_id)
        return new_id

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        """To be typed in ``cwd``; with an id it works in every folder."""
        return (self._program, f"--resume={session_id}")

    async def config_folder(self) -> Path:
        """Where the program keeps everything of this user."""
        environment = await self._environment()
        named = environment.get("CLAUDE_CONFIG_DIR")
        return Path(named) if named else Path(environment.get("HOME") or self._home) / ".claude"


def project_folder(cwd: Path) -> str:
    """The folder's name under ``projects``: one "-" for each UTF-16 unit that is no ASCII letter or digit."""
    name = os.path.realpath(cwd)
    return re.sub(r"[^A-Za-z0-9]", lambda found: "-" * (len(found[0].encode("utf-16-le")) // 2), name)


def _list(config: Path, cwd: Path | None) -> Sequence[StoredSession]:
    live = _live(config / "sessions")
    found: list[StoredSession] = []
    for updated, file in _newest(_files(config, cwd)):
        try:
            facts = _facts(file)
        except OSError:
            continue  # the program has just removed it
        if facts.is_spoken and (cwd is None or _is_same(facts.cwd, cwd)):
            when, session_id = datetime.fromtimestamp(updated, UTC), SessionId(file.stem)
            found.append(StoredSession(session_id, facts.cwd or Path(), facts.title, when, file.stem in live))
        if len(found) == _LISTED:
            break
    return found


def _files(config: Path, cwd: Path | None) -> Iterator[Path]:
    projects = config / "projects"
    if not projects.is_dir():
        return
    wanted = None if cwd is None else project_folder(cwd)
    for folder in projects.iterdir():
        # A long name ends with a hash; the file itself says which folder it was.
        is_wanted = wanted is None or folder.name[:_LONGEST_NAME] == wanted[:_LONGEST_NAME]
        if is_wanted and folder.is_dir():
            yield from (file for file in folder.glob("*.jsonl") if _ID.fullmatch(file.stem))


def _newest(files: Iterator[Path]) -> list[tuple[float, Path]]:
    dated = []
    for file in files:
        with contextlib.suppress(OSError):
            dated.append((file.stat().st_mtime, file))
    return sorted(dated, reverse=True)


def _is_same(one: Path | None, other: Path) -> bool:
    return one is None or os.path.realpath(one) == os.path.realpath(other)


def _live(registry: Path) -> set[str]:
    """Ids of sessions that a running Claude Code holds, from its own register (entries of killed ones stay)."""
    live = set()
    for file in registry.glob("*.json") if registry.is_dir() else ():
        try:
            entry = read_object(file.read_bytes()) or {}
        except OSError:
            continue
        if file.stem.isdigit() and ProcessRecord.of(int(file.stem)) is not None:
            live.add(text_of(entry, "sessionId"))
    return live


def _facts(file: Path) -> _Facts:
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(max(len(head), file.stat().st_size - _TAIL))
        tail = stream.read()
    cwd, version, spoken, titles = None, "", "", dict[str, str]()
    for line in (head + b"\n" + tail).splitlines():
        entry = read_object(line) or {}  # none: cut by our reading, or still being written
        version = text_of(entry, "version") or version
        cwd = cwd or (Path(text_of(entry, "cwd")) if text_of(entry, "cwd") else None)
        spoken = spoken or _spoken(entry)
        titles |= {key: text_of(entry, key) for key in ("customTitle", "aiTitle", "summary") if text_of(entry, key)}
    title = next((titles[key] for key in ("customTitle", "aiTitle", "summary") if key in titles), spoken)
    return _Facts(cwd, title.strip().partition("\n")[0][:_TITLE_WIDTH], version, bool(spoken))


def _spoken(entry: Json) -> str:
    """The text of a prompt of the person."""
    if text_of(entry, "type") != "user" or entry.get("isMeta") is True or entry.get("isSidechain") is True:
        return ""
    message = object_of(entry, "message")
    texts = [text_of(message, "content"), *(text_of(block, "text") for block in objects_of(message, "content"))]
    return next((text for text in texts if text and not text.startswith("<")), "")


def _find(config: Path, session_id: SessionId) -> Path:
    is_id = _ID.fullmatch(session_id) is not None
    found = next((config / "projects").glob(f"*/{session_id}.jsonl"), None) if is_id else None
    if found is None:
        raise SessionNotFoundError(
            sentence("Claude Code has no such session."),
            hint=sentence("See what there is with /sessions."),
            detail=session_id,
        )
    return found


def _export(config: Path, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
    file = _find(config, session_id)
    facts = _facts(file)
    to.mkdir(parents=True, exist_ok=True)
    _copy_history(file, to / file.name, [])
    _copy_beside(file.with_suffix(""), to / session_id)
    return Snapshot(CLAUDE.kind, session_id, facts.version, facts.title, facts.cwd or cwd, to)


def _restore(config: Path, snapshot: Snapshot, cwd: Path, new_id: SessionId) -> None:
    source = snapshot.folder / f"{snapshot.session_id}.jsonl"
    if not _ID.fullmatch(snapshot.session_id) or not source.is_file():
        raise SessionNotFoundError(sentence("The snapshot holds no session of Claude Code."), detail=str(source))
    if not _facts(source).is_spoken:
        raise AgentError(
            sentence("The saved session holds nothing that was said."), sentence("Restore another one."), str(source)
        )
    if not cwd.is_dir():
        raise AgentError(
            sentence("The working folder is gone."), hint=sentence("Choose another folder."), detail=str(cwd)
        )
    folder = config / "projects" / project_folder(cwd)[:_LONGEST_NAME]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    changes = [_renamed("sessionId", snapshot.session_id, new_id), _renamed("cwd", str(snapshot.cwd), str(cwd))]
    target = folder / f"{new_id}.jsonl"
    try:
        _copy_beside(snapshot.folder / snapshot.session_id, folder / new_id)
        _copy_history(source, target, changes)
    except OSError:
        shutil.rmtree(folder / new_id, ignore_errors=True)
        target.with_suffix(_DRAFT).unlink(missing_ok=True)
        raise


def _renamed(key: str, old: str, new: str) -> tuple[bytes, bytes]:
    """A change of one field, written as the program writes it."""
    one, other = (f'"{key}":{json.dumps(value, ensure_ascii=False)}'.encode() for value in (old, new))
    return one, other


def _copy_history(source: Path, target: Path, changes: Sequence[tuple[bytes, bytes]]) -> None:
    """Whole lines only (the last one may be half written), in place all at once, for the owner's eyes only."""
    draft = target.with_suffix(_DRAFT)
    with source.open("rb") as lines, os.fdopen(_private(draft), "wb") as copy:
        for line in lines:
            if line.startswith(_NOT_HISTORY) or not line.endswith(b"\n"):
                continue
            for old, new in changes:
                line = line.replace(old, new)  # noqa: PLW2901 - one pass over a large file
            copy.write(line)
    draft.replace(target)


def _private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)


def _copy_beside(source: Path, target: Path) -> None:
    """What helpers did and large outputs; links are not followed."""
    if not source.is_dir():
        return
    for file in source.rglob("*"):
        if file.is_file() and not file.is_symlink():
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
