"""Files that were sent, by id and by path, with the sizes Telegram allows."""

from __future__ import annotations

import mimetypes
import struct
from dataclasses import dataclass

from bridge.simulator.chats import Media
from bridge.simulator.errors import FILE_ID_BAD, FILE_TOO_BIG, TOO_LARGE, ApiError, bad_request
from bridge.simulator.limits import Limits

FOLDERS = {
    "photo": "photos",
    "document": "documents",
    "audio": "music",
    "voice": "voice",
    "video": "videos",
    "animation": "animations",
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The bytes behind a ``Media``; ``path`` is what getFile answers."""

    media: Media
    path: str
    data: bytes


class FileShelf:
    """All files of the simulator, in memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._by_id: dict[str, StoredFile] = {}
        self._by_path: dict[str, StoredFile] = {}

    def keep(self, kind: str, name: str, media_type: str, data: bytes, *, by_bot: bool) -> Media:
        """Store a file; raises 413 or 400 when it is too large for its kind or empty."""
        if by_bot and len(data) > self._limits.upload:
            raise ApiError(413, TOO_LARGE)
        if not data:
            raise bad_request("file must be non-empty")
        width = height = 0
        if kind == "photo":
            if by_bot and len(data) > self._limits.photo_upload:
                raise ApiError(413, TOO_LARGE)
            width, height = picture_size(data)
            if not width:
                raise bad_request("IMAGE_PROCESS_FAILED")
            if width + height > 10_000 or max(width, height) > 20 * min(width, height):
                raise bad_request("PHOTO_INVALID_DIMENSIONS")
        number = len(self._by_id) + 1
        name = name or f"file_{number}"
        guessed = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        media = Media(kind, f"AgACAgIAAx{number:08d}", f"AQAD{number:08d}", name, guessed, len(data), width, height)
        suffix = ".jpg" if kind == "photo" else ("." + name.rsplit(".", 1)[1] if "." in name else "")
        stored = StoredFile(media, f"{FOLDERS[kind]}/file_{number}{suffix}", data)
        self._by_id[media.file_id] = stored
        self._by_path[stored.path] = stored
        return media

    def find(self, file_id: str) -> StoredFile:
        """The file of an id; raises 400 when there is none."""
        try:
            return self._by_id[file_id]
        except KeyError:
            raise bad_request(FILE_ID_BAD) from None

    def to_download(self, file_id: str) -> StoredFile:
        """For getFile: raises 400 over 20 MiB."""
        stored = self.find(file_id)
        if len(stored.data) > self._limits.download:
            raise bad_request(FILE_TOO_BIG)
        return stored

    def at(self, path: str) -> StoredFile | None:
        """The file at a path of getFile."""
        return self._by_path.get(path)


def picture_size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels of a PNG, GIF or JPEG; (0, 0) for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data[:6] in {b"GIF87a", b"GIF89a"} and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return width, height
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return 0, 0
