"""Telling commands from text. Pure.

A command is "/" and a name at the very start, then a blank or the end: "/etc/hosts" and "/usr/bin" are text, and
"//text" is text that begins with a slash on purpose. A sign behind the name ("/stop!") and what nobody can see around
it (a zero-width blank of a copied text) do not make it text: that would wait until the turn it should stop is done.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

_UNSEEN = r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*"
_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9_:.\-]{0,62}[A-Za-z0-9_])?"
_COMMAND = re.compile(rf"{_UNSEEN}/({_NAME})(?:@([A-Za-z0-9_]{{3,64}}))?[!?.,;:…]*{_UNSEEN}(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Command:
    """``name`` in lower case without slash; ``bot`` is the name after "@", "" when none was given."""

    name: str
    arguments: str
    bot: str = ""


def parse_command(text: str) -> Command | None:
    """The command a text is, or None when it is text."""
    found = _COMMAND.match(text)
    if found is None:
        return None
    return Command(found[1].lower(), text[found.end() :].strip(), (found[2] or "").lower())


def literal(text: str) -> str:
    """What is meant by a text that is no command: "//x" means "/x"."""
    return text[1:] if text.startswith("//") else text


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known commands that look most like ``name``, best first."""
    return difflib.get_close_matches(name, sorted(set(known)), n=count, cutoff=0.5)
