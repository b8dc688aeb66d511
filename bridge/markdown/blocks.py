"""Block tokens to one styled text, laid out for a phone: the rules of what follows what, and with how much air. Pure.

Compact: an empty line between paragraphs, before headings and round lists; none after a heading and none beside a
box (code, quote, aligned table), which has a frame of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import accumulate

from markdown_it.token import Token

from bridge.markdown.bare_words import code_words
from bridge.markdown.clean import blank_out, expand_tabs
from bridge.markdown.grammar import MAX_NESTING, TooDeepError
from bridge.markdown.inline import Inline
from bridge.markdown.styled import LETTER_STYLES, Span, Style, StyledText, in_order, without
from bridge.markdown.tables import Cell, lay_out
from bridge.markdown.units import is_visible

BULLETS = "•◦▪"
INDENT = "   "
RULE = "——————"
FOLD_LINES = 12
"""A quote of more lines than this on a phone is folded."""
PHONE_COLUMNS = 45
_BOXES = {"[ ] ": "⬜", "[x] ": "✅", "[X] ": "✅"}
_LANGUAGE = re.compile(r"[A-Za-z0-9+#_.-]{1,32}\Z")


class _Last(Enum):
    """What the next block stands under."""

    NOTHING = 0
    TEXT = 1
    HEADING = 2
    BOX = 3
    BULLET = 4
    LIST = 5


class _List:
    """An open list: ``number`` is the one written last, None for bullets."""

    __slots__ = ("number",)

    def __init__(self, number: int | None) -> None:
        self.number = number


class _Table:
    """A table being read."""

    __slots__ = ("aligns", "rows")

    def __init__(self) -> None:
        self.rows: list[list[Cell]] = []
        self.aligns: list[str] = []


def lay_out_blocks(tokens: Sequence[Token], *, may_hold_controls: bool = True) -> StyledText:
    """The styled text of a parsed document; raises TooDeepError where the parser dropped something.

    ``may_hold_controls``: references such as ``&#27;`` were decoded after the source was cleaned.
    """
    layout = _Layout()
    handlers = layout.handlers
    for token in tokens:
        handler = handlers.get(token.type)
        if handler is not None:
            handler(token)
    return layout.styled(may_hold_controls=may_hold_controls)


class _Layout:
    def __init__(self) -> None:
        self._flow = Inline()
        self._last = _Last.NOTHING
        self._starts: list[int] = []
        self._glued: set[int] = set()
        self._lists: list[_List] = []
        self._quotes = 0
        self._quote: tuple[int, int] = (0, 0)
        self._paragraph_end = -1
        self._table: _Table | None = None
        self._is_item_begun = False
        self.handlers: dict[str, Callable[[Token], None]] = {
            "inline": self._inline,
            "paragraph_open": self._paragraph,
            "heading_open": self._open_heading,
            "heading_close": self._close_heading,
            "bullet_list_open": self._open_list,
            "ordered_list_open": self._open_list,
            "bullet_list_close": self._close_list,
            "ordered_list_close": self._close_list,
            "list_item_open": self._open_item,
            "blockquote_open": self._open_quote,
            "blockquote_close": self._close_quote,
            "fence": self._code,
            "code_block": self._code,
            "html_block": self._html,
            "hr": self._rule,
            "table_open": self._open_table,
            "table_close": self._close_table,
            "tr_open": self._open_row,
            "th_open": self._open_head,
        }

    def styled(self, *, may_hold_controls: bool) -> StyledText:
        text = "".join(self._flow.pieces)
        if may_hold_controls or "\t" in text:
            text = blank_out(text)
        spans = _with_code_words(text, [span for span in self._flow.spans if span is not None])
        return StyledText(text, spans, self._starts, frozenset(self._glued))

    # --- air --------------------------------------------------------------------------------------------------

    def _begin(self, kind: _Last, *, is_close: bool = False) -> None:
        """Put the air before a block and note the place; ``is_close``: no empty line in the source either."""
        flow, last = self._flow, self._last
        self._is_item_begun = last is _Last.BULLET and kind is _Last.TEXT
        if last is _Last.BULLET:
            if kind is _Last.BOX or kind is _Last.LIST:
                flow.break_line()
            else:
                flow.write(" ")
        elif last is not _Last.NOTHING:
            if self._needs_air(kind, is_close):
                flow.write("\n")
            if kind is _Last.BOX:
                flow.write("\n")
            else:
                flow.break_line()
            if last is _Last.HEADING:
                self._glued.add(flow.length)
            elif not self._lists and not self._quotes:
                self._starts.append(flow.length)
        flow.start_line()
        self._last = kind

    def _needs_air(self, kind: _Last, is_close: bool) -> bool:
        last = self._last
        if kind is _Last.HEADING:
            return last is not _Last.HEADING and not self._lists
        if last is _Last.HEADING or _Last.BOX in (kind, last) or self._lists:
            return False
        return not is_close

    # --- blocks -----------------------------------------------------------------------------------------------

    def _paragraph(self, token: Token) -> None:
        self._begin(_Last.TEXT)
        self._paragraph_end = token.map[1] if token.map else -1

    def _inline(self, token: Token) -> None:
        children = token.children or []
        if self._table is not None:
            self._table.rows[-1].append(_cell(children, token.content))
            return
        if self._is_item_begun:
            self._task_box(children)
        self._flow.add(children, token.content)

    def _task_box(self, children: Sequence[Token]) -> None:
        """A box takes the bullet's place, and stands after a number."""
        first = children[0] if children else None
        if first is None or first.type != "text" or first.content[:4] not in _BOXES:
            return
        box = _BOXES[first.content[:4]]
        first.content = first.content[4:]
        if self._lists[-1].number is None:
            self._flow.pieces[-2] = box
        else:
            self._flow.write(box + " ")

    def _open_heading(self, token: Token) -> None:
        self._begin(_Last.HEADING)
        self._flow.open(Style.BOLD)

    def _close_heading(self, token: Token) -> None:
        self._flow.close(Style.BOLD)

    def _rule(self, token: Token) -> None:
        self._begin(_Last.TEXT)
        self._flow.write(RULE)

    def _html(self, token: Token) -> None:
        self._begin(_Last.TEXT)
        self._flow.write(expand_tabs(token.content.rstrip("\n")))

    def _code(self, token: Token) -> None:
        content = expand_tabs(token.content.removesuffix("\n"))
        if not is_visible(content):
            return
        self._begin(_Last.BOX)
        words = token.info.split(maxsplit=1)
        language = words[0] if words and _LANGUAGE.match(words[0]) else ""
        flow = self._flow
        flow.spans.append(Span(flow.length, flow.length + len(content), Style.PRE, language))
        flow.write(content)

    # --- quotes -----------------------------------------------------------------------------------------------

    def _open_quote(self, token: Token) -> None:
        _check_depth(token)
        if self._quotes == 0:
            self._begin(_Last.BOX)
            self._quote = (self._flow.length, len(self._flow.spans))
            self._flow.spans.append(None)
            self._last = _Last.NOTHING
        self._quotes += 1

    def _close_quote(self, token: Token) -> None:
        self._quotes -= 1
        if self._quotes:
            return
        start, place = self._quote
        if self._flow.length > start:
            lines = self._tail_from(start).split("\n")
            rows = sum(1 + len(line) // PHONE_COLUMNS for line in lines)
            style = Style.EXPANDABLE if rows > FOLD_LINES else Style.QUOTE
            self._flow.spans[place] = Span(start, self._flow.length, style)
        self._last = _Last.BOX

    def _tail_from(self, start: int) -> str:
        """The text from ``start`` on."""
        pieces, length = self._flow.pieces, self._flow.length
        place = len(pieces)
        while length > start:
            place -= 1
            length -= len(pieces[place])
        return "".join(pieces[place:])

    # --- lists ------------------------------------------------------------------------------------------------

    def _open_list(self, token: Token) -> None:
        is_ordered = token.type == "ordered_list_open"
        if not self._lists and self._last is not _Last.BULLET:
            is_close = bool(token.map) and token.map is not None and token.map[0] == self._paragraph_end
            self._last = _Last.TEXT if self._last is _Last.LIST else self._last
            self._begin_list_air(is_close=is_close)
        start = token.attrs.get("start", 1)
        self._lists.append(_List(int(start) - 1 if is_ordered else None))

    def _begin_list_air(self, *, is_close: bool) -> None:
        """The first item brings its own line; only the empty line before a list is put here."""
        if self._last is not _Last.NOTHING and self._needs_air(_Last.LIST, is_close):
            self._flow.write("\n")

    def _close_list(self, token: Token) -> None:
        self._lists.pop()
        self._flow.indent = INDENT * len(self._lists)
        self._last = _Last.LIST if not self._lists else _Last.TEXT

    def _open_item(self, token: Token) -> None:
        _check_depth(token)
        flow, depth = self._flow, len(self._lists)
        flow.indent = INDENT * (depth - 1)
        if self._last is not _Last.NOTHING:
            flow.break_line()
            if self._last is _Last.HEADING:
                self._glued.add(flow.length)
            elif depth == 1 and not self._quotes:
                self._starts.append(flow.length)
        elif flow.indent:
            flow.write(flow.indent)
        flow.write(self._mark(token, depth))
        flow.indent = INDENT * depth
        self._last = _Last.BULLET

    def _mark(self, token: Token, depth: int) -> str:
        current = self._lists[-1]
        if current.number is None:
            return BULLETS[min(depth, len(BULLETS)) - 1]
        typed = int(token.info) if token.info.isdecimal() else 0
        current.number = typed if typed > current.number else current.number + 1
        return f"{current.number}{token.markup or '.'}"

    # --- tables -----------------------------------------------------------------------------------------------

    def _open_table(self, token: Token) -> None:
        self._table = _Table()

    def _open_row(self, token: Token) -> None:
        if self._table is not None:
            self._table.rows.append([])

    def _open_head(self, token: Token) -> None:
        if self._table is not None:
            self._table.aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))

    def _close_table(self, token: Token) -> None:
        table, self._table = self._table, None
        if table is None:
            return
        laid = lay_out(table.rows, table.aligns)
        if not laid.text:
            return
        self._begin(_Last.BOX if laid.is_code else _Last.TEXT)
        flow = self._flow
        start = flow.length
        if laid.is_code:
            flow.spans.append(Span(start, start + len(laid.text), Style.PRE))
        flow.spans += [span._replace(start=span.start + start, end=span.end + start) for span in laid.spans]
        if not self._lists and not self._quotes:
            self._starts += [start + row for row in laid.rows]
        flow.write(laid.text)


