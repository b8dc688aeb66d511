"""What agents have to say comes to the person in the hub's language, and stays English for programs."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator

import pytest

from agents.contract import AgentGoneError, AgentHealth, sentence
from bridge.cards import error_notice
from bridge.texts import set_language, told


@pytest.fixture(autouse=True)
def russian() -> Iterator[None]:
    set_language("ru")
    yield
    set_language("en")


def test_a_sentence_is_said_in_the_hubs_language_with_its_values() -> None:
    problem = sentence("{agent} is not logged in.", agent="Codex")
    assert told(problem) == "В Codex не выполнен вход."
    assert problem == "Codex is not logged in."


def test_a_value_that_is_a_sentence_is_translated_too() -> None:
    limit = sentence("The agent reached its limit of {limit}.", limit=sentence("steps"))
    assert told(limit) == "Агент исчерпал свой предел: шагов."


def test_any_other_text_stays_as_it_is_braces_and_all() -> None:
    assert told("{agent} is not logged in.") == "{agent} is not logged in."
    assert told("") == ""


def test_an_error_of_an_agent_is_shown_in_the_hubs_language() -> None:
    error = AgentGoneError(sentence("Claude Code ended."), sentence("Send the message again to start it anew."))
    shown = error_notice(error).text
    assert "Claude Code завершился." in shown
    assert "Отправьте сообщение снова" in shown


def test_programs_get_plain_english_also_of_a_copy() -> None:
    health = AgentHealth("codex", "Codex", problem=sentence("{agent} is not on this computer.", agent="Codex"))
    copied = copy.deepcopy(health)
    assert json.dumps(copied.problem) == '"Codex is not on this computer."'
    assert told(copied.problem) == "Codex не установлен на этом компьютере."
