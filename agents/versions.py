"""Versions of agents: read from what a program prints, and judged against what was tested."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_NUMBER = re.compile(r"(?<![\d.])v?(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """Three numbers; what follows them (a pre-release mark) is not compared."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


class Age(StrEnum):
    """How a version stands to the tested one."""

    TOO_OLD = "too old"
    FITS = "fits"
    UNTESTED = "newer than tested"


def read_version(text: str) -> Version | None:
    """The first version in ``text`` ("codex-cli 0.171.0", "2.1.332 (Claude Code)", "Hermes Agent v0.19.0 (...)")."""
    found = _NUMBER.search(text)
    if found is None:
        return None
    major, minor, patch = found.groups(default="0")
    return Version(int(major), int(minor), int(patch))


def judge(version: Version, *, minimum: Version, tested: Version) -> Age:
    """A newer patch counts as tested; a newer minor or major version works until shown otherwise."""
    if version < minimum:
        return Age.TOO_OLD
    if (version.major, version.minor) > (tested.major, tested.minor):
        return Age.UNTESTED
    return Age.FITS
