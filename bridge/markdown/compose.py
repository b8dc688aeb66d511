"""A small composer for what the hub itself shows: styled pieces one after the other, no markup in strings. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bridge.markdown.clean import clean, expand_tabs
from bridge.markdown.part import TEXT_LIMIT, Part
from bridge.markdown.split import ENTITY_LIMIT, split
from bridge.markdown.styled import Span, Style, StyledText, in_order
from bridge.markdown.telegram_html import escape
from bridge.markdown.units import utf16_length, utf16_prefix

ELLIPSIS = "…"
_QUOTES = frozenset({Style.QUOTE, Style.EXPANDABLE})


class Composer:
    """Collects text and styles in reading order; every method returns the composer."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._spans: list[Span] = []
        self._is_quoting = False

    def __len__(self) -> int:
        return self._length

    def text(self, text: str, style: Style | None = None, value: str = "") -> Composer:
        """Add text, whole in one style when one is given."""
        text = expand_tabs(clean(text))
        if style is not None and text.strip():
            self._spans.append(Span(self._length, self._length + len(text), style, value))
        self._pieces.append(text)
        self._length += len(text)
        return self

    def bold(self, text: str) -> Composer:
        return self.text(text, Style.BOLD)

    def italic(self, text: str) -> Composer:
        return self.text(text, Style.ITALIC)

    def code(self, text: str) -> Composer:
        return self.text(text, Style.CODE)

    def pre(self, text: str, language: str = "") -> Composer:
        """A block of code on lines of its own."""
        return self.line().text(text.rstrip(), Style.PRE, language)

    def line(self) -> Composer:
        """Go to the start of a line, unless already there."""
        return self if self._ends_with("\n") else self.text("\n")

    def gap(self) -> Composer:
        """Leave one empty line above what follows."""
        self.line()
        return self if self._ends_with("\n\n") else self.text("\n")

    @contextmanager
    def quote(self, *, expandable: bool = False) -> Iterator[None]:
        """What is added inside stands in a quote (no quotes in quotes)."""
        self.line()
        start = self._length
        self._is_quoting = True
        yield
        self._is_quoting = False
        if self._length > start:
            self._spans.append(Span(start, self._length, Style.EXPANDABLE if expandable else Style.QUOTE))

    def extend(self, styled: StyledText) -> Composer:
        """Add a styled text as it is (its quotes are flattened in a quote)."""
        self._spans += [
            span._replace(start=span.start + self._length, end=span.end + self._length)
            for span in styled.spans
            if not (self._is_quoting and span.style in _QUOTES)
        ]
        self._pieces.append(styled.text)
        self._length += len(styled.text)
        return self

    def styled(self) -> StyledText:
        return StyledText("".join(self._pieces), in_order(self._spans))

    def part(self, units: int = TEXT_LIMIT) -> Part:
        """One message: builders cut by meaning before. Styles beyond Telegram's limit give way to the text."""
        styled = self.styled()
        parts = split(StyledText(styled.text, styled.spans[:ENTITY_LIMIT]), units)
        return parts[0] if parts else Part("", "")

    def _ends_with(self, end: str) -> bool:
        return not self._length or "".join(self._pieces[-2:]).endswith(end)


def keep_ends(text: str, units: int) -> str:
    """``text`` within ``units``, cut in the middle: the head and the tail of a path or command tell most."""
    if utf16_length(text) <= units:
        return text
    head = utf16_prefix(text, 0, (units - 1) * 3 // 5)
    tail = utf16_prefix(text[::-1], 0, units - 1 - utf16_length(text[:head]))
    return text[:head] + ELLIPSIS + text[len(text) - tail :]


def keep_head(text: str, units: int) -> str:
    """``text`` within ``units``, cut at its end, at a space where one is near."""
    if utf16_length(text) <= units:
        return text
    head = text[: utf16_prefix(text, 0, units - 1)]
    space = max(head.rfind(" "), head.rfind("\n"))
    if space > len(head) * 3 // 4:
        head = head[:space]
    return head.rstrip() + ELLIPSIS


def stack(first: Part, second: Part | None, gap: str = "\n\n", units: int = TEXT_LIMIT) -> Part:
    """Two parts as one message. ``second`` loses its styles, then its end, when the limits demand it."""
    if second is None or not second.text:
        return first
    room = units - utf16_length(first.text + gap)
    if room < 2:
        return first
    is_whole = utf16_length(second.text) <= room
    if is_whole and (first.html + second.html).count("</") <= ENTITY_LIMIT:
        return Part(first.html + gap + second.html, first.text + gap + second.text)
    plain = second.text if is_whole else keep_head(second.text, room)
    return Part(first.html + gap + escape(plain), first.text + gap + plain)
