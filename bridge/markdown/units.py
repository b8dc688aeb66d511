"""Counts text as Telegram does, in UTF-16 units, and knows where a text may be cut. Pure."""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset({"\u200d", "\ufe0e", "\ufe0f"})
_BLANK = frozenset("\n\u2800\ufffc\u034f\u115f\u1160\u3164\uffa0\ufe0e\ufe0f")
_BLANK_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_PATIENCE = 80
"""How many steps back a cluster is followed: a mark can be repeated for ever."""


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, the unit of Telegram's limits."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_prefix(text: str, start: int, units: int) -> int:
    """The end of the longest slice ``text[start:end]`` within ``units`` UTF-16 units."""
    window = text[start : start + units]
    if utf16_length(window) <= units:
        return start + len(window)
    encoded = window.encode("utf-16-le", "surrogatepass")[: 2 * units]
    return start + len(encoded.decode("utf-16-le", "ignore"))


def is_visible(text: str) -> bool:
    """Whether a person sees anything in ``text``; Telegram refuses most of what is blank, and we all of it."""
    if text.isascii():
        return bool(text.strip())
    return not all(
        char in _BLANK or unicodedata.category(char) in _BLANK_CATEGORIES or 0xE0000 <= ord(char) < 0xE0080
        for char in text
    )


def cluster_edge(text: str, position: int, floor: int) -> int:
    """The nearest cut at or before ``position`` that tears no visible character apart; never below ``floor + 1``."""
    for edge in range(position, max(floor, position - _PATIENCE), -1):
        if not _is_inside_cluster(text, edge):
            return edge
    return position


def next_edge(text: str, position: int) -> int:
    """The nearest cut at or after ``position`` that tears no visible character apart."""
    for edge in range(position, min(len(text), position + _PATIENCE)):
        if not _is_inside_cluster(text, edge):
            return edge
    return position


def _is_inside_cluster(text: str, edge: int) -> bool:
    if not 0 < edge < len(text):
        return False
    after, before = text[edge], text[edge - 1]
    if after < "\u0300" and before < "\u0300":
        return before == "\r" and after == "\n"
    if before == "\u200d" or after in _JOINERS or _is_emoji_tail(after):
        return True
    if unicodedata.category(after).startswith("M"):
        return True
    return _is_flag_letter(after) and _flag_letters_before(text, edge) % 2 == 1


def _is_emoji_tail(char: str) -> bool:
    """Skin tones and tag characters."""
    return "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f"


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, edge: int) -> int:
    start = edge
    while start > 0 and _is_flag_letter(text[start - 1]):
        start -= 1
    return edge - start
