"""Brings what a person sent into the session's folder, below ``.agent-hub/uploads``, under safe names.

The folder has a .gitignore of its own, so that nothing of it is committed by accident.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.contract import HubError
from bridge.inbound import FileKind, IncomingFile
from bridge.messenger import Messenger
from bridge.texts import told, tr

log = logging.getLogger(__name__)

FOLDER = Path(".agent-hub") / "uploads"
DOWNLOAD_LIMIT = 20 * 1024 * 1024
"""Bytes; Bot API: getFile."""
DOWNLOAD_TIMEOUT = 300.0
NAME_LIMIT = 120
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u200e\u200f\u202a-\u202e\u2066-\u2069]')
"""Also the marks that make a name read backwards: "exe.jpg" must not be shown for "gpj.exe"."""
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_DEFAULT_SUFFIX = {FileKind.PHOTO: ".jpg", FileKind.VOICE: ".ogg", FileKind.VIDEO: ".mp4", FileKind.AUDIO: ".mp3"}


@dataclass(frozen=True, slots=True)
class Taken:
    """``files`` are (path below the session's folder, media type) in the order sent; ``left_out`` are sentences."""

    files: tuple[tuple[Path, str], ...] = ()
    left_out: tuple[str, ...] = ()


class Uploads:
    """Downloads what was sent, all files of one message at the same time."""

    def __init__(self, messenger: Messenger) -> None:
        self._messenger = messenger

    async def fetch(self, files: Sequence[IncomingFile], cwd: Path) -> Taken:
        """Never raises for a single file: what could not be taken is named in ``left_out``."""
        try:
            folder = await asyncio.to_thread(make_folder, cwd)
        except OSError as error:
            log.warning("no folder for uploads: %s", error)
            return Taken(left_out=(tr("The files could not be kept in {folder}.", folder=cwd),))
        names = unique_names(files, folder)
        results = await asyncio.gather(
            *(self._one(file, folder / name) for file, name in zip(files, names, strict=True))
        )
        kept = tuple(
            (folder / name, file.media_type) for file, name, why in zip(files, names, results, strict=True) if not why
        )
        return Taken(kept, tuple(why for why in results if why))

    async def _one(self, file: IncomingFile, to: Path) -> str:
        """ "" when the file is there, else why not."""
        if file.size > DOWNLOAD_LIMIT:
            return tr("{name} is larger than 20 MB; bots can't get it from Telegram.", name=to.name)
        try:
            async with asyncio.timeout(DOWNLOAD_TIMEOUT):
                await self._messenger.download(file.file_id, to)
        except (HubError, TimeoutError, OSError) as error:
            log.info("a file could not be downloaded: %r", error)
            reason = told(error.title) if isinstance(error, HubError) else tr("It took too long.")
            return tr("{name} was left out: {reason}", name=to.name, reason=reason)
        return ""


def make_folder(cwd: Path) -> Path:
    """The upload folder of a session; blocks. Raises OSError, also when a link leads out of the session's folder."""
    folder = cwd / FOLDER
    if not folder.resolve().is_relative_to(cwd.resolve()):
        raise OSError(f"{folder} leads outside the session's folder")
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder.parent / ".gitignore"
    if not os.path.lexists(ignore):
        ignore.write_text("*\n", encoding="utf-8")
    return folder


def unique_names(files: Sequence[IncomingFile], folder: Path) -> list[str]:
    """A safe, free name for each file."""
    taken: set[str] = set()
    names = []
    for number, file in enumerate(files, 1):
        wanted = safe_name(file.name or f"{file.kind.value}-{number}{_DEFAULT_SUFFIX.get(file.kind, '')}")
        stem, suffix = Path(wanted).stem, Path(wanted).suffix
        name, count = wanted, 1
        while name.casefold() in taken or os.path.lexists(folder / name):
            count += 1
            name = f"{stem}-{count}{suffix}"
        taken.add(name.casefold())
        names.append(name)
    return names


def safe_name(name: str) -> str:
    """A name that is one plain file in any folder of any system."""
    clean = _UNSAFE.sub("_", unicodedata.normalize("NFC", name)).strip(" .")
    clean = clean.encode("utf-8", "ignore").decode("utf-8")
    if not clean or _DEVICES.fullmatch(clean):
        clean = f"file_{clean}" if clean else "file"
    stem, suffix = Path(clean).stem, Path(clean).suffix
    room = NAME_LIMIT - len(suffix.encode())
    if room < 10:
        stem, suffix, room = clean, "", NAME_LIMIT
    while len(stem.encode()) > room:
        stem = stem[:-1]
    return stem + suffix
