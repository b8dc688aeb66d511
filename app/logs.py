"""Log files that can be shown to anybody: rotated, and with every token and key replaced before a line is written."""

from __future__ import annotations

import logging
import logging.handlers
import re
import sys
import threading
from pathlib import Path

HIDDEN = "<hidden>"
_TOKEN = re.compile(r"(?<![0-9])(\d{5,20}):[A-Za-z0-9_-]{20,}")
_KEY = re.compile(r"(?i)\b([A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]*\s*[=:]\s*)[^\s'\",;]+")
_BEARER = re.compile(r"(?i)\b(bearer\s+|sk-[a-z]*-?)[A-Za-z0-9._-]{12,}")

# httpx logs every address with the token in it at INFO (measured on httpx 0.28).
QUIET_LOGGERS = ("httpx", "httpcore", "telegram", "markdown_it", "asyncio", "keyring")


class Redactor(logging.Filter):
    """Replaces tokens and keys by shape, and known secrets by value, in message, arguments and tracebacks."""

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
        text = _TOKEN.sub(rf"\1:{HIDDEN}", text)
        text = _KEY.sub(rf"\1{HIDDEN}", text)
        return _BEARER.sub(rf"\1{HIDDEN}", text)

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self.clean(record.getMessage())
        record.args = ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self.clean(record.exc_text)
        return True


redactor = Redactor()


def set_up(folder: Path, *, verbose: bool = False, to_console: bool = False) -> Path:
    """Send all logging to ``folder``/agent-hub.log (1 MB, five kept) and, when asked, to stderr. Returns the file."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / "agent-hub.log"
    handlers: list[logging.Handler] = [
        logging.handlers.RotatingFileHandler(file, maxBytes=1_000_000, backupCount=5, encoding="utf-8", delay=True)
    ]
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
