"""What the pages quote is what the hub says: a person searches for the sentence on the screen."""

from __future__ import annotations

import ast
import re

import pytest

from agents.known_agents import KNOWN
from tests.docs.pages import ROOT, text_of

QUOTED = re.compile(r'"([^"\n]*)"')
SHORTEST = 12
"""Letters; what is shorter may be a name."""
HOLE = re.compile(r"\{\w+[^{}]*\}")
"""A place for a value in a sentence."""


def sentences() -> list[str]:
    """Every text of the code, f-strings with holes where values go."""
    found: list[str] = []
    for package in ("agents", "app", "bridge"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
                elif isinstance(node, ast.JoinedStr):
                    found.append(
                        "".join(piece.value if isinstance(piece, ast.Constant) else "{x}" for piece in node.values)
                    )
    return found


def pattern(sentence: str) -> re.Pattern[str]:
    return re.compile(".+?".join(re.escape(part) for part in HOLE.split(sentence)))


@pytest.fixture(scope="module")
def said() -> list[re.Pattern[str]]:
    return [pattern(sentence) for sentence in sentences() if len(sentence) >= 10 and len(HOLE.sub("", sentence)) >= 8]


def is_said(quote: str, said: list[re.Pattern[str]], whole: str) -> bool:
    """A quote may be a sentence, the part of one, or two that follow each other."""
    words = quote.strip("… ").strip()
    return words in whole or any(found.search(quote) for found in said)


@pytest.mark.parametrize("name", ["troubleshooting.md", "user-guide.md", "security.md"])
def test_every_quoted_sentence_is_one_of_the_hub(name: str, said: list[re.Pattern[str]]) -> None:
    whole = "\n".join(sentences())
    quotes = [quote for quote in QUOTED.findall(text_of(ROOT / "docs" / name)) if len(quote) >= SHORTEST]
    titles = {agent.title for agent in KNOWN.values()}
    assert quotes or name == "security.md"
    assert [quote for quote in quotes if quote not in titles and not is_said(quote, said, whole)] == []


def test_the_check_finds_a_sentence_that_is_not_the_hubs(said: list[re.Pattern[str]]) -> None:
    assert not is_said("The moon is made of green cheese today.", said, "\n".join(sentences()))
