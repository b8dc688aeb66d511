"""Builds the hub's own sentences as message parts: a part is a piece of a longer part. Pure.

Agent answers go through ``bridge.markdown``; this is for what the hub says itself, where every value is literal.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from bridge.markdown.part import Part

EMPTY = Part("", "")


def plain(text: str) -> Part:
    return Part(html.escape(text, quote=False), text)


def bold(text: str) -> Part:
    return Part(f"<b>{html.escape(text, quote=False)}</b>", text)


def italic(text: str) -> Part:
    return Part(f"<i>{html.escape(text, quote=False)}</i>", text)


def code(text: str) -> Part:
    return Part(f"<code>{html.escape(text, quote=False)}</code>", text)


def together(parts: Iterable[Part], separator: str = "") -> Part:
    """The parts that hold something, one after the other."""
    full = [part for part in parts if part.text]
    return Part(separator.join(part.html for part in full), separator.join(part.text for part in full))


def row(*parts: Part | str) -> Part:
    """One line of pieces."""
    return together(plain(part) if isinstance(part, str) else part for part in parts)


def lines(*parts: Part | str) -> Part:
    """Pieces below each other; empty ones leave no gap."""
    return together((plain(part) if isinstance(part, str) else part for part in parts), "\n")


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters on one line, the cut marked."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
