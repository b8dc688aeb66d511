"""The journal of updates: nothing twice, nothing lost, over restarts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.store import Database, Journal, UpdateState
from tests.bridge.clocks import HandClock


def message(update_id: int, text: str = "hi") -> dict[str, object]:
    return {"update_id": update_id, "message": {"text": text}}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def database(tmp_path: Path, clock: HandClock) -> Iterator[Database]:
    database = Database.open(tmp_path / "hub.db", clock)
    yield database
    database.close()


@pytest.mark.asyncio
async def test_a_redelivered_update_does_nothing(database: Database, clock: HandClock) -> None:
    journal = Journal(database, clock)
    assert [entry.update_id for entry in await journal.record([message(1), message(2)])] == [1, 2]
    assert [entry.update_id for entry in await journal.record([message(2), message(3)])] == [3]


@pytest.mark.asyncio
async def test_a_redelivered_update_does_nothing_after_a_restart_even_when_it_is_finished(
    tmp_path: Path, clock: HandClock
) -> None:
    first = Database.open(tmp_path / "other.db", clock)
    await Journal(first, clock).record([message(920)])
    Journal(first, clock).finish([920])
    first.close()
    second = Database.open(tmp_path / "other.db", clock)
    assert await Journal(second, clock).record([message(920)]) == []
    second.close()


@pytest.mark.asyncio
async def test_an_update_passes_through_received_handed_finished(database: Database, clock: HandClock) -> None:
    journal = Journal(database, clock)
    await journal.record([message(1, "text ы")])
    entry = journal.unfinished()[0]
    assert (entry.state, entry.body, entry.received) == (UpdateState.RECEIVED, message(1, "text ы"), clock.now())
    journal.hand([1])
    assert journal.unfinished()[0].state is UpdateState.HANDED
    journal.finish([1])
    assert journal.unfinished() == []
    assert journal.state_of(1) is UpdateState.FINISHED


@pytest.mark.asyncio
async def test_a_finished_update_never_comes_back_to_handed(database: Database, clock: HandClock) -> None:
    journal = Journal(database, clock)
    await journal.record([message(1)])
    journal.finish([1])
    journal.hand([1])
    assert journal.state_of(1) is UpdateState.FINISHED


@pytest.mark.asyncio
async def test_the_text_of_a_finished_update_is_forgotten(database: Database, clock: HandClock) -> None:
    journal = Journal(database, clock)
    await journal.record([message(1, "a secret plan")])
    journal.finish([1])
    assert database.row("SELECT body FROM journal")["body"] == ""  # type: ignore[index]


@pytest.mark.asyncio
async def test_an_update_without_a_number_is_left_out(database: Database, clock: HandClock) -> None:
    assert await Journal(database, clock).record([{"message": {}}]) == []


@pytest.mark.asyncio
async def test_old_finished_updates_are_pruned_and_open_ones_are_kept(database: Database, clock: HandClock) -> None:
    journal = Journal(database, clock)
    await journal.record([message(1), message(2)])
    journal.finish([1])
    clock.move(15 * 24 * 3600)
    assert journal.prune() == 1
    assert [entry.update_id for entry in journal.unfinished()] == [2]


@pytest.mark.asyncio
async def test_after_a_quiet_week_the_last_number_says_nothing(database: Database, clock: HandClock) -> None:
    journal = Journal(database, clock)
    await journal.record([message(10), message(11)])
    assert journal.last_id() == 11
    clock.move(7 * 24 * 3600)
    assert journal.last_id() is None
