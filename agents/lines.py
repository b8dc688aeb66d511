"""Cutting an agent's byte stream into lines of any length, and keeping the tail of its stderr. Pure, no I/O."""

from __future__ import annotations

from collections import deque

from agents.contract import AgentError, sentence

MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line after which reading stops with an error; the longest line measured was 3.1 MB (Claude 2.1.332)."""
_STDERR_LINES = 100
_STDERR_WIDTH = 4096


class LineTooLongError(AgentError):
    """The agent wrote a line that no sane message needs; reading on would only eat memory."""


class LineSplitter:
    """Collects chunks and gives whole lines, without the line end and without blank lines.

    A line is joined once, when its end has come, so a 4 MB line in 64 KiB chunks costs one copy.
    """

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes. Raises LineTooLongError."""
        *whole, rest = data.split(b"\n")
        lines = []
        for piece in whole:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return [line for line in lines if line]

    def flush(self) -> bytes:
        """The unfinished last line at the end of the stream, empty when there is none."""
        return self._take()

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._size > self._limit:
            size = self._limit // (1024 * 1024)
            self._take()
            raise LineTooLongError(
                sentence("The agent sent a single message that is too large."),
                hint=sentence("Start the session again and ask for smaller output."),
                detail=f"one line of more than {size} MiB on stdout",
            )
        self._parts.append(piece)

    def _take(self) -> bytes:
        line = b"".join(self._parts) if len(self._parts) != 1 else self._parts[0]
        self._parts.clear()
        self._size = 0
        return line.removesuffix(b"\r")


class StderrTail:
    """The last lines of stderr, for the moment when something goes wrong; long lines are cut, nothing is kept twice."""

    def __init__(self, lines: int = _STDERR_LINES) -> None:
        self._lines: deque[str] = deque(maxlen=lines)
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take what the pipe gave; a line without an end is kept up to its cut width."""
        *whole, rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._keep(line)
        self._rest = rest[:_STDERR_WIDTH]

    @property
    def text(self) -> str:
        """All that is kept, oldest line first."""
        rest = self._rest.decode("utf-8", "replace").strip()
        return "\n".join([*self._lines, *([rest] if rest else [])])

    def _keep(self, line: bytes) -> None:
        text = line[:_STDERR_WIDTH].decode("utf-8", "replace").rstrip()
        if text:
            self._lines.append(text)
