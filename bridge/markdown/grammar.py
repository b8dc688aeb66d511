"""The Markdown parser as agents need it: CommonMark with tables and strike-through, from markdown-it-py. Pure.

What differs from the preset, each measured: its nesting limit of 20 drops deeper content without a word, cells beyond
the header's are dropped too (agents write `a || b` in tables), and the targets of links are judged by us. And what
makes it faster, with the same tokens (a test compares them): text runs end only at signs that one of the rules wants,
and a rule is asked only where its sign stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.parser_block import RuleFuncBlockType
from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    code,
    fence,
    heading,
    hr,
    html_block,
    lheading,
    list_block,
    reference,
    table,
)
from markdown_it.rules_inline import (
    StateInline,
    autolink,
    backtick,
    emphasis,
    entity,
    escape,
    html_inline,
    image,
    link,
    newline,
    strikethrough,
)
from markdown_it.token import Token

MAX_NESTING = 100
_TERMINATORS = re.compile(r"[\n!&*<\[\]\\_`~]")


class TooDeepError(Exception):
    """The parser would drop what lies deeper; the text is shown as it stands."""


class _Parser(MarkdownIt):
    """Any target makes a link; a definition needs a good one, for a definition that nobody refers to is not shown."""

    is_defining = False

    def validateLink(self, url: str) -> bool:
        return not self.is_defining or super().validateLink(url)

    def normalizeLink(self, url: str) -> str:
        return url


def tokens_of(source: str) -> list[Token]:
    """The block tokens of ``source``; may raise RecursionError."""
    return _parser().parse(source)


@cache
def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("text", "by_sign", _by_sign)
    parser.inline.ruler.enableOnly(["by_sign"])
    around = ["paragraph", "reference", "blockquote", "list"]
    for name, rule, signs, ends in (
        ("fence", fence, "`~", around),
        ("blockquote", blockquote, ">", around),
        ("hr", hr, "*-_", around),
        ("list", list_block, "*+-0123456789", around[:3]),
        ("reference", _definition, "[", []),
        ("html_block", html_block, "<", around[:3]),
        ("heading", heading, "#", around[:3]),
    ):
        parser.block.ruler.at(name, _only_at(signs, rule), {"alt": ends})
    parser.block.ruler.at("code", _indented, {"alt": []})
    parser.block.ruler.at("table", _table, {"alt": around[:2]})
    parser.block.ruler.at("lheading", _underlined, {"alt": []})
    return parser


# --- blocks -------------------------------------------------------------------------------------------------------


def _only_at(signs: str, rule: RuleFuncBlockType) -> RuleFuncBlockType:
    wanted = frozenset(signs)

    def guarded(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        place = state.bMarks[start] + state.tShift[start]
        return state.src[place : place + 1] in wanted and rule(state, start, end, silent)

    return guarded


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    parser = state.md
    if not isinstance(parser, _Parser):
        return reference(state, start, end, silent)
    parser.is_defining = True
    try:
        return reference(state, start, end, silent)
    finally:
        parser.is_defining = False


def _indented(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return state.sCount[start] - state.blkIndent >= 4 and code(state, start, end, silent)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if start + 2 > end:
        return False
    place = state.bMarks[start + 1] + state.tShift[start + 1]
    if state.src[place : place + 1] not in _RULER:
        return False
    source, before = state.src, len(state.tokens)
    state.src = whole_rows(source, state.bMarks[start])
    try:
        return table(state, start, end, silent)
    finally:
        if state.src is not source:
            state.src = source
            for token in state.tokens[before:]:
                token.content = token.content.replace(_KEPT_BAR, "|")


def whole_rows(source: str, begin: int) -> str:
    """``source`` with bars that separate nothing put out of sight: the rows of the table at ``begin`` keep all text."""
    lines: list[str] = []
    end = begin
    while end < len(source):
        stop = source.find("\n", end)
        line = source[end : len(source) if stop < 0 else stop]
        if "|" not in line or (len(lines) == 1 and not _RULER_LINE.match(line)):
            break
        lines.append(line)
        end += len(line) + 1
    if len(lines) < 2:
        return source
    columns = len(_bars(lines[1])) + 1
    kept = [_whole_row(row, columns, is_head=place == 0) for place, row in enumerate(lines)]
    if kept == lines or _KEPT_BAR in source:
        return source
    return source[:begin] + "\n".join(kept) + source[end - 1 :]


def _whole_row(row: str, columns: int, *, is_head: bool = False) -> str:
    """First the bars in code give way, then those behind the last column."""
    bars = _bars(row)
    if len(bars) < columns:
        return row
    hidden = {bar.start() for code in _CODE_SPAN.finditer(row) for bar in _BAR.finditer(row, *code.span())}
    kept = [bar for bar in bars if bar not in hidden]
    if not is_head and len(kept) >= columns and row[kept[columns - 1] :].strip("| \t"):
        hidden.update(kept[columns - 1 :])
    return "".join(_KEPT_BAR if place in hidden else char for place, char in enumerate(row)) if hidden else row


def _bars(row: str) -> list[int]:
    """Places of the bars between cells."""
    edge = len(row) - len(row.lstrip("> \t"))
    last = len(row.rstrip()) - 1
    return [match.start() for match in _BAR.finditer(row) if match.start() not in {edge, last}]


def _underlined(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A heading with a line of = or - under it: looked for where the paragraph has such a line at all."""
    line = start + 1
    while line < end:
        place = state.bMarks[line] + state.tShift[line]
        if place >= state.eMarks[line]:
            return False
        if state.src[place] in _UNDERLINE:
            return lheading(state, start, end, silent)
        line += 1
    return False


_RULER = frozenset("|-:")
_BAR = re.compile(r"(?<!\\)\|")
_RULER_LINE = re.compile(r"[\s>|:-]*-[\s>|:-]*\Z")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_KEPT_BAR = "\ue07c"
"""Stands for a bar while the rows are cut: of the private use area, and as long as the bar."""
_UNDERLINE = frozenset("=-")


# --- inline -------------------------------------------------------------------------------------------------------


def _by_sign(state: StateInline, silent: bool) -> bool:
    rule = _RULES.get(state.src[state.pos])
    return rule(state, silent) if rule is not None else _text(state, silent)


def _angle(state: StateInline, silent: bool) -> bool:
    return autolink(state, silent) or html_inline(state, silent)


def _never(state: StateInline, silent: bool) -> bool:
    return False


_RULES: dict[str, Callable[[StateInline, bool], bool]] = {
    "\n": newline,
    "\\": escape,
    "`": backtick,
    "~": strikethrough.tokenize,
    "*": emphasis.tokenize,
    "_": emphasis.tokenize,
    "[": link,
    "!": image,
    "<": _angle,
    "&": entity,
    "]": _never,
}


def _text(state: StateInline, silent: bool) -> bool:
    start = state.pos
    found = _TERMINATORS.search(state.src, start)
    end = found.start() if found else state.posMax
    if not silent:
        state.append_pending(state.src[start:end])
    state.pos = end
    return True