_SOLID = frozenset({Style.CODE, Style.PRE, Style.LINK})


def _cell(children: Sequence[Token], source: str) -> Cell:
    if len(children) == 1 and children[0].type == "text":
        return Cell(children[0].content)
    flow = Inline()
    flow.add(children, source)
    return Cell.of(flow)


def _with_code_words(text: str, spans: list[Span]) -> list[Span]:
    words = list(code_words(text))
    if not words:
        return spans
    solid = [span for span in spans if span.style in _SOLID]
    begins = [span.start for span in solid]
    letters = [span for span in spans if span.style in LETTER_STYLES]
    letter_begins = [span.start for span in letters]
    reach = list(accumulate((span.end for span in letters), max))
    free = []
    for start, end, sign in words:
        place = bisect_left(begins, end) - 1
        if place >= 0 and solid[place].end > start:
            continue
        # A word in bold stays bold: its one sign as code is enough, for Telegram links nothing that holds code.
        before = bisect_left(letter_begins, end)
        is_styled = before > 0 and reach[before - 1] > start
        free.append((sign, sign + 1) if is_styled else (start, end))
    return in_order([*without(spans, free), *(Span(start, end, Style.CODE) for start, end in free)]) if free else spans


def _check_depth(token: Token) -> None:
    if token.level >= MAX_NESTING - 2:
        raise TooDeepError
