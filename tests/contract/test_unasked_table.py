"""The table of what runs unasked names every mode a person can choose, and every deed."""

from __future__ import annotations

import pytest

from agents.codex.modes import MODES, offered
from tests.contract.unasked import DEEDS, Outcome, table


def test_every_mode_codex_offers_in_a_chat_is_in_the_table() -> None:
    assert set(table()["codex"]) == {mode.id for mode in offered(None)}


def test_the_default_mode_of_codex_asks_for_everything() -> None:
    assert set(table()["codex"]["untrusted"].values()) == {Outcome.ASKS}
    assert MODES["untrusted"].unasked == "Nothing runs unasked."


@pytest.mark.parametrize("kind", sorted(table()))
def test_every_deed_is_answered_for_every_mode(kind: str) -> None:
    assert all(set(outcomes) == set(DEEDS) for outcomes in table()[kind].values())
