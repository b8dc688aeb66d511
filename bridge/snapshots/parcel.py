"""Saved sessions in one zip file, to be carried to another computer. A parcel is a stranger until it is unpacked.

Everything is bounded before it is read: number of entries, names, sizes. Only plain files with the names of a
manifest are written, into a draft that becomes a saved session when all checksums hold - or disappears. Blocks.
"""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path, PurePosixPath

from bridge.snapshots import manifest
from bridge.snapshots.manifest import Saved, SnapshotError
from bridge.snapshots.shelf import CHUNK, FILES, MANIFEST, Shelf, check, read_manifest
from bridge.texts import tr

SNAPSHOTS_LIMIT = 500
ENTRIES_LIMIT = 20_000
DIRECTORY_LIMIT = 10_000_000
"""Bytes of the zip's own list of entries, which is read as a whole."""
_END = struct.Struct("<4s4H2LH")
_ENCRYPTED = 0x1


def pack(shelf: Shelf, saved: Sequence[Saved], to: Path) -> None:
    """Write the saved sessions into ``to``, which must not exist. Raises SnapshotError; leaves no half file."""
    draft = to.with_name(to.name + ".part")
    try:
        if to.exists():
            raise SnapshotError(tr("{file} exists already.", file=to), tr("Choose another name."))
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, allowZip64=False) as parcel:
            for number, one in enumerate(saved, 1):
                _pack_one(parcel, shelf, one, f"{number}")
        draft.chmod(0o600)
        draft.replace(to)
    except (OSError, zipfile.LargeZipFile) as error:
        raise SnapshotError(
            tr("{file} could not be written.", file=to), tr("Is the disk full, or the file over 4 GB?"), str(error)
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _pack_one(parcel: zipfile.ZipFile, shelf: Shelf, saved: Saved, prefix: str) -> None:
    files = shelf.open(saved).folder
    parcel.writestr(_entry(f"{prefix}/{MANIFEST}"), manifest.as_text(saved))
    for file in saved.files:
        with (files / file.path).open("rb") as source, parcel.open(_entry(f"{prefix}/{FILES}/{file.path}"), "w") as to:
            while chunk := source.read(CHUNK):
                to.write(chunk)


def _entry(name: str) -> zipfile.ZipInfo:
    """No times and no rights of this computer."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    return entry


def unpack(shelf: Shelf, file: Path) -> list[Saved]:
    """Bring every saved session of a parcel onto the shelf, or none. Raises SnapshotError."""
    try:
        _check_end(file)
        with zipfile.ZipFile(file) as parcel, ExitStack() as drafts:
            made: list[tuple[Path, Saved]] = []
            names: list[str] = []
            for entries in _by_snapshot(parcel.infolist()).values():
                draft = drafts.enter_context(shelf.draft())
                saved = replace(_unpack_one(parcel, entries, draft), id=shelf.fresh_id())
                names.append(shelf.free_name(saved.name, names))
                made.append((draft, replace(saved, name=names[-1])))
            for draft, saved in made:
                (draft / MANIFEST).unlink()
                shelf.put(draft, saved)
            return [saved for _, saved in made]
    except SnapshotError:
        raise
    except (OSError, zipfile.BadZipFile, RuntimeError, ValueError, NotImplementedError, EOFError) as error:
        raise refused(str(error)) from error
    except Exception as error:  # zlib, lzma and struct have errors of their own for broken bytes
        raise refused(repr(error)) from error


def refused(why: str) -> SnapshotError:
    return SnapshotError(
        tr("This file holds no saved sessions, or it is damaged. Nothing was brought here."),
        tr("Make it again with: agent-hub snapshots export FILE"),
        why,
    )


def _check_end(file: Path) -> None:
    """The zip's last record, read before anything else: it says how long the list of entries is."""
    if not file.is_file():
        raise SnapshotError(tr("There is no file {file}.", file=file))
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < _END.size or size > manifest.BYTES_LIMIT * 4:
            raise refused("too short or too long")
        stream.seek(size - _END.size)
        mark, _, _, _, count, length, start, comment = _END.unpack(stream.read(_END.size))
    if mark != b"PK\x05\x06" or comment:
        raise refused("no zip as we write them")
    if count > ENTRIES_LIMIT or length > DIRECTORY_LIMIT or start + length + _END.size != size:
        raise refused("too many entries")


def _by_snapshot(entries: Sequence[zipfile.ZipInfo]) -> dict[str, list[zipfile.ZipInfo]]:
    """The entries of each saved session, every one looked at."""
    found: dict[str, list[zipfile.ZipInfo]] = {}
    seen: set[str] = set()
    for entry in entries:
        _check_entry(entry)
        if entry.filename.casefold() in seen:
            raise refused("an entry is there twice")
        seen.add(entry.filename.casefold())
        found.setdefault(PurePosixPath(entry.filename).parts[0], []).append(entry)
    if not 0 < len(found) <= SNAPSHOTS_LIMIT:
        raise refused("no saved session, or too many")
    if sum(entry.file_size for entry in entries) > manifest.BYTES_LIMIT:
        raise manifest.too_large()
    return found


def _check_entry(entry: zipfile.ZipInfo) -> None:
    manifest.check_path(entry.filename)
    if entry.orig_filename != entry.filename or entry.is_dir():
        raise refused("a name with two readings")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise refused("a link, folder or device")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refused("encrypted, or packed in a way that we do not write")


def _unpack_one(parcel: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], draft: Path) -> Saved:
    """One saved session into its draft: the manifest first, then exactly the files it names."""
    inner = {entry.filename.partition("/")[2]: entry for entry in entries}
    head = inner.pop(MANIFEST, None)
    if head is None or head.file_size > manifest.MANIFEST_LIMIT:
        raise refused("no manifest")
    _write(parcel, head, draft / MANIFEST)
    saved = read_manifest(draft)
    if {f"{FILES}/{file.path}": file.size for file in saved.files} != {
        name: entry.file_size for name, entry in inner.items()
    }:
        raise refused("not the files of the manifest")
    for name, entry in inner.items():
        target = draft / name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(parcel, entry, target)
    check(draft, saved)
    return saved


def _write(parcel: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """Never more than the entry says, whatever it unpacks to."""
    left = entry.file_size
    with parcel.open(entry) as source, target.open("xb") as to:
        while chunk := source.read(min(CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise refused("an entry is larger than it says")
            to.write(chunk)
