"""The fault table: client, outbox and poller against the simulated Bot API on its bad days, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from bridge import settlement
from bridge.clock import SystemClock
from bridge.delivery import DeliveryEvent, MessageClass, Outgoing, TokenRefused, WaitingUntil
from bridge.inbound import Inbound, IncomingMessage, Place
from bridge.markdown.part import Part
from bridge.outbox import Outbox
from bridge.simulator.faults import Fault, FaultKind
from bridge.simulator.human import Human
from bridge.simulator.limits import UNLIMITED
from bridge.simulator.simulator import Simulator
from bridge.store import Database, Journal
from bridge.telegram import api, poller
from bridge.telegram.api import ApiAddress
from bridge.telegram.client import TelegramClient
from bridge.telegram.poller import Poller, PollPhase

MARK = "may be a repeat"


@dataclass
class House:
    """Everything of delivery at work against one simulator."""

    simulator: Simulator
    human: Human
    client: TelegramClient
    outbox: Outbox
    poller: Poller
    topic: int
    events: list[DeliveryEvent] = field(default_factory=list)
    got: list[Inbound] = field(default_factory=list)

    def post(self, text: str, klass: MessageClass = MessageClass.FINAL) -> str:
        return self.outbox.post(Outgoing(Place(self.human.chat_id, self.topic), Part(text, text), klass))

    def said(self) -> list[str]:
        return [update.text for update in self.got if isinstance(update, IncomingMessage)]

    def texts(self) -> list[str]:
        return [message.text for message in self.human.from_bot(self.topic)]


async def until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for what another task or the network brings about."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110 - looks at what a person would see
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    clock = SystemClock()
    async with Simulator(limits=UNLIMITED) as simulator:
        human = Human(simulator)
        topic = human.create_topic("faults")
        address = ApiAddress(simulator.base_url, simulator.base_file_url, uses_environment=False)
        database = Database.open(folder / "hub.db", clock)
        async with TelegramClient(simulator.token, address) as client:
            made = House(
                simulator,
                human,
                client,
                Outbox(client, database, clock, random=Random(1)),
                Poller(client, Journal(database, clock), clock, random=Random(1)),
                topic,
            )

            async def take(update: Inbound) -> None:
                made.got.append(update)

            made.outbox.listen(made.events.append)
            made.poller._on_update = take
            tasks = [asyncio.create_task(made.outbox.run()), asyncio.create_task(made.poller.run())]
            await until(lambda: made.poller.state.is_connected)
            yield made
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        database.close()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real sockets need real time; the waits of the product are shortened, their order of size is kept."""
    monkeypatch.setattr(api, "SEND_READ_TIMEOUT", 0.25)
    monkeypatch.setattr(settlement, "REPEAT_WAIT", 0.05)
    monkeypatch.setattr(settlement, "EDIT_WAIT", 0.02)
    monkeypatch.setattr(settlement, "TOKEN_CHECK", 0.2)
    monkeypatch.setattr(poller, "WAITS", (0.05,) * 6)
    monkeypatch.setattr(poller, "CONFLICT_WAIT", 0.1)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "copies"),
    [
        (FaultKind.HANG, 1),
        (FaultKind.RESET, 1),
        (FaultKind.BAD_GATEWAY, 1),
        (FaultKind.SERVER_ERROR, 1),
        (FaultKind.HALF_BODY, 2),
        (FaultKind.LOST_REPLY, 2),
        (FaultKind.LOST_AND_HANG, 2),
    ],
)
async def test_a_send_in_doubt_arrives_and_its_repeat_says_that_it_may_be_one(
    tmp_path: Path, kind: FaultKind, copies: int
) -> None:
    async with house(tmp_path) as at:
        at.simulator.fail(Fault(kind, "sendMessage"))
        state = await at.outbox.outcome(at.post("the answer"))
        assert state.message_id is not None
        await at.outbox.outcome(at.post("the next one"))
        texts = at.texts()
        assert [text.splitlines()[0] for text in texts] == ["the answer"] * copies + ["the next one"]
        assert [MARK in text for text in texts] == [False] * (copies - 1) + [True, False]


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind is not FaultKind.RATE_LIMIT])
async def test_an_edit_survives_any_single_fault_without_a_second_message(tmp_path: Path, kind: FaultKind) -> None:
    async with house(tmp_path) as at:
        key = at.post("working")
        await at.outbox.outcome(key)
        at.simulator.fail(Fault(kind, "editMessageText"))
        at.outbox.revise(key, Part("done", "done"))
        await until(lambda: at.texts() == ["done"])
        await asyncio.sleep(0.15)
        assert at.texts() == ["done"]


