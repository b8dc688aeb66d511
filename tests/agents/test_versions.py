"""Versions as the four agents print them, and how they are judged."""

from __future__ import annotations

import pytest

from agents.versions import Age, Version, judge, read_version


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("codex-cli 0.171.0", Version(0, 171, 0)),
        ("2.1.332 (Claude Code)", Version(2, 1, 332)),
        ("0.24.4", Version(0, 24, 4)),
        ("Hermes Agent v0.19.0 (2026.7.20)\nPython: 3.11.7", Version(0, 19, 0)),
        ("codex-cli 0.172.0-alpha.3", Version(0, 172, 0)),
        ("nothing here", None),
    ],
)
def test_a_version_is_read_from_what_the_program_prints(printed: str, version: Version | None) -> None:
    assert read_version(printed) == version


@pytest.mark.parametrize(
    ("version", "age"),
    [
        (Version(0, 170, 9), Age.TOO_OLD),
        (Version(0, 171, 0), Age.FITS),
        (Version(0, 171, 8), Age.FITS),
        (Version(0, 172, 0), Age.UNTESTED),
        (Version(1, 0, 0), Age.UNTESTED),
    ],
)
def test_a_version_is_judged_against_the_tested_one(version: Version, age: Age) -> None:
    assert judge(version, minimum=Version(0, 171), tested=Version(0, 171, 0)) is age
