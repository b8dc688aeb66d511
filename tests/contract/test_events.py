"""Everything an agent was heard to say is mapped, or left out on purpose."""

from __future__ import annotations

import pytest

import agents.contract
from agents.codex.wire.events import METHODS
from agents.codex.wire.items import ITEM_KINDS
from agents.codex.wire.requests import REQUESTS
from tests.contract.events import recorded, table
from tests.contract.rig import FIXTURES

RECORDED = sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir())


@pytest.mark.parametrize("kind", RECORDED)
def test_every_recorded_message_has_a_row(kind: str) -> None:
    rows = table().get(kind, {})
    assert sorted({name for name in recorded(kind) if name} - set(rows)) == []


@pytest.mark.parametrize("kind", sorted(table()))
def test_every_row_names_an_event_of_the_contract_and_says_what_is_seen(kind: str) -> None:
    for name, row in table()[kind].items():
        assert not row.event or hasattr(agents.contract, row.event), name
        assert row.seen, name


def test_the_codex_adapter_reads_what_its_table_says_and_nothing_else() -> None:
    read = {name for name in METHODS if name not in {"item/started", "item/completed"}}
    read |= {f"item {name}" for name in ITEM_KINDS} | REQUESTS
    mapped_or_told = {name for name, row in table()["codex"].items() if row.event or name in METHODS}
    assert read == mapped_or_told
