"""The list of agents: people read it in their language, programs in English."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.contract import AgentHealth, LoginState, sentence
from app.agents_report import as_json_value, line
from bridge.texts import set_language

MISSING = AgentHealth(
    "codex",
    "Codex",
    problem=sentence("{agent} is not on this computer.", agent="Codex"),
    hint=sentence("Install it: {command}", command="npm install -g @openai/codex"),
)


@pytest.fixture
def russian() -> Iterator[None]:
    set_language("ru")
    yield
    set_language("en")


@pytest.mark.usefixtures("russian")
def test_a_person_reads_it_in_the_hubs_language() -> None:
    shown = line(MISSING)
    assert "Codex не установлен на этом компьютере." in shown
    assert "Установите: npm install -g @openai/codex" in shown


@pytest.mark.usefixtures("russian")
def test_a_program_reads_english_whatever_the_hubs_language() -> None:
    told = json.loads(json.dumps(as_json_value(MISSING)))
    assert told["problem"] == "Codex is not on this computer."
    assert told["login"] == LoginState.UNKNOWN.value


def test_a_program_that_is_there_shows_version_and_login() -> None:
    there = AgentHealth("codex", "Codex", Path("/bin/codex"), "0.171.0", LoginState.LOGGED_IN, is_usable=True)
    assert line(there) == "✓ Codex (0.171.0, logged in)"
