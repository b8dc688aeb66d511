"""Trouble on demand, as a client meets it."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from bridge.simulator import Fault, FaultKind, Human
from bridge.simulator.feed import Kind
from tests.bridge.clocks import HandClock
from tests.bridge.simulator.client import Client


@pytest.mark.asyncio
async def test_a_lost_reply_leaves_the_message_in_the_chat(client: Client, human: Human) -> None:
    client.simulator.fail(Fault(FaultKind.LOST_REPLY, "sendMessage"))
    with pytest.raises(httpx.TransportError):
        await client.send("taken")
    assert human.from_bot()[-1].text == "taken"


@pytest.mark.asyncio
async def test_a_reset_before_the_call_leaves_nothing(client: Client, human: Human) -> None:
    client.simulator.fail(Fault(FaultKind.RESET, "send*"))
    with pytest.raises(httpx.TransportError):
        await client.send("never arrives")
    assert human.from_bot() == []
    await client.send("the next one does")


@pytest.mark.asyncio
async def test_half_a_body_is_no_answer(client: Client) -> None:
    client.simulator.fail(Fault(FaultKind.HALF_BODY, "getMe"))
    with pytest.raises(httpx.RemoteProtocolError):
        await client.call("getMe")


@pytest.mark.asyncio
async def test_a_hang_lasts_its_seconds_and_then_the_call_goes_on(client: Client, clock: HandClock) -> None:
    client.simulator.fail(Fault(FaultKind.HANG, "getMe", seconds=7))
    call = asyncio.create_task(client.call("getMe"))
    await clock.somebody_sleeps()
    assert not call.done()
    clock.move(7)
    assert (await call)["ok"]


@pytest.mark.asyncio
async def test_a_hang_without_end_waits_until_the_client_gives_up(client: Client) -> None:
    client.simulator.fail(Fault(FaultKind.HANG, "getMe"))
    with pytest.raises(httpx.ReadTimeout):
        await client.http.post(client.url("getMe"), timeout=httpx.Timeout(30, read=0.05))
    assert (await client.call("getMe"))["ok"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fault", "code", "description"),
    [
        (Fault(FaultKind.BAD_GATEWAY), 502, "Bad Gateway"),
        (Fault(FaultKind.SERVER_ERROR), 500, "Internal Server Error"),
        (Fault(FaultKind.DISK_FULL), 500, "Internal Server Error: can't write file: no space left on device"),
        (Fault(FaultKind.RATE_LIMIT, seconds=5827), 429, "Too Many Requests: retry after 5827"),
    ],
)
async def test_the_servers_own_troubles_come_in_the_envelope(
    client: Client, fault: Fault, code: int, description: str
) -> None:
    client.simulator.fail(fault)
    body = await client.call("getMe")
    assert (body["error_code"], body["description"]) == (code, description)


@pytest.mark.asyncio
async def test_a_fault_strikes_as_often_as_it_was_told(client: Client) -> None:
    client.simulator.fail(Fault(FaultKind.BAD_GATEWAY, "getMe", times=2))
    assert [(await client.call("getMe"))["ok"] for _ in range(3)] == [False, False, True]


@pytest.mark.asyncio
async def test_a_share_strikes_some_calls_until_it_is_cleared(client: Client) -> None:
    client.simulator.fail(Fault(FaultKind.BAD_GATEWAY, "getMe", times=0, share=0.5))
    answers = [(await client.call("getMe"))["ok"] for _ in range(40)]
    assert 5 < sum(answers) < 35
    client.simulator.faults.clear()
    assert (await client.call("getMe"))["ok"]


@pytest.mark.asyncio
async def test_a_refusal_on_demand_is_seen_among_the_calls(client: Client) -> None:
    client.simulator.fail(Fault(FaultKind.RATE_LIMIT, "sendMessage", seconds=30))
    await client.refusal("sendMessage", chat_id=client.chat_id, text="x")
    (seen,) = client.simulator.world.feed.latest(Kind.CALL, 5)
    assert (seen.subject.method, seen.subject.code) == ("sendMessage", 429)
