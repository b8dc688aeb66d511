"""From an agent's Markdown to messages: the whole answer, or the tail of one still being written. Pure.

Never raises: what can't be laid out (too deep, too large) is shown as it stands.
"""

from __future__ import annotations

from bridge.markdown.blocks import lay_out_blocks
from bridge.markdown.clean import clean, expand_tabs
from bridge.markdown.grammar import TooDeepError, tokens_of
from bridge.markdown.part import Part
from bridge.markdown.split import split, tail
from bridge.markdown.styled import StyledText
from bridge.markdown.tail import window

LARGEST = 200_000
"""Characters; nobody reads more on a phone, so it is not worth the time to lay it out."""


def read(source: str) -> StyledText:
    """Markdown as styled text."""
    source = clean(source)
    if len(source) <= LARGEST:
        try:
            return lay_out_blocks(tokens_of(source), may_hold_controls="&" in source)
        except (TooDeepError, RecursionError):
            pass
    return StyledText(expand_tabs(source))


def render(source: str) -> list[Part]:
    """All messages of an answer, in order; none when there is nothing to see."""
    return split(read(source))


def render_tail(source: str, units: int) -> Part:
    """The end of a growing answer within ``units`` UTF-16 units, from the start of a block or line on."""
    return tail(read(window(clean(source), units)), units)
