"""Everything an agent's code says to a person can be said in another language."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import agents

ROOT = Path(agents.__file__).parent
ERRORS = {
    "AgentError",
    "AgentGoneError",
    "AgentNotFoundError",
    "AgentNotLoggedInError",
    "AgentVersionError",
    "SessionNotFoundError",
}
PLACES = {**dict.fromkeys(ERRORS, (0, 1)), "TurnFailed": (1, 2), "AgentChoice": (1, 2)}


def bare_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of what is given as a title, hint or problem without ``sentence``."""
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        places = PLACES.get(call.func.id)
        if places is None and call.func.id not in {"AgentHealth", "replace", "ProcessExited"}:
            continue
        given = [call.args[place] for place in places or () if place < len(call.args)]
        names = {"hint", "problem"} if call.func.id == "AgentHealth" else {"title", "hint", "problem"}
        given += [word.value for word in call.keywords if word.arg in names]
        for text in given:
            if isinstance(text, ast.JoinedStr) or (isinstance(text, ast.Constant) and text.value):
                yield text.lineno, ast.unparse(text)


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT)))
def test_what_a_person_reads_is_a_sentence_that_can_be_translated(file: Path) -> None:
    assert list(bare_texts(ast.parse(file.read_text(encoding="utf-8")))) == []


def test_a_bare_text_would_be_found() -> None:
    source = (
        'AgentError("Gone.", hint=f"See {x}.")\nTurnFailed(kind, "Broken.")\nAgentChoice("a", "Ask")\n'
        'AgentError(sentence("Fine."))'
    )
    assert [text for _, text in bare_texts(ast.parse(source))] == ["'Gone.'", "f'See {x}.'", "'Broken.'", "'Ask'"]
