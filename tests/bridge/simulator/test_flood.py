"""The budget of a chat: what counts, what is held, what is refused, how a penalty grows."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.simulator import STRICT, Human, Simulator
from bridge.simulator.errors import ApiError
from bridge.simulator.flood import ChatBudget
from bridge.simulator.limits import Limits
from tests.bridge.clocks import HandClock
from tests.bridge.simulator.client import Client


async def spend(client: Client, calls: int) -> int:
    """Send that many texts and return the last id."""
    last = 0
    for number in range(calls):
        last = (await client.send(f"text {number}"))["message_id"]
    return last


@pytest.mark.asyncio
async def test_sends_edits_and_new_topics_share_twenty_a_minute(client: Client) -> None:
    last = await spend(client, 18)
    await client.ok("editMessageText", chat_id=client.chat_id, message_id=last, text="edited")
    await client.ok("createForumTopic", chat_id=client.chat_id, name="counts too")
    body = await client.call("sendMessage", chat_id=client.chat_id, text="one too many")
    assert body["error_code"] == 429
    assert body["parameters"] == {"retry_after": 60}
    assert body["description"] == "Too Many Requests: retry after 60"


@pytest.mark.asyncio
async def test_a_short_wait_is_held_by_the_server_and_then_taken(
    client: Client, clock: HandClock, human: Human
) -> None:
    await spend(client, 20)
    clock.move(53)
    held = asyncio.create_task(client.send("held"))
    await clock.somebody_sleeps()
    assert human.from_bot()[-1].text == "text 19"
    clock.move(7)
    await held
    assert human.from_bot()[-1].text == "held"


@pytest.mark.asyncio
async def test_calling_during_a_penalty_makes_it_longer(client: Client, clock: HandClock) -> None:
    await spend(client, 20)
    waits = [
        (await client.call("sendMessage", chat_id=client.chat_id, text="again"))["parameters"]["retry_after"]
        for _ in range(4)
    ]
    assert waits == sorted(waits)
    assert waits[-1] > waits[0] + 15
    clock.move(waits[-1] + 1)
    await client.send("patience pays")


@pytest.mark.asyncio
async def test_answers_deletes_and_reactions_are_free(client: Client, human: Human) -> None:
    last = await spend(client, 20)
    written = human.write("look")
    await client.ok(
        "setMessageReaction", chat_id=client.chat_id, message_id=written.id, reaction=[{"type": "emoji", "emoji": "👍"}]
    )
    await client.ok("deleteMessage", chat_id=client.chat_id, message_id=last)
    await client.ok("getMe")


@pytest.mark.asyncio
async def test_typing_has_a_budget_of_its_own(client: Client) -> None:
    await spend(client, 20)
    for _ in range(20):
        await client.ok("sendChatAction", chat_id=client.chat_id, action="typing")
    body = await client.call("sendChatAction", chat_id=client.chat_id, action="typing")
    assert body["error_code"] == 429
    assert client.simulator.world.flood.used(client.chat_id) == 20


@pytest.mark.asyncio
async def test_a_refused_text_costs_nothing(client: Client) -> None:
    for _ in range(30):
        await client.refusal("sendMessage", chat_id=client.chat_id, text="<b>", parse_mode="HTML")
    assert client.simulator.world.flood.used(client.chat_id) == 0


@pytest.mark.asyncio
async def test_another_chat_has_its_own_budget(client: Client) -> None:
    other = client.simulator.world.add_group(-1_001_000_000_002, "Other")
    await spend(client, 20)
    await client.ok("sendMessage", chat_id=other.id, text="free here")


@pytest.mark.asyncio
async def test_the_strict_server_allows_fifteen(clock: HandClock) -> None:
    async with Simulator(clock=clock, limits=STRICT, random=Random(1)) as simulator, Client(simulator) as client:
        await spend(client, 15)
        assert (await client.call("sendMessage", chat_id=client.chat_id, text="x"))["error_code"] == 429


@given(st.lists(st.floats(0, 20), min_size=1, max_size=200))
def test_no_window_ever_holds_more_than_its_calls(pauses: list[float]) -> None:
    budget, now, taken = ChatBudget(20, Limits()), 0.0, []
    for pause in pauses:
        now += pause
        try:
            taken.append(now + budget.reserve(now))
        except ApiError:
            continue
    assert all(sum(end - 60 < at <= end for at in taken) <= 20 for end in taken)
