"""Reads unified diffs for showing them on a phone: counts, no headers, no common indentation. Pure.

Agents send whole diffs, diffs without file headers, and diffs without hunk headers; each is read as far as it goes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NOISE = (
    "diff --git ",
    "index ",
    "new file mode ",
    "deleted file mode ",
    "old mode ",
    "new mode ",
    "similarity index ",
    "rename ",
)
BETWEEN_HUNKS = "⋯"


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's changes; ``lines`` begin with "+", "-" or " " and have lost what all of them were indented by."""

    path: str
    added: int
    removed: int
    lines: tuple[str, ...]


def read_diff(diff: str, path: str = "") -> list[FileDiff]:
    """The files of a unified diff; ``path`` names the file of a diff that does not say it."""
    reader = _Reader(path)
    for line in diff.splitlines():
        reader.read(line)
    return reader.files()


class _Reader:
    def __init__(self, path: str) -> None:
        self._path = path
        self._lines: list[str] = []
        self._files: list[FileDiff] = []
        self._old = self._new = 0
        self._is_counted = False

    def files(self) -> list[FileDiff]:
        self._close()
        return self._files

    def read(self, line: str) -> None:
        if self._old > 0 or self._new > 0:
            self._take(line)
        elif hunk := _HUNK.match(line):
            self._is_counted = True
            self._old, self._new = int(hunk[1] or 1), int(hunk[2] or 1)
            if self._lines:
                self._lines.append(BETWEEN_HUNKS)
        elif line.startswith("--- ") and (self._is_counted or not self._lines):
            self._close()
            self._path = _name(line[4:]) or self._path
        elif line.startswith("+++ ") and not self._lines:
            self._path = _name(line[4:]) or self._path
        elif line.startswith("@@"):
            if self._lines:
                self._lines.append(BETWEEN_HUNKS)
        elif not line.startswith(_NOISE) and not line.startswith("\\"):
            self._take_uncounted(line)

    def _take(self, line: str) -> None:
        if line.startswith("\\"):
            return
        self._old -= not line.startswith("+")
        self._new -= not line.startswith("-")
        self._lines.append(line or " ")

    def _take_uncounted(self, line: str) -> None:
        if line.startswith(("+", "-", " ")):
            self._lines.append(line)
        elif line and not self._is_counted:
            self._lines.append(" " + line)

    def _close(self) -> None:
        if self._lines:
            self._files.append(
                FileDiff(
                    self._path,
                    sum(line.startswith("+") for line in self._lines),
                    sum(line.startswith("-") for line in self._lines),
                    _dedented(self._lines),
                )
            )
        self._lines = []
        self._is_counted = False


def _name(header: str) -> str:
    """The path in a ``---`` or ``+++`` line; git puts a/ and b/ before it and a tab with a date may follow."""
    path = header.split("\t", maxsplit=1)[0].strip().strip('"')
    if path == "/dev/null":
        return ""
    return path[2:] if path.startswith(("a/", "b/")) else path


def _dedented(lines: list[str]) -> tuple[str, ...]:
    plain = [line[0] + line[1:].expandtabs(4) if line != BETWEEN_HUNKS else line for line in lines]
    bodies = [line[1:] for line in plain if line[1:].strip()]
    indent = min((len(body) - len(body.lstrip(" ")) for body in bodies), default=0)
    return tuple(_spaced(line, indent) for line in plain)


def _spaced(line: str, indent: int) -> str:
    """A blank after the sign sets it off from the code."""
    return line if line == BETWEEN_HUNKS else f"{line[0]} {line[1 + indent :]}".rstrip() or " "
