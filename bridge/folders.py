"""Which folder a session may work in: below one of the roots, links resolved. Reads the disk, changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from agents.contract import HubError
from bridge.texts import tr


class FolderError(HubError):
    """The folder can't be used; title and hint are for the person."""


def choose_folder(wish: str, roots: Sequence[Path], *, home: Path | None = None) -> Path:
    """The real path that ``wish`` (absolute, ``~``, or relative to a root) means.

    Raises FolderError: outside the roots, missing, not a folder, not readable.
    """
    text = wish.strip().strip("\"'").strip()
    if not text or "\0" in text:
        raise FolderError(tr("That is no folder name."), tr("Send /cwd and a path, or /cwd alone to choose."))
    if not roots:
        raise FolderError(tr("No work folder is set."), tr("Add one in the window: Settings, Folders."))
    tried = _candidates(text, roots, home or Path.home())
    found = next((path for path in tried if _exists(path)), tried[0])
    real = resolve(found)
    if not is_inside(real, roots):
        raise FolderError(
            tr("{folder} is outside the allowed folders.", folder=text),
            tr("Allowed: {roots}", roots=", ".join(str(root) for root in roots)),
        )
    check_folder(real)
    return real


def check_folder(folder: Path) -> None:
    """Raises FolderError when a session can't work in ``folder`` any more."""
    if not _exists(folder):
        raise FolderError(
            tr("There is no folder {folder}.", folder=folder), tr("Check the name, or choose another with /cwd.")
        )
    if not folder.is_dir():
        raise FolderError(tr("{folder} is a file, not a folder.", folder=folder), tr("Choose a folder with /cwd."))
    if not os.access(folder, os.R_OK | os.X_OK):
        raise FolderError(
            tr("The folder {folder} can't be read.", folder=folder),
            tr("Change its permissions at the desk, or choose another with /cwd."),
        )


def is_inside(path: Path, roots: Sequence[Path]) -> bool:
    """Whether the resolved ``path`` is one of the roots or below one; roots are resolved here too."""
    return any(path.is_relative_to(resolve(root)) for root in roots)


def resolve(path: Path) -> Path:
    """The path with links and junctions followed as far as it exists; raises FolderError for a loop of links."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise FolderError(tr("{folder} can't be followed.", folder=path), detail=str(error)) from error


def _candidates(text: str, roots: Sequence[Path], home: Path) -> list[Path]:
    if text == "~" or text.startswith(("~/", "~\\")):
        return [home / text[2:]]
    path = Path(text)
    if path.is_absolute():
        return [path]
    return [root / path for root in roots]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # no right to look, or a name the system can't hold
        return False
