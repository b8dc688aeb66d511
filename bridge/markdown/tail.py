"""Makes Markdown that is still being written readable: the last part of it, with what is open closed. Pure.

A status message shows the end of a growing answer twice a second. Laying all of it out each time would do, but only
the end is seen: the window begins at a block, or inside a code block with its opening line put before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SLACK = 512
"""Characters of the window beyond twice what is shown: marks and addresses take room and are not seen."""
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_BLOCK_EDGE = re.compile(r"\n[ \t]*\n(?=\S)")
_LINE_EDGE = re.compile(r"\n(?=[^\s|])")
_NEW_BLOCK = re.compile(r"[ \t]*(?:[-*+][ \t]|\d+[.)][ \t]|#{1,6}[ \t]|>|\|)")
_HALF_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\Z")
_HALF_RULE = re.compile(r"(?<=[^\n])\n[ \t]*(?:-{1,2}|={1,2})\Z")
_HALF_FENCE = re.compile(r"(?:\A|\n)[ \t]*(?:`{1,2}|~{1,2})\Z")
_MARKS = re.compile(r"\\.|`+|\*+|_+|~~", re.DOTALL)


def window(source: str, shown: int) -> str:
    """The end of ``source``, enough for ``shown`` characters of text, ready to be parsed on its own."""
    target = len(source) - 2 * shown - SLACK
    fences = list(_fences(source))
    last = fences[-1] if fences else None
    is_in_code = last is not None and last[2] is None
    start, lead = _window_start(source, target, len(source) - shown, fences) if target > 0 else (0, "")
    tail = source[start:]
    return lead + (_HALF_FENCE.sub("", tail) if is_in_code else _completed(tail))


def _fences(source: str) -> Iterator[tuple[int, str, int | None]]:
    """Code blocks: where each begins, its opening line, and where it ends (None: it is still open)."""
    opening: re.Match[str] | None = None
    for match in _FENCE.finditer(source):
        if opening is None:
            if match[2][0] == "~" or "`" not in match[3]:
                opening = match
        elif match[2].startswith(opening[2]) and not match[3].strip():
            yield opening.start(), opening[0], match.end()
            opening = None
    if opening is not None:
        yield opening.start(), opening[0], None


def _window_start(source: str, target: int, latest: int, fences: list[tuple[int, str, int | None]]) -> tuple[int, str]:
    """Where to begin and what to put before; (0, "") when no place is safe."""
    for begin, line, end in fences:
        if begin < target and (end is None or target < end):
            if len(line) - len(line.lstrip()) > 3 or line.startswith("\t"):
                return 0, ""
            return source.find("\n", target) + 1, line + "\n"
    for edge in (_BLOCK_EDGE, _LINE_EDGE):
        for match in edge.finditer(source, target, latest):
            if not any(begin < match.end() < (end or len(source)) for begin, _, end in fences):
                return match.end(), ""
    return 0, ""


def _completed(source: str) -> str:
    """Close what the last block leaves open, so that it looks now as it will look."""
    source = _HALF_RULE.sub("", _HALF_FENCE.sub("", source.rstrip()))
    source = _HALF_LINK.sub(r"\1", source)
    start = _last_block(source)
    return source[:start] + _with_marks_closed(source[start:])


def _last_block(source: str) -> int:
    start = len(source)
    while start > 0:
        begin = source.rfind("\n", 0, start) + 1
        line = source[begin:start].rstrip("\n")
        if not line.strip() and start < len(source):
            return start
        if match := _NEW_BLOCK.match(line):
            return begin + (line.rfind("|") + 1 if match[0].endswith("|") else match.end())
        start = begin - 1 if begin else 0
        if start <= 0:
            return 0
    return 0


def _with_marks_closed(text: str) -> str:
    open_marks: list[tuple[str, int]] = []
    position = 0
    while match := _MARKS.search(text, position):
        position = match.end()
        mark = match[0]
        if mark[0] == "\\":
            continue
        if mark[0] == "`":
            closing = re.compile(rf"(?<!`){mark}(?!`)").search(text, position)
            if closing is None:
                return _closed(text, mark if text[position:].strip() else "", open_marks, match.start())
            position = closing.end()
            continue
        _note(text, match, open_marks)
    return _closed(text, "", open_marks, len(text))


def _note(text: str, match: re.Match[str], open_marks: list[tuple[str, int]]) -> None:
    """Keep the books of emphasis marks, simpler than the parser does and good enough for what is about to change."""
    sign, count = match[0][0], len(match[0])
    before = text[match.start() - 1] if match.start() else " "
    after = text[match.end()] if match.end() < len(text) else " "
    if sign == "_" and (before.isalnum() and after.isalnum()):
        return
    while count and open_marks and open_marks[-1][0] == sign and not before.isspace():
        _, owed = open_marks.pop()
        if owed > count:
            open_marks.append((sign, owed - count))
        count -= min(owed, count)
    if count and not after.isspace():
        open_marks.append((sign, count))


def _closed(text: str, code_mark: str, open_marks: list[tuple[str, int]], code_start: int) -> str:
    """``text`` with closing marks after it; a mark with nothing behind it yet is left out."""
    if not code_mark and code_start < len(text):
        text = text[:code_start]
    text = text.rstrip()
    bare = text.rstrip("*_~")
    trailing = text[len(bare) :]
    if trailing and (not bare or bare[-1].isspace()) and not _is_rule(text):
        text = bare.rstrip()
    return text + code_mark + "".join(sign * count for sign, count in reversed(open_marks))


def _is_rule(text: str) -> bool:
    return len(text) >= 3 and not text.strip("*_- ")
