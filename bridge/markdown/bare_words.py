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
    "abc at auto box build buy call cards case cash click codes compare data date day deals delta dot email "
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
# Each branch begins with its own sign, so that the scan skips quickly over what has none of them.
_TRIGGER = re.compile(
    r"\.[A-Za-z]{2,10}(?![\w-]|\.\w)"
    r"|/(?<![\w/<>]/)\w+(?![\w/<>])"
    r"|@(?<!\w@)[\w-]+/[\w./-]+"
    r"|\$(?<![\w$]\$)[A-Z]{1,8}(?!\w)"
)
_AFTER = re.compile(r"(?:[:#?/=][\w./:#?=&%-]*)?")
_FORMULA = re.compile(r"\$(?!\s)[^$\n]{1,200}(?<!\s)\$(?![\w$])")
_WORD_END = re.compile(r"[^\s<>()\[\]{}\"'`«»“”|,;]*")
_EDGES = frozenset(" \n\t\"'`«»“”|,;")
_LONGEST = 256
"""Code points looked back for the start of a word; a longer one is no name."""


def code_words(text: str) -> Iterator[tuple[int, int, int]]:
    """Start and end of what to show as code, in order, without overlaps, and where the sign is that misleads."""
    last = 0
    for match in _TRIGGER.finditer(text):
        sign = match[0]
        if sign[0] == "." and not (sign[1:] in CODE_DOMAINS or (sign.isupper() and sign[1:].lower() in CODE_DOMAINS)):
            continue
        found = _word(text, match)
        if found is not None and found[0] >= last:
            yield *found, match.start()
            last = found[1]


def _word(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    start = match.start()
    floor = max(0, start - _LONGEST)
    while start > floor and text[start - 1] not in _EDGES:
        start -= 1
    before = text[start : match.start()]
    if "://" in before or before.startswith("www."):
        return None
    match match[0][0]:
        case ".":
            return _file(text, match, before)
        case "/":
            return _command(text, match, before)
        case "$" if formula := _FORMULA.match(text, match.start()):
            return formula.span()
        case _:
            return match.start(), _right(text, match.start())


def _file(text: str, match: re.Match[str], before: str) -> tuple[int, int] | None:
    stem = _stem(before)
    sign = before[-len(stem) - 1 : -len(stem)] if stem else "/"
    if sign == "_":
        stem = stem.partition(".")[2]
    if not stem or sign in {"/", "@"}:
        return None
    lead = before.lstrip("([") if sign == "\\" else stem
    tail = _AFTER.match(text, match.end())
    end = match.end() + len(tail[0].rstrip(".:?#=&%/-") if tail else "")
    return match.start() - len(lead), end


def _stem(before: str) -> str:
    """The labels of a host name at the end of ``before``; an underscore is not part of one."""
    start = len(before)
    while start and (before[start - 1].isalnum() or before[start - 1] in ".-"):
        start -= 1
    stem = before[start:].rpartition("..")[2].lstrip(".")
    return stem if stem and stem[-1].isalnum() else ""


def _command(text: str, match: re.Match[str], before: str) -> tuple[int, int] | None:
    """A path that Telegram reads as /command; a lone ``/word`` stays a command, one may be meant."""
    lead = before.lstrip("([{<*")
    end = _right(text, match.start())
    if lead or match[0][1:] in _FOLDERS or end > match.end():
        return match.start() - len(lead), end
    return None


def _right(text: str, start: int) -> int:
    word = _WORD_END.match(text, start)
    return start + len(word[0].rstrip(".:!?…*_") if word else "")
