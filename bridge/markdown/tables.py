"""Lays tables out for a phone: aligned where 32 columns do, else key and value, else a card a row. Pure.

Measured on a phone-wide bubble (318 px): 34 columns of monospaced text fit a line, a wider table wraps and can't be
read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wcwidth import wcswidth

from bridge.markdown.inline import Inline
from bridge.markdown.styled import Span, Style, in_order, without

COLUMNS = 32
_BETWEEN = "  "


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: text without line ends at its edges, and spans that begin at 0."""

    text: str
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, flow: Inline) -> Cell:
        return cls("".join(flow.pieces), tuple(span for span in flow.spans if span is not None))


@dataclass(frozen=True, slots=True)
class Laid:
    """A laid out table: ``is_code`` when it is one aligned block; ``rows`` are offsets where rows begin."""

    text: str
    spans: Sequence[Span]
    rows: Sequence[int]
    is_code: bool


def lay_out(rows: Sequence[Sequence[Cell]], aligns: Sequence[str]) -> Laid:
    """``rows`` begin with the header; all have as many cells as ``aligns`` ("", "left", "center", "right")."""
    if not any(cell.text for row in rows for cell in row):
        return Laid("", (), (), is_code=False)
    if all(_is_plain(cell) for row in rows for cell in row):
        widths = [max(1, *(_width(row[column].text) for row in rows)) for column in range(len(aligns))]
        if sum(widths) + len(_BETWEEN) * (len(widths) - 1) <= COLUMNS:
            return _aligned(rows, widths, aligns)
    writer = _Writer()
    if len(aligns) <= 2:
        _pairs(writer, rows)
    else:
        _cards(writer, rows)
    return Laid("".join(writer.pieces), in_order(writer.spans), writer.rows, is_code=False)


def _is_plain(cell: Cell) -> bool:
    """Whether the aligned form shows all there is: code is monospaced there as well, other styles would be lost."""
    return "\n" not in cell.text and all(span.style is Style.CODE for span in cell.spans)


def _width(text: str) -> int:
    """Columns in a monospaced font: East Asian characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    width = wcswidth(text)
    return width if width >= 0 else len(text)


def _aligned(rows: Sequence[Sequence[Cell]], widths: Sequence[int], aligns: Sequence[str]) -> Laid:
    lines = [_aligned_row([cell.text for cell in row], widths, aligns) for row in rows]
    lines.insert(1, _BETWEEN.join("─" * width for width in widths))
    if not lines[0].strip():
        lines = lines[2:]
    return Laid("\n".join(lines), (), (), is_code=True)


def _aligned_row(cells: Sequence[str], widths: Sequence[int], aligns: Sequence[str]) -> str:
    columns = []
    for text, width, align in zip(cells, widths, aligns, strict=True):
        space = width - _width(text)
        left = space if align == "right" else space // 2 if align == "center" else 0
        columns.append(" " * left + text + " " * (space - left))
    return _BETWEEN.join(columns).rstrip()


class _Writer:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.spans: list[Span] = []
        self.rows: list[int] = []

    def text(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def cell(self, cell: Cell, style: Style | None = None, after: str = "") -> None:
        """A cell, in ``style`` where its own spans leave room for it."""
        start = self.length
        text = cell.text + after
        own = [span._replace(start=span.start + start, end=span.end + start) for span in cell.spans]
        if style is not None and text:
            code = [(span.start, span.end) for span in own if span.style is Style.CODE]
            own = [span for span in own if span.style is not style]
            for piece in without([Span(start, start + len(text), style)], code):
                self._add(piece)
        self.spans += own
        self.text(text)

    def _add(self, span: Span) -> None:
        """Add a letter style; one that touches its like before goes on."""
        last = self.spans[-1] if self.spans else None
        if last is not None and last.style is span.style and last.end == span.start:
            self.spans[-1] = last._replace(end=span.end)
        else:
            self.spans.append(span)

    def row(self, gap: str) -> None:
        if self.length:
            self.text(gap)
            self.rows.append(self.length)


def _pairs(writer: _Writer, rows: Sequence[Sequence[Cell]]) -> None:
    """One or two columns: ``H1 — H2`` in bold, then a bullet a row."""
    first, *others = [cell for cell in rows[0] if cell.text] or [Cell("")]
    for cell in others:
        writer.cell(first, Style.BOLD, after=" — ")
        first = cell
    writer.cell(first, Style.BOLD)
    for row in rows[1:]:
        cells = [cell for cell in row if cell.text]
        if not cells:
            continue
        writer.row("\n")
        writer.text("• ")
        if len(cells) == 2:
            writer.cell(cells[0], Style.BOLD)
            writer.text(": ")
            writer.cell(cells[1])
        else:
            writer.cell(cells[0], Style.BOLD if cells[0] is row[0] and len(row) == 2 else None)


def _cards(writer: _Writer, rows: Sequence[Sequence[Cell]]) -> None:
    """The first header once in italics (with those of empty columns); a row is a bold title and labelled values."""
    head = rows[0]
    used = [any(row[column].text for row in rows[1:]) for column in range(len(head))]
    titles = [cell for column, cell in enumerate(head) if cell.text and (column == 0 or not used[column])]
    for place, cell in enumerate(titles):
        writer.cell(cell, Style.ITALIC, after=" · " if place + 1 < len(titles) else "")
    is_first = True
    for row in rows[1:]:
        if not any(cell.text for cell in row):
            continue
        writer.row("\n" if is_first else "\n\n")
        is_first = False
        _card(writer, head, row)


def _card(writer: _Writer, head: Sequence[Cell], row: Sequence[Cell]) -> None:
    is_begun = bool(row[0].text)
    if is_begun:
        writer.cell(row[0], Style.BOLD)
    for label, value in zip(head[1:], row[1:], strict=True):
        if not value.text:
            continue
        if is_begun:
            writer.text("\n")
        is_begun = True
        if label.text:
            writer.cell(label, Style.ITALIC, after=":")
            writer.text(" ")
        writer.cell(value)
