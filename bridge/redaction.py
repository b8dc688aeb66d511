"""Takes secrets out of every text that leaves the program: logs, crash reports, errors. Pure but for the log filter.

A bot token is recognised by its shape, wherever it stands (the HTTP library writes whole addresses, token included);
its first half, the bot's id, is public and stays. Keys are recognised by the name before their value.
"""

from __future__ import annotations

import logging
import re

MASK = "…"

_TOKEN = re.compile(r"(\d{5,}):[A-Za-z0-9_-]{30,}")
_TOKEN_IN_ADDRESS = re.compile(r"(/(?:file/)?bot\d+)(?::|%3A)[^/\s\"']+", re.IGNORECASE)
_NAMED_SECRET = re.compile(
    r"""(?ix)
    ( [\w.-]* (?: api[_-]?key | token | secret | password | passwd | authorization ) [\w-]* ["']? \s* [=:] \s*
      (?: (?: bearer | basic ) \s+ )? ["']? )
    [^\s"',;&}]+
    """
)
_LOGIN_IN_ADDRESS = re.compile(r"(://)[^/\s:@]+:[^/\s@]+@")
_KEY_SHAPE = re.compile(r"\b(sk|gsk|xai|ghp|gho|github_pat|glpat|xox[abp])[-_][A-Za-z0-9_-]{16,}")


def redact(text: str) -> str:
    """The text with tokens and keys masked."""
    text = _TOKEN_IN_ADDRESS.sub(rf"\1:{MASK}", text)
    text = _TOKEN.sub(rf"\1:{MASK}", text)
    text = _LOGIN_IN_ADDRESS.sub(rf"\1{MASK}@", text)
    text = _KEY_SHAPE.sub(rf"\1-{MASK}", text)
    return _NAMED_SECRET.sub(rf"\1{MASK}", text)


class RedactingFilter(logging.Filter):
    """Put on every log handler: message, arguments and traceback come out without secrets."""

    def __init__(self) -> None:
        super().__init__()
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = f"{record.msg} {record.args}"
        record.msg, record.args = redact(message), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = self._formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = redact(record.exc_text)
        if record.stack_info:
            record.stack_info = redact(record.stack_info)
        return True


def quiet_http_logs() -> None:
    """The HTTP libraries log every address, token included, at INFO and DEBUG: let only warnings through."""
    for name in ("httpx", "httpcore", "telegram"):
        logging.getLogger(name).setLevel(logging.WARNING)
