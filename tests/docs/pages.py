"""The pages people read, and what stands in them. Reading only."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = tuple(
    sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))])
)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:^|[\s/\\])agent-hub(?:\.exe)?\s+(?P<rest>[^|;&)]+)")
PLACES = {"FILE": "x.toml", "DIR": "x", "NAME": "demo"}
"""Words that stand for something of the reader's."""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def links(page: Path) -> list[str]:
    """Where the page's links and pictures lead."""
    without_code = _FENCE.sub("", text_of(page))
    return _LINK.findall(without_code)


def fences(page: Path, language: str) -> list[str]:
    return [body for name, body in _FENCE.findall(text_of(page)) if name == language]


def commands(text: str) -> Iterator[list[str]]:
    """Arguments of every ``agent-hub …`` in code, one list a command."""
    pieces = [line for name, body in _FENCE.findall(text) if name == "sh" for line in body.splitlines()]
    pieces += _CODE.findall(_FENCE.sub("", text))
    for piece in pieces:
        for part in re.split(r"&&|\|", piece):
            found = _COMMAND.search(part)
            is_file = "agent-hub_" in part or "agent-hub-" in part
            if found and not is_file:
                yield [PLACES.get(word, word) for word in shlex.split(found["rest"])]


def anchors(page: Path) -> set[str]:
    """What "#…" may name on this page, as code hosts make it from headings."""
    made = set()
    for heading in re.findall(r"^#+ (.+)$", _FENCE.sub("", text_of(page)), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.lower())
        made.add(plain.replace(" ", "-"))
    return made
