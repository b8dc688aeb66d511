"""The shelf: one folder for each saved session, complete or not there at all. Plain files, no network.

A copy is made beside its place and moved in when it is whole; its files are read-only from then on and every use
begins with their checksums. Methods that touch the disk block, unless they are coroutines.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path

from agents.contract import SessionId, Snapshot
from bridge.clock import Clock
from bridge.snapshots import manifest
from bridge.snapshots.manifest import Saved, SavedFile, SnapshotError, damaged
from bridge.texts import tr

MANIFEST = "manifest.json"
FILES = "files"
DRAFT = ".draft-"
DRAFT_LIFE = 24 * 3600.0
"""Seconds after which what a crash left half made is cleared away."""
CHUNK = 1 << 20
_ID = re.compile(r"s[a-z0-9]{6,40}")


class Shelf:
    """All saved sessions below ``folder``. ``new_id`` makes random ids."""

    def __init__(self, folder: Path, clock: Clock, new_id: Callable[[], str]) -> None:
        self.folder = folder
        self._clock = clock
        self._new_id = new_id
        self._drafts: set[Path] = set()

    # --- looking

    def all(self) -> list[Saved]:
        """Every readable one, the newest first; a damaged one is left out (``damaged_ids`` names it)."""
        found = []
        for folder in self._folders():
            with contextlib.suppress(SnapshotError, OSError):
                found.append(read_manifest(folder))
        return sorted(found, key=lambda saved: saved.saved, reverse=True)

    def damaged_ids(self) -> list[str]:
        """Folders on the shelf that hold no readable saved session."""
        good = {saved.id for saved in self.all()}
        return [folder.name for folder in self._folders() if folder.name not in good]

    def find(self, wish: str) -> Saved:
        """By name, id, or the beginning of a name that only one has. Raises SnapshotError."""
        saved = self.all()
        key = manifest.clean_name(wish).casefold()
        exact = [one for one in saved if key in (one.name.casefold(), one.id)]
        close = exact or [one for one in saved if one.name.casefold().startswith(key)]
        if key and (len(close) == 1 or exact):
            return close[0]
        names = ", ".join(one.name for one in (close or saved)[:10])
        title = tr("Several saved sessions begin with that name.") if close else tr("There is no such saved session.")
        raise SnapshotError(title, tr("Saved: {names}", names=names or "-"))

    def open(self, saved: Saved) -> Snapshot:
        """The saved session for the agent's archive, every byte checked. Raises SnapshotError."""
        folder = self.place(saved.id)
        try:
            check(folder, read_manifest(folder))
        except OSError as error:
            raise damaged(str(error)) from error
        return Snapshot(
            saved.agent, SessionId(saved.session_id), saved.version, saved.title, Path(saved.cwd), folder / FILES
        )

    def place(self, snapshot_id: str) -> Path:
        """Where a saved session lies. Raises SnapshotError for what is no id."""
        if not _ID.fullmatch(snapshot_id):
            raise damaged("no id")
        return self.folder / snapshot_id

    def _folders(self) -> Iterator[Path]:
        if self.folder.is_dir():
            yield from (path for path in sorted(self.folder.iterdir()) if _ID.fullmatch(path.name) and path.is_dir())

    # --- changing

    async def add(self, export: Callable[[Path], Awaitable[Snapshot]], name: str, version: str) -> Saved:
        """Let the agent's archive write its files, freeze them and put them on the shelf.

        ``version`` is used when the archive tells none. Raises HubError; nothing is left behind then.
        """
        with self.draft() as draft:
            snapshot = await export(draft / FILES)
            saved = Saved(
                id=self.fresh_id(),
                name=name,
                agent=snapshot.kind,
                version=snapshot.agent_version or version,
                title=snapshot.title[: manifest.TEXT_LIMIT],
                session_id=snapshot.session_id,
                cwd=str(snapshot.cwd),
                saved=self._clock.now(),
                files=(),
            )
            return await asyncio.to_thread(self._finish, draft, saved)

    def _finish(self, draft: Path, saved: Saved) -> Saved:
        try:
            files = tuple(described(draft / FILES))
            named = replace(saved, files=files, name=self.free_name(saved.name or saved.title))
            manifest.read(manifest.as_text(named).encode(), named.id)  # what we write, we can read
            self.put(draft, named)
        except OSError as error:
            raise SnapshotError(tr("The session could not be saved."), tr("Is the disk full?"), str(error)) from error
        return named

    @contextlib.contextmanager
    def draft(self) -> Iterator[Path]:
        """A folder in the making, gone afterwards unless ``put`` moved it."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._clear_old_drafts()
        draft = self.folder / f"{DRAFT}{self.fresh_id()}"
        draft.mkdir(mode=0o700)
        self._drafts.add(draft)
        try:
            yield draft
        finally:
            self._drafts.discard(draft)
            shutil.rmtree(draft, ignore_errors=True)

    def put(self, draft: Path, saved: Saved) -> None:
        """Freeze the draft and move it to its place, whole."""
        (draft / MANIFEST).write_text(manifest.as_text(saved), encoding="utf-8")
        for path in draft.rglob("*"):
            if path.is_file():
                path.chmod(0o400)
        draft.rename(self.place(saved.id))

    def remove(self, saved: Saved) -> None:
        """Forget a saved session."""
        folder = self.place(saved.id)
        trash = self.folder / f"{DRAFT}{saved.id}"
        try:
            folder.rename(trash)
            for path in trash.rglob("*"):
                if path.is_file():
                    path.chmod(0o600)  # Windows deletes no read-only file
        except OSError as error:
            raise SnapshotError(tr("The saved session could not be deleted."), detail=str(error)) from error
        shutil.rmtree(trash, ignore_errors=True)

    def fresh_id(self) -> str:
        letters = "".join(letter for letter in self._new_id().lower() if letter.isascii() and letter.isalnum())
        found = f"s{letters:0>8}"[:40]
        while (self.folder / found).exists():
            found += "x"
        return found

    def free_name(self, wish: str, taken: Collection[str] = ()) -> str:
        """The name, numbered when it is taken."""
        wish = manifest.clean_name(wish) or tr("session")
        names = {one.name.casefold() for one in self.all()} | {name.casefold() for name in taken}
        name, number = wish, 1
        while name.casefold() in names:
            number += 1
            name = f"{wish[: manifest.NAME_LIMIT - 5]} ({number})"
        return name

    def _clear_old_drafts(self) -> None:
        for path in set(self.folder.glob(f"{DRAFT}*")) - self._drafts:
            with contextlib.suppress(OSError):
                if self._clock.now() - path.stat().st_mtime > DRAFT_LIFE:
                    shutil.rmtree(path, ignore_errors=True)


def read_manifest(folder: Path) -> Saved:
    """The manifest of a saved session's folder. Raises SnapshotError, OSError."""
    with (folder / MANIFEST).open("rb") as file:
        return manifest.read(file.read(manifest.MANIFEST_LIMIT + 1), folder.name)


