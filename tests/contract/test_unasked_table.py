"""The table of what runs unasked names every mode a person can choose, and every deed."""

from __future__ import annotations

import pytest

from agents.catalogue import Finder, build_backends, kinds
from agents.codex.modes import MODES, offered
from agents.known_agents import DEMO
from tests.contract.unasked import DEEDS, Outcome, table


def test_every_mode_codex_offers_in_a_chat_is_in_the_table() -> None:
    assert set(table()["codex"]) == {mode.id for mode in offered(None)}


def test_the_default_mode_of_codex_asks_for_everything() -> None:
    assert set(table()["codex"]["untrusted"].values()) == {Outcome.ASKS}
    assert MODES["untrusted"].unasked == "Nothing runs unasked."


@pytest.mark.parametrize("kind", sorted(table()))
def test_every_deed_is_answered_for_every_mode(kind: str) -> None:
    assert all(set(outcomes) == set(DEEDS) for outcomes in table()[kind].values())


@pytest.mark.parametrize("kind", sorted(kind for kind in kinds({}) if kind != DEMO))
def test_what_runs_unasked_reads_on_after_a_colon(kind: str) -> None:
    unasked = build_backends({}, Finder())[kind].traits.runs_unasked
    assert unasked[0].islower()
    assert not unasked.endswith(".")
