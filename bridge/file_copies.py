"""Files on their way out: checked to lie inside the session's folder, and copied, so that what was checked is sent.

Blocks; call it in a thread. The copies lie in the hub's own folder until they are delivered.
"""

from __future__ import annotations

import re
import shutil
import stat
from pathlib import Path

from agents.contract import sentence
from bridge.messenger import FileUpload
from bridge.policy.paths import is_credential

FILE_LIMIT = 50_000_000
"""Bytes; Bot API: sendDocument."""
PHOTO_LIMIT = 10_000_000
PHOTO_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})
_SECRET_NAME = re.compile(
    r".*\.(pem|key|p12|pfx|kdbx|jks|keystore|ppk|ovpn)|.*(credential|secret|password|token).*", re.IGNORECASE
)


class FileRefused(Exception):
    """``why`` a file does not go out: English for the agent, and for a person by ``told``."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def take_copy(path: Path, cwd: Path, folder: Path) -> Path:
    """Copy a file of the session's folder ``cwd`` into ``folder``. Raises FileRefused."""
    real, size = find(path, cwd)
    if size > FILE_LIMIT:
        raise FileRefused(sentence("{path} is larger than 50 MB; Telegram takes no more from a bot.", path=path))
    if size == 0:
        raise FileRefused(sentence("{path} is empty; Telegram does not take empty files.", path=path))
    copy = folder / real.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(real, copy, follow_symlinks=False)
        is_as_checked = not copy.is_symlink() and 0 < copy.stat().st_size <= FILE_LIMIT
    except OSError as error:
        raise FileRefused(sentence("{path} could not be read: {reason}", path=path, reason=error.strerror)) from error
    if not is_as_checked:
        shutil.rmtree(folder, ignore_errors=True)
        raise FileRefused(sentence("{path} changed while it was read.", path=path))
    return copy


def find(path: Path, cwd: Path) -> tuple[Path, int]:
    """The real file and its size in bytes, links resolved. Raises FileRefused."""
    try:
        base = cwd.resolve(strict=True)
        real = (base / path).resolve(strict=True)
        facts = real.stat()
    except (OSError, RuntimeError, ValueError) as error:
        raise FileRefused(sentence("There is no readable file {path}.", path=path)) from error
    if not real.is_relative_to(base):
        raise FileRefused(
            sentence(
                "{path} is outside the session's folder {base}; only files inside it can be sent.", path=path, base=base
            )
        )
    if not stat.S_ISREG(facts.st_mode):
        raise FileRefused(sentence("{path} is not a file.", path=path))
    return real, facts.st_size


def looks_secret(path: Path) -> bool:
    """Whether a file's name or folder says that it holds keys or passwords."""
    return is_credential(path.as_posix()) or _SECRET_NAME.fullmatch(path.name) is not None


def upload_of(copy: Path) -> FileUpload:
    """Photo or document, by kind and size."""
    is_photo = copy.suffix.lower() in PHOTO_SUFFIXES and copy.stat().st_size <= PHOTO_LIMIT
    return FileUpload(copy, copy.name, is_photo=is_photo)
