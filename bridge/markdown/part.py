"""One message as it will be sent: Telegram HTML and the same slice as plain text. Pure."""

from __future__ import annotations

from dataclasses import dataclass

TEXT_LIMIT = 4096
"""UTF-16 units after parsing; Bot API: sendMessage."""


@dataclass(frozen=True, slots=True)
class Part:
    """``html`` is accepted by Telegram's parser; ``text`` is what it shows, and the fallback when it refuses."""

    html: str
    text: str
