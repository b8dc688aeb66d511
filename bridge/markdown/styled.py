"""The tree between Markdown and a messenger: one text and the styled ranges over it. Pure.

The ranges of a text nest properly (each pair is apart, or one holds the other) and stand outer before inner, in
the order of their starts. Code and pre hold no other style; a link holds no code; a quote holds no quote. An emitter
needs nothing else, so another messenger form is another emitter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Style(StrEnum):
    """What a range looks like."""

    BOLD = "bold"
    ITALIC = "italic"
    UNDERLINE = "underline"
    STRIKE = "strike"
    CODE = "code"
    PRE = "pre"
    LINK = "link"
    QUOTE = "quote"
    EXPANDABLE = "expandable"


LETTER_STYLES = frozenset({Style.BOLD, Style.ITALIC, Style.UNDERLINE, Style.STRIKE})
"""Styles that may be cut into pieces without a visible difference."""
_RANK = {style: rank for rank, style in enumerate((Style.EXPANDABLE, Style.QUOTE, Style.LINK))}


class Span(NamedTuple):
    """``value`` is the address of a link or the language of a pre. Offsets count code points, end excluded."""

    start: int
    end: int
    style: Style
    value: str = ""


@dataclass(frozen=True, slots=True)
class StyledText:
    """``starts`` are good places for a new message (blocks, list items, rows); before ``glued`` ones none begins."""

    text: str
    spans: Sequence[Span] = ()
    starts: Sequence[int] = ()
    glued: frozenset[int] = field(default_factory=frozenset)


def in_order(spans: Iterable[Span]) -> list[Span]:
    """Spans sorted outer before inner; on equal ranges a quote holds a link holds letter styles."""
    return sorted(spans, key=lambda span: (span.start, -span.end, _RANK.get(span.style, len(_RANK))))


def without(spans: Iterable[Span], ranges: Sequence[tuple[int, int]]) -> list[Span]:
    """Spans whose letter styles are cut away inside ``ranges`` (sorted, apart); other spans stay whole."""
    begins = [start for start, _ in ranges]
    out: list[Span] = []
    for span in spans:
        if span.style not in LETTER_STYLES:
            out.append(span)
            continue
        position = span.start
        place = max(bisect_right(begins, position) - 1, 0)
        while place < len(ranges) and ranges[place][0] < span.end:
            start, end = ranges[place]
            if start > position:
                out.append(span._replace(start=position, end=start))
            position = max(position, end)
            place += 1
        if position < span.end:
            out.append(span._replace(start=position))
    return out
