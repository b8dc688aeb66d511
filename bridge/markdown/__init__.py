"""Markdown to Telegram: a pure function from text to messages that are never refused.

``render`` gives all messages of an answer, ``render_tail`` the end of one that is still written. ``Composer`` and
the functions beside it serve ``bridge.cards``, the builders of what the hub itself shows.
"""

from bridge.markdown.answer import read, render, render_tail
from bridge.markdown.compose import Composer, keep_ends, keep_head, stack
from bridge.markdown.part import TEXT_LIMIT, Part
from bridge.markdown.split import head as clip
from bridge.markdown.styled import StyledText
from bridge.markdown.units import is_visible, utf16_length

__all__ = [
    "TEXT_LIMIT",
    "Composer",
    "Part",
    "StyledText",
    "clip",
    "is_visible",
    "keep_ends",
    "keep_head",
    "read",
    "render",
    "render_tail",
    "stack",
    "utf16_length",
]
