"""Cuts a styled text into messages Telegram takes: the tree is cut, never Markdown and never HTML. Pure.

Limits: 4096 UTF-16 units; 98 entities (the 100th is the last one kept); 8,000 bytes of addresses (Telegram refuses
more with ENTITIES_TOO_LONG); 32,768 bytes of HTML, tags included.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from bridge.markdown.part import TEXT_LIMIT, Part
from bridge.markdown.styled import Span, Style, StyledText
from bridge.markdown.telegram_html import emit, escape
from bridge.markdown.units import cluster_edge, is_visible, next_edge, utf16_length, utf16_prefix

ENTITY_LIMIT = 98
URL_BYTES = 8_000
HTML_BYTES = 32_768


def split(styled: StyledText, units: int = TEXT_LIMIT) -> list[Part]:
    """The messages of ``styled``, each within all limits; an invisible text gives none."""
    text, spans = styled.text, styled.spans
    if len(text) <= units and len(spans) <= ENTITY_LIMIT and utf16_length(text) <= units:
        part = _part(text, spans, 0, len(text))
        if part is None:
            return []
        if _is_within_bytes(part, spans):
            return [part]
    return _Cutter(styled, units).parts()


def head(styled: StyledText, units: int) -> tuple[StyledText, bool]:
    """The first ``units`` at most, ended at a good place, and whether something was left out."""
    text = styled.text
    if utf16_length(text) <= units and len(styled.spans) <= ENTITY_LIMIT:
        return styled, False
    end = _Cutter(styled, units).first_end()
    _, end = _trimmed(text, styled.spans, 0, end)
    spans = [span._replace(end=min(span.end, end)) for span in styled.spans if span.start < end]
    return StyledText(text[:end], spans), True


def tail(styled: StyledText, units: int) -> Part:
    """The last ``units`` at most, begun at a good place; an empty part when there is nothing to see."""
    text, spans = styled.text, styled.spans
    end = len(text.rstrip(" \n"))
    floor = end - utf16_prefix(text[:end][::-1], 0, units)
    if len(spans) > ENTITY_LIMIT:
        floor = max(floor, *sorted(span.end for span in spans)[-ENTITY_LIMIT - 1 : -ENTITY_LIMIT])
    start = _begin(styled, floor, end) if floor else 0
    part = _part(text, spans, start, end)
    if part is None:
        return Part("", "")
    return part if _is_within_bytes(part, spans) else Part(escape(part.text), part.text)


def _begin(styled: StyledText, floor: int, end: int) -> int:
    """The first block, else line, else space after ``floor`` that leaves most of the room used."""
    latest = floor + (end - floor) // 2
    block = next((place for place in styled.starts if floor <= place <= latest), None)
    if block is not None:
        return block
    for sign in "\n ":
        place = styled.text.find(sign, max(floor - 1, 0), latest)
        if place >= 0:
            return place + 1
    return next_edge(styled.text, floor)


def _is_within_bytes(part: Part, spans: Sequence[Span]) -> bool:
    if len(part.html) * 4 <= URL_BYTES:
        return True
    urls = sum(len(span.value.encode()) for span in spans if span.style is Style.LINK)
    return urls <= URL_BYTES and len(part.html.encode()) <= HTML_BYTES


def _part(text: str, spans: Sequence[Span], start: int, end: int) -> Part | None:
    """One message of the slice, trimmed as Telegram trims; None when nobody would see anything."""
    start, end = _trimmed(text, spans, start, end)
    plain = text[start:end]
    if not is_visible(plain):
        return None
    return Part(emit(text, spans, start, end), plain)


def _trimmed(text: str, spans: Sequence[Span], start: int, end: int) -> tuple[int, int]:
    """Blanks at the end always go; at the start only before the first entity, so code keeps its indentation."""
    end = start + len(text[start:end].rstrip(" \n"))
    body = text[start:end]
    lead = len(body) - len(body.lstrip(" \n"))
    if lead:
        first = next((max(span.start, start) for span in spans if span.end > start), end)
        lead = min(lead, max(first - start, 0))
    return start + lead, end


class _Cutter:
    """Walks over one text; ``_open`` are spans that reach into the window, ``_next`` the first that begins in it."""

    def __init__(self, styled: StyledText, units: int) -> None:
        self._text = styled.text
        self._spans = styled.spans
        self._units = units
        self._begins = [span.start for span in styled.spans]
        self._starts = styled.starts
        self._glued = styled.glued
        self._code = [(span.start, span.end) for span in styled.spans if span.style in {Style.PRE, Style.CODE}]

    def parts(self) -> list[Part]:
        parts: list[Part] = []
        position = 0
        carried: list[Span] = []
        while position < len(self._text):
            end = self._fitting(position, carried)
            while True:
                cut = self._cut(position, end) if end < len(self._text) else end
                window = self._window(position, cut, carried)
                part = _part(self._text, window, position, cut)
                if part is None or len(part.html.encode()) <= HTML_BYTES:
                    break
                end = position + max(1, (end - position) * 3 // 4)
            if part is not None:
                parts.append(part)
            resume = self._resume(cut)
            carried = [span for span in self._window(position, resume, carried) if span.end > resume]
            position = resume
        return parts

    def first_end(self) -> int:
        end = self._fitting(0, ())
        return self._cut(0, end) if end < len(self._text) else end

    def _window(self, start: int, end: int, carried: Sequence[Span]) -> list[Span]:
        low, high = bisect_left(self._begins, start), bisect_left(self._begins, end)
        seen = {id(span) for span in carried}
        return [*carried, *(span for span in self._spans[low:high] if id(span) not in seen)]

    def _fitting(self, start: int, carried: Sequence[Span]) -> int:
        """The furthest end within the limits of units, entities and address bytes."""
        end = utf16_prefix(self._text, start, self._units)
        room = ENTITY_LIMIT - len(carried)
        urls = sum(len(span.value.encode()) for span in carried if span.style is Style.LINK)
        for index in range(bisect_left(self._begins, start), bisect_left(self._begins, end)):
            span = self._spans[index]
            room -= 1
            if span.style is Style.LINK:
                urls += len(span.value.encode())
            if room < 0 or urls > URL_BYTES:
                return max(span.start, start + 1)
        return end

    def _cut(self, start: int, end: int) -> int:
        """Where the message ends: a block, else a line, else a space, else the edge of a visible character."""
        size = end - start
        index = bisect_right(self._starts, end) - 1
        if index >= 0 and self._starts[index] >= start + size * 45 // 100 and self._starts[index] > start:
            return self._starts[index]
        line = self._line_end(start + size // 4, end)
        if line > start:
            return line
        space = self._text.rfind(" ", start + size // 2, end + 1)
        if space > start:
            return space
        return max(cluster_edge(self._text, end, start), start + 1)

    def _line_end(self, low: int, end: int) -> int:
        """The last line end, best one that tears no heading from its text and leaves no blanks behind; -1: none."""
        second = -1
        position = end + 1
        while (position := self._text.rfind("\n", low, position)) > 0:
            if position + 1 not in self._glued and position - 1 >= low:
                if self._text[position - 1] not in " \n":
                    return position
                if second < 0:
                    second = position
        return second

    def _resume(self, cut: int) -> int:
        """Where the next message begins: code loses the line end of the cut at most, other text all blanks."""
        if self._is_code(cut):
            return cut + 1 if self._text.startswith("\n", cut) else cut
        while self._text.startswith((" ", "\n"), cut) and not self._is_code(cut):
            cut += 1
        return cut

    def _is_code(self, position: int) -> bool:
        index = bisect_right(self._code, (position, len(self._text) + 1)) - 1
        return index >= 0 and position < self._code[index][1]
