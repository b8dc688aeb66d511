"""The poller: nothing is confirmed before it is journalled, and no trouble ends it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from bridge.inbound import Inbound, IncomingMessage
from bridge.messenger import (
    FloodWaitError,
    MessengerError,
    OtherPollerError,
    OutcomeUnknownError,
    UnauthorizedError,
    UnreachableError,
)
from bridge.store import Database, Journal, StoreFullError, UpdateState
from bridge.telegram.poller import POLL_LIMIT, Poller, PollGap, PollPhase, PollState
from tests.bridge.clocks import VirtualClock, run_virtually

Update = Mapping[str, object]


def text(update_id: int, words: str = "hi") -> Update:
    return {
        "update_id": update_id,
        "message": {
            "message_id": update_id,
            "from": {"id": 501, "is_bot": False},
            "chat": {"id": -100, "type": "supergroup", "is_forum": True},
            "date": 1800000000,
            "text": words,
        },
    }


@dataclass
class Telegram:
    """Keeps updates until they are confirmed, like the real one; ``fault`` may raise or return seconds of silence."""

    clock: VirtualClock
    waiting: list[Update] = field(default_factory=list)
    offsets: list[int | None] = field(default_factory=list)
    polled_at: list[float] = field(default_factory=list)
    renewed: int = 0
    fault: Callable[[int], float | None] = field(default=lambda number: None)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def updates(self, offset: int | None, seconds: int) -> list[Update]:
        self.offsets.append(offset)
        self.polled_at.append(self.clock.monotonic())
        silence = self.fault(len(self.offsets))
        await self.clock.sleep(0.05 if silence is None else silence)
        if offset is not None:
            self.waiting = [update for update in self.waiting if self.number(update) >= offset]
        if not self.waiting and seconds:
            self.arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.arrived.wait(), seconds)
        return list(self.waiting[:100])

    @staticmethod
    def number(update: Update) -> int:
        found = update["update_id"]
        assert isinstance(found, int)
        return found

    def send(self, *updates: Update) -> None:
        self.waiting += updates
        self.arrived.set()

    async def renew_polls(self) -> None:
        self.renewed += 1


@dataclass
class House:
    path: Path
    clock: VirtualClock
    telegram: Telegram
    got: list[Inbound] = field(default_factory=list)
    states: list[PollState] = field(default_factory=list)
    gaps: list[PollGap] = field(default_factory=list)
    database: Database = field(init=False)
    journal: Journal = field(init=False)
    poller: Poller = field(init=False)

    @contextlib.asynccontextmanager
    async def life(self, take: Callable[[Inbound], Awaitable[None]] | None = None):  # type: ignore[no-untyped-def]
        async def keep(update: Inbound) -> None:
            self.got.append(update)

        self.database = Database.open(self.path, self.clock)
        self.journal = Journal(self.database, self.clock)
        self.poller = Poller(
            self.telegram,
            self.journal,
            self.clock,
            random=Random(1),
            on_update=take or keep,
            on_state=self.states.append,
            on_gap=self.gaps.append,
        )
        task = asyncio.create_task(self.poller.run())
        try:
            yield self.poller
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            self.database.close()

    def phases(self) -> list[PollPhase]:
        return [state.phase for state in self.states]


def play(tmp_path: Path, scene: Callable[[House], Awaitable[None]]) -> House:
    clock = VirtualClock()

    async def stage() -> House:
        house = House(tmp_path / "hub.db", clock, Telegram(clock))
        await scene(house)
        return house

    return run_virtually(stage())


def fails(times: int, error: MessengerError) -> Callable[[int], None]:
    def fault(number: int) -> None:
        if number <= times:
            raise error

    return fault


def test_an_update_is_journalled_before_it_is_handed_over_and_confirmed_after(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        seen: list[tuple[UpdateState | None, list[int | None]]] = []

        async def take(update: Inbound) -> None:
            seen.append((house.journal.state_of(update.update_id), list(house.telegram.offsets)))

        async with house.life(take):
            await asyncio.sleep(1)
            house.telegram.send(text(10), text(11))
            await asyncio.sleep(1)
        assert [state for state, _ in seen] == [UpdateState.RECEIVED, UpdateState.RECEIVED]
        assert all(12 not in offsets for _, offsets in seen)
        assert house.telegram.offsets[-1] == 12

    play(tmp_path, scene)


def test_a_crash_between_poll_and_confirmation_hands_nothing_over_twice(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            await asyncio.sleep(1)
            house.telegram.send(text(920, "сделай коммит"))
            await asyncio.sleep(1)
        house.telegram.waiting = [text(920, "сделай коммит")]  # Telegram delivers again what it holds for unconfirmed
        house.telegram.offsets.clear()
        async with house.life():
            await asyncio.sleep(1)
            assert [entry.update_id for entry in house.journal.unfinished()] == [920]

    house = play(tmp_path, scene)
    assert [update.text for update in house.got if isinstance(update, IncomingMessage)] == ["сделай коммит"]
    assert house.telegram.offsets[0] == 921


def test_an_update_the_library_could_not_read_is_kept_and_the_next_ones_come(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            house.telegram.send({"update_id": 1, "message": {"odd": True}}, {"update_id": 2, "new_kind": 1}, text(3))
            await asyncio.sleep(1)

    assert [update.update_id for update in play(tmp_path, scene).got] == [1, 2, 3]


def test_a_handler_that_fails_leaves_its_update_open_and_does_not_stop_the_others(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async def take(update: Inbound) -> None:
            if update.update_id == 1:
                raise RuntimeError("a bug")
            house.journal.finish([update.update_id])

        async with house.life(take):
            house.telegram.send(text(1), text(2))
            await asyncio.sleep(1)
            assert [entry.update_id for entry in house.journal.unfinished()] == [1]

    play(tmp_path, scene)


def test_the_state_is_known_at_once_and_not_after_a_whole_poll(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as poller:
            await asyncio.sleep(1)
            assert poller.state.is_connected

    play(tmp_path, scene)


def test_an_offline_start_is_tried_again_for_ever_with_pauses_up_to_half_a_minute(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = fails(500, UnreachableError("no network"))
        async with house.life() as poller:
            await asyncio.sleep(3600)
            assert poller.state.phase is PollPhase.OFFLINE
            assert poller.state.problem is not None
            house.telegram.fault = lambda number: None
            await asyncio.sleep(50)
            assert poller.state.is_connected

    house = play(tmp_path, scene)
    assert 80 < len(house.telegram.offsets) < 300
    assert house.phases() == [PollPhase.OFFLINE, PollPhase.CONNECTED]


def test_one_lost_poll_is_no_news_and_its_connection_is_thrown_away(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            await asyncio.sleep(1)
            before = len(house.telegram.offsets)

            def fault(number: int) -> None:
                if number == before + 1:
                    raise OutcomeUnknownError("reset")

            house.telegram.fault = fault
            await asyncio.sleep(60)

    house = play(tmp_path, scene)
    assert house.phases() == [PollPhase.CONNECTED]
    assert house.telegram.renewed == 1


def test_a_silent_poll_is_broken_off_and_made_anew(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = lambda number: 100_000.0 if number == 2 else None
        async with house.life() as poller:
            await asyncio.sleep(POLL_LIMIT + 10)
            assert poller.state.is_connected
            house.telegram.send(text(1))
            await asyncio.sleep(1)

    house = play(tmp_path, scene)
    assert len(house.got) == 1
    assert house.telegram.renewed == 1


def test_another_poller_is_explained_and_left_alone_for_a_while(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = fails(10, OtherPollerError("Another program polls this bot.", "Stop the other one."))
        async with house.life() as poller:
            await asyncio.sleep(40)
            assert poller.state.phase is PollPhase.CONFLICT
            assert poller.state.problem is not None
            assert "Another program" in poller.state.problem.title
            await asyncio.sleep(200)
            assert poller.state.is_connected

    house = play(tmp_path, scene)
    pauses = [
        later - earlier
        for earlier, later in zip(house.telegram.polled_at[1:10], house.telegram.polled_at[2:11], strict=True)
    ]
    assert min(pauses) >= 5


def test_one_conflict_after_a_restart_is_our_own_last_poll_and_no_news(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = fails(1, OtherPollerError("Another program polls this bot."))
        async with house.life():
            await asyncio.sleep(10)

    assert play(tmp_path, scene).phases() == [PollPhase.CONNECTED]


def test_a_revoked_token_is_a_clear_state_without_hammering(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = fails(10_000, UnauthorizedError("Telegram does not accept the bot's token."))
        async with house.life() as poller:
            await asyncio.sleep(3600)
            assert poller.state.phase is PollPhase.REFUSED
            assert poller.state.problem is not None
            assert len(house.telegram.offsets) <= 7
            house.telegram.fault = lambda number: None
            poller.poke()
            await asyncio.sleep(1)
            assert poller.state.is_connected

    play(tmp_path, scene)


def test_a_wait_asked_for_by_telegram_is_honoured(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = fails(1, FloodWaitError(77))
        async with house.life():
            await asyncio.sleep(100)

    polled = play(tmp_path, scene).telegram.polled_at
    assert polled[1] - polled[0] >= 77


@pytest.mark.parametrize("hours", [8])
def test_a_sleep_of_the_computer_is_noticed_and_open_cards_are_shown_again(tmp_path: Path, hours: int) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = lambda number: 100_000.0 if number == 3 else None
        async with house.life():
            await asyncio.sleep(40)
            woke_at = house.clock.monotonic()
            house.clock.wall_offset += hours * 3600  # the monotonic clock stood still, as on Linux and macOS
            house.telegram.send(text(1))
            await asyncio.sleep(6)
            assert len(house.got) == 1
            assert house.telegram.polled_at[-1] - woke_at < 6
        assert [(round(gap.seconds / 3600), gap.is_start) for gap in house.gaps] == [(hours, False)]

    assert play(tmp_path, scene).telegram.renewed == 1


def test_a_clock_set_back_changes_nothing(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as poller:
            await asyncio.sleep(40)
            house.clock.wall_offset -= 8 * 3600
            await asyncio.sleep(40)
            house.telegram.send(text(1))
            await asyncio.sleep(1)
            assert poller.state.is_connected

    house = play(tmp_path, scene)
    assert len(house.got) == 1
    assert house.gaps == []


def test_a_gap_without_network_is_told_after_what_waited_was_handed_over(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        down = [False]

        def fault(number: int) -> None:
            if down[0]:
                raise UnreachableError("no network")

        house.telegram.fault = fault
        order: list[str] = []

        async def take(update: Inbound) -> None:
            order.append("update")

        async with house.life(take) as poller:
            poller._on_gap = lambda gap: order.append(f"gap {gap.seconds > 120}")
            await asyncio.sleep(26)
            down[0] = True
            await asyncio.sleep(300)
            house.telegram.send(text(1))
            down[0] = False
            await asyncio.sleep(50)
        assert order == ["update", "gap True"]

    play(tmp_path, scene)


def test_how_long_the_hub_was_off_is_told_at_the_start(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            await asyncio.sleep(100)
        await asyncio.sleep(26 * 3600)
        async with house.life():
            await asyncio.sleep(2)

    gaps = play(tmp_path, scene).gaps
    assert [(round(gap.seconds / 3600), gap.is_start) for gap in gaps] == [(26, True)]


def test_a_disk_that_is_full_leaves_the_updates_at_telegram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(house: House) -> None:
        async with house.life() as poller:
            await asyncio.sleep(1)

            async def refuse(_batch: object) -> None:
                raise StoreFullError("The disk is full")

            with monkeypatch.context() as patch:
                patch.setattr(house.journal, "record", refuse)
                house.telegram.send(text(1))
                await asyncio.sleep(20)
                assert poller.state.phase is PollPhase.STORE
                assert 2 not in house.telegram.offsets
            await asyncio.sleep(20)
            assert poller.state.is_connected

    assert len(play(tmp_path, scene).got) == 1


def test_quitting_on_a_dead_network_takes_no_time(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.telegram.fault = lambda number: 100_000.0
        async with house.life():
            await asyncio.sleep(5)
            before = house.clock.monotonic()
        assert house.clock.monotonic() - before < 1

    play(tmp_path, scene)