def described(folder: Path) -> Iterator[SavedFile]:
    """Every file below ``folder``. Raises SnapshotError for what is no plain file, OSError."""
    total = 0
    for path in plain_files(folder):
        total += path.stat().st_size
        if total > manifest.BYTES_LIMIT:
            raise manifest.too_large()
        name = path.relative_to(folder).as_posix()
        manifest.check_path(name)
        yield SavedFile(name, path.stat().st_size, digest(path))


def plain_files(folder: Path) -> Iterator[Path]:
    """Files below ``folder``, links not followed. Raises SnapshotError for links and devices."""
    for base, folders, names in os.walk(folder):
        for name in (*folders, *names):
            mode = (Path(base) / name).lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise damaged("a link or a device among the files")
        yield from (Path(base) / name for name in sorted(names))


def check(folder: Path, saved: Saved) -> None:
    """The folder holds exactly what its manifest says. Raises SnapshotError, OSError."""
    there = {path.relative_to(folder / FILES).as_posix(): path for path in plain_files(folder / FILES)}
    if set(there) != {file.path for file in saved.files}:
        raise damaged("files are missing, or there are more than were saved")
    for file in saved.files:
        path = there[file.path]
        if path.stat().st_size != file.size or digest(path) != file.sha256:
            raise damaged(f"changed: {file.path}")


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()
