"""Log files that can be shown to anybody: rotated, and with every token and key replaced before a line is written."""

from __future__ import annotations

import logging
import logging.handlers
import sys
import threading
from pathlib import Path

from bridge.redaction import RedactingFilter, redact

HIDDEN = "<hidden>"

# httpx logs every address with the token in it at INFO (measured on httpx 0.28).
QUIET_LOGGERS = ("httpx", "httpcore", "telegram", "markdown_it", "asyncio", "keyring")


class Redactor(RedactingFilter):
    """Beside what is recognised by shape, hides texts that are known to be secret."""

    def __init__(self) -> None:
        super().__init__()
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def hide(self, secret: str) -> None:
        """From now on this very text never appears in a log."""
        if len(secret) >= 6:
            with self._lock:
                self._known.add(secret)

    def clean(self, text: str) -> str:
        for secret in tuple(self._known):
            text = text.replace(secret, HIDDEN)
        return redact(text)

    def filter(self, record: logging.LogRecord) -> bool:
        super().filter(record)
        record.msg = self.clean(str(record.msg))
        if record.exc_text:
            record.exc_text = self.clean(record.exc_text)
        return True


redactor = Redactor()


class LogFile(logging.handlers.RotatingFileHandler):
    """A file that may be refused (a full disk): the line is lost then, and the terminal is not filled with why."""

    def handleError(self, record: logging.LogRecord) -> None:
        """The hub itself says when its disk is full; anything else than the disk is told as usual."""
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


def set_up(folder: Path, *, verbose: bool = False, to_console: bool = False) -> Path:
    """Send all logging to ``folder``/agent-hub.log (1 MB, five kept) and, when asked, to stderr. Returns the file."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / "agent-hub.log"
    handlers: list[logging.Handler] = [LogFile(file, maxBytes=1_000_000, backupCount=5, encoding="utf-8", delay=True)]
    if to_console:
        handlers.append(logging.StreamHandler(sys.stderr))
    root = logging.getLogger()
    for old in tuple(root.handlers):
        root.removeHandler(old)
        old.close()
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        handler.addFilter(redactor)
        root.addHandler(handler)
    root.setLevel(logging.DEBUG if verbose else logging.INFO)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    return file
