"""Characters that a person can't see, made visible: in what is asked for, the eye must get what the program gets. Pure.

Telegram drops some of them and shows others as nothing; a terminal obeys a few. Each is written as its number,
``⟨U+202E⟩``. Line ends and tabs stay, and so do the joiners inside an emoji or a word that is not Latin.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from agents.contract import PermissionRequest

_SUSPECT = re.compile("[^\n\t -~]")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and signs by their category, and nothing to the eye."""
_JOINERS = frozenset("\u200c\u200d")
_VARIATIONS = frozenset("\ufe0e\ufe0f")
_KEYCAPS = frozenset("0123456789#*")


def has_unseen(text: str) -> bool:
    """Whether the text holds a character that can't be seen, odd blanks included."""
    return any(_is_unseen(text, found.start()) for found in _SUSPECT.finditer(text))


def reveal(text: str, *, with_blanks: bool = True) -> str:
    """The text with such characters as their numbers; without ``with_blanks`` no-break spaces and the like stay."""

    def shown(found: re.Match[str]) -> str:
        at = found.start()
        if not _is_unseen(text, at) or (not with_blanks and unicodedata.category(text[at]) == "Zs"):
            return text[at]
        return f"⟨U+{ord(text[at]):04X}⟩"

    return _SUSPECT.sub(shown, text)


def readable(ask: PermissionRequest) -> PermissionRequest:
    """The request as it is shown. It is judged, answered and remembered as the agent sent it."""
    return replace(
        ask,
        tool=reveal(ask.tool),
        title=reveal(ask.title),
        subject=reveal(ask.subject),
        reason=reveal(ask.reason, with_blanks=False),
        diff=reveal(ask.diff, with_blanks=False),
        plan=reveal(ask.plan, with_blanks=False),
        arguments=reveal(ask.arguments),
    )


def _is_unseen(text: str, at: int) -> bool:
    char = text[at]
    if char == "\r":
        return text[at + 1 : at + 2] != "\n"
    if char in _JOINERS:
        return not (_is_foreign(text, at - 1) and _is_foreign(text, at + 1))
    if char in _VARIATIONS:
        return not (_is_foreign(text, at - 1) or (at > 0 and text[at - 1] in _KEYCAPS))
    return char in _FILLERS or unicodedata.category(char) in {"Cc", "Cf", "Zs", "Zl", "Zp"}


def _is_foreign(text: str, at: int) -> bool:
    """Whether a visible character outside ASCII stands there: it may need a joiner beside it."""
    return 0 <= at < len(text) and text[at] > "\x7f" and unicodedata.category(text[at])[0] in "LMS"
