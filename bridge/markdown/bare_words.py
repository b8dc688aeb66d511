"""Finds words that Telegram would turn into links, commands or tags though they are names of code. Pure.

``main.py`` is an address in Paraguay and ``./run.sh`` holds the command ``/run``: a tap on them leads astray. Shown
as code they stay what they are. What Telegram links was measured with TDLib 1.8.69 (getTextEntities). Top-level
domains that people do use for bare addresses (com, io, dev, ru, ...) are left to Telegram.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FILES = (
    "ac ad am as bar bz cab cat cc cl do foo gd gs in int java la link map md mk ml mm mo mov ms pid pl pm pro ps "
    "pub py rest rs sc sh so st sv tf vi zip"
)
_ATTRIBUTES = (
    "abc at auto box build buy call cards case cash click codes compare data date day days deals delta dot email "
    "events fail family fast final fit free fun game games group help host id info is limited live man market menu "
    "mobile name network next now one open parts pay photo photos pics place play plus post press prod properties "
    "property quest re read rent repair report review reviews room run safe sale save search secure security seek "
    "select services show social sr stream style support surf systems target tax team tips to today tools top total "
    "trade training tube video vote watch win work works yt zone"
)
CODE_DOMAINS = frozenset(f"{_FILES} {_ATTRIBUTES}".split())
"""Top-level domains that are file name endings or attribute names in code."""
_ROOT_FOLDERS = (
    "Applications Library Users Volumes bin boot dev etc home lib lib64 media mnt opt proc root run sbin srv sys tmp "
    "usr var"
)
_FOLDERS = frozenset(_ROOT_FOLDERS.split())
_ENDINGS = "|".join(sorted(CODE_DOMAINS | {ending.upper() for ending in CODE_DOMAINS}, key=len, reverse=True))
# Each branch begins with its own sign, so that the scan skips quickly over what has none of them.
_TRIGGER = re.compile(
    rf"\.(?:{_ENDINGS})(?![\w-]|\.\w)|/(?<![\w/<>]/)\w+(?![\w/<>])|@(?<!\w@)[\w-]+/[\w./-]+|\$(?<![\w$]\$)[A-Z]{{1,8}}(?!\w)"
)
_BEFORE_DOT = re.compile(r"(?:[^\W_]|[.-])*[^\W_]\Z")
_AFTER = re.compile(r"(?:[:#?/=][\w./:#?=&%-]*)?")
_WORD_END = re.compile(r"[^\s<>()\[\]{}\"'`«»“”|,;]*")
_WORD_START = re.compile(r"[^\s\"'`«»“”|,;]*\Z")
_LONGEST = 256
"""Code points looked back for the start of a word; a longer one is no name."""


def code_words(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of ``text`` to show as code, in order, without overlaps."""
    last = 0
    for match in _TRIGGER.finditer(text):
        if match.start() < last:
            continue
        found = _word(text, match)
        if found is not None and found[0] >= last:
            yield found
            last = found[1]


def _word(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    floor = max(0, match.start() - _LONGEST)
    before = _match(_WORD_START, text, floor, match.start())
    if "://" in before or before.startswith("www."):
        return None
    match match[0][0]:
        case ".":
            return _file(text, match, floor)
        case "/":
            return _command(text, match, before)
        case _:
            return match.start(), _right(text, match.start())


def _file(text: str, match: re.Match[str], floor: int) -> tuple[int, int] | None:
    stem = _match(_BEFORE_DOT, text, floor, match.start())
    start = match.start() - len(stem)
    sign = text[start - 1] if start else " "
    if not stem or ".." in stem or stem.startswith(".") or sign in "/@_":
        return None
    if sign == "\\":
        start = match.start() - len(_match(_WORD_START, text, floor, match.start()).lstrip("(["))
    tail = _AFTER.match(text, match.end())
    end = match.end() + len(tail[0].rstrip(".:?#=&%/-") if tail else "")
    return start, end


def _command(text: str, match: re.Match[str], before: str) -> tuple[int, int] | None:
    """A path that Telegram reads as /command; a lone ``/word`` stays a command, one may be meant."""
    lead = before.lstrip("([{<")
    end = _right(text, match.start())
    if lead or match[0][1:] in _FOLDERS or end > match.end():
        return match.start() - len(lead), end
    return None


def _right(text: str, start: int) -> int:
    word = _WORD_END.match(text, start)
    return start + len(word[0].rstrip(".:!?…*_") if word else "")


def _match(pattern: re.Pattern[str], text: str, start: int, end: int) -> str:
    found = pattern.search(text, start, end)
    return found[0] if found else ""