@pytest.mark.asyncio
async def test_a_wait_of_5827_seconds_stops_every_call_to_that_chat_and_is_told(tmp_path: Path) -> None:
    async with house(tmp_path) as at:
        at.simulator.fail(Fault(FaultKind.RATE_LIMIT, "sendMessage", seconds=5827))
        at.post("one")
        await until(lambda: bool(at.events))
        at.post("two", MessageClass.PROMPT)
        at.outbox.typing(Place(at.human.chat_id, at.topic))
        await asyncio.sleep(0.2)
        assert at.texts() == []
        waits = [event for event in at.events if isinstance(event, WaitingUntil)]
        assert len(waits) == 1
        assert waits[0].until - SystemClock().now() == pytest.approx(5828, abs=5)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "kind", [FaultKind.HANG, FaultKind.RESET, FaultKind.BAD_GATEWAY, FaultKind.HALF_BODY, FaultKind.LOST_REPLY]
)
async def test_a_broken_poll_loses_and_doubles_no_update(
    tmp_path: Path, kind: FaultKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poller, "POLL_SECONDS", 1)
    monkeypatch.setattr(poller, "POLL_LIMIT", 1.5)
    async with house(tmp_path) as at:
        for number in range(3):
            at.simulator.fail(Fault(kind, "getUpdates"))
            at.human.write(f"text {number}", at.topic)
            await until(lambda number=number: len(at.said()) > number)  # type: ignore[misc]
        await asyncio.sleep(0.1)
        assert at.said() == [f"text {number}" for number in range(3)]


@pytest.mark.asyncio
async def test_a_second_poller_is_explained_and_the_stream_goes_on_when_it_has_gone(tmp_path: Path) -> None:
    async with house(tmp_path) as at:
        address = ApiAddress(at.simulator.base_url, at.simulator.base_file_url, uses_environment=False)

        async def intrude() -> None:
            async with TelegramClient(at.simulator.token, address) as other:
                while True:
                    with contextlib.suppress(Exception):
                        await other.updates(None, 1)
                    await asyncio.sleep(0.02)

        intruder = asyncio.create_task(intrude())
        await until(lambda: at.poller.state.phase is PollPhase.CONFLICT)
        assert at.poller.state.problem is not None
        assert "Another program polls this bot" in at.poller.state.problem.title
        intruder.cancel()
        await asyncio.gather(intruder, return_exceptions=True)
        await until(lambda: at.poller.state.is_connected)
        at.human.write("still there?", at.topic)
        await until(lambda: any(isinstance(update, IncomingMessage) for update in at.got))


@pytest.mark.asyncio
async def test_a_revoked_token_is_a_clear_state_and_what_waits_goes_out_when_it_is_back(tmp_path: Path) -> None:
    async with house(tmp_path) as at:
        token, at.simulator.api.token = at.simulator.api.token, "1:" + "x" * 35
        key = at.post("kept")
        await until(lambda: TokenRefused() in at.events)
        at.poller.poke()
        await until(lambda: at.poller.state.phase is PollPhase.REFUSED)
        assert at.poller.state.problem is not None
        at.simulator.api.token = token
        at.poller.poke()
        await until(lambda: at.poller.state.is_connected)
        assert (await at.outbox.outcome(key)).message_id is not None
        assert at.texts() == ["kept"]


@pytest.mark.asyncio
async def test_an_hour_without_a_server_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.dispatch.LINE_WAITS", (0.05,) * 6)
    async with house(tmp_path) as at:
        port = at.simulator.port
        await at.simulator.stop()
        keys = [at.post(f"{number}") for number in range(4)]
        await until(lambda: at.poller.state.phase is PollPhase.OFFLINE)
        at.human.write("written meanwhile", at.topic)
        at.simulator._server._port = port
        await at.simulator.start()
        states = [await at.outbox.outcome(key) for key in keys]
        assert all(state.message_id for state in states)
        await until(lambda: any(isinstance(update, IncomingMessage) for update in at.got))
        assert [text.splitlines()[0] for text in at.texts()] == ["0", "1", "2", "3"]
