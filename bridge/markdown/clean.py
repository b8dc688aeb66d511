"""Takes out of a text what Telegram would drop, replace or refuse, before anything is measured. Pure.

Measured on TDLib 1.8.69: control characters become spaces (a tab too), U+2028 to U+202E and the marks U+030A,
U+0333 and U+033F vanish, a lone surrogate has the message refused. Colour codes of terminals are noise.
"""

from __future__ import annotations

import re
import unicodedata

TAB_WIDTH = 4
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_VANISHING = "\u030a\u0333\u033f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
_DROPPED = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_VANISHING}]+")
_KEPT_AS_LINE = str.maketrans({"\x0b": "\n", "\x0c": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n"})
# A reference such as &#27; makes a control character after all; a blank of the same width keeps every offset.
_AS_BLANK = re.compile(f"[\x00-\x09\x0b-\x1f\x7f-\x9f{_VANISHING}]")


def clean(text: str) -> str:
    """Text without terminal codes, control characters and what Telegram drops; NFC; tabs and line ends stay."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return _without_controls(text) if _CONTROL.search(text) else text
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    if _CONTROL.search(text) or any(char in text for char in _VANISHING):
        text = _without_controls(text)
    return _without_surrogates(text)


def _without_controls(text: str) -> str:
    return _DROPPED.sub("", _ANSI.sub("", text).translate(_KEPT_AS_LINE))


def _without_surrogates(text: str) -> str:
    """Halves that belong together are joined: an agent that counts in UTF-16 tears a character between two pieces."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def blank_out(text: str) -> str:
    """The same length without a character Telegram would drop: for text that was decoded after ``clean``."""
    return _AS_BLANK.sub(" ", text)


def expand_tabs(text: str) -> str:
    """Telegram shows a tab as one space, in code too."""
    return text.expandtabs(TAB_WIDTH) if "\t" in text else text
