"""Whether the agent of this computer can go on with what another version of it has saved. Pure."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d+(?:\.\d+)+|\d+")


def is_older(here: str, saved: str) -> bool:
    """Whether version ``here`` is older than ``saved``; what is no version is never older."""
    one, other = number_of(here), number_of(saved)
    return bool(one and other) and one < other


def number_of(version: str) -> tuple[int, ...]:
    """The numbers of a version ("codex-cli 0.171.0" -> 0, 171, 0), () when there are none."""
    found = _NUMBER.search(version)
    if found is None:
        return ()
    numbers = [int(part[:9]) for part in found[0].split(".")[:4]]
    return tuple(numbers + [0] * (4 - len(numbers)))
