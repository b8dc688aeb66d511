"""Inline buttons: the query, its one answer, its end."""

from __future__ import annotations

import asyncio

import pytest

from bridge.simulator import Human
from tests.bridge.clocks import HandClock
from tests.bridge.simulator.client import Client

KEYBOARD = {
    "inline_keyboard": [[{"text": "✅ Allow", "callback_data": "allow"}, {"text": "Deny", "callback_data": "deny"}]]
}
TOO_OLD = "Bad Request: query is too old and response timeout expired or query ID is invalid"


async def pressed(client: Client) -> dict:
    """The callback query that waits."""
    found: dict = (await client.updates(offset=-1, timeout=5))[-1]["callback_query"]
    return found


@pytest.mark.asyncio
async def test_a_press_reaches_the_bot_and_its_toast_the_person(client: Client, human: Human) -> None:
    await client.send("May I?", reply_markup=KEYBOARD)
    press = asyncio.create_task(human.press(human.from_bot()[-1], "Allow"))
    query = await pressed(client)
    assert query["data"] == "allow"
    assert query["chat_instance"] == client.simulator.group.instance
    assert query["message"]["text"] == "May I?"
    assert query["from"]["id"] == human.id
    await client.ok("answerCallbackQuery", callback_query_id=query["id"], text="Allowed once")
    assert await press == "Allowed once"


@pytest.mark.asyncio
async def test_a_press_is_answered_only_once(client: Client, human: Human) -> None:
    await client.send("May I?", reply_markup=KEYBOARD)
    press = asyncio.create_task(human.press(human.from_bot()[-1], 1))
    query = await pressed(client)
    await client.ok("answerCallbackQuery", callback_query_id=query["id"])
    assert await press == ""
    assert await client.refusal("answerCallbackQuery", callback_query_id=query["id"], text="again") == TOO_OLD


@pytest.mark.asyncio
async def test_a_late_answer_is_refused(client: Client, human: Human, clock: HandClock) -> None:
    await client.send("May I?", reply_markup=KEYBOARD)
    press = asyncio.create_task(human.press(human.from_bot()[-1], 0, patience=0.05))
    query = await pressed(client)
    clock.move(61)
    assert await client.refusal("answerCallbackQuery", callback_query_id=query["id"]) == TOO_OLD
    with pytest.raises(TimeoutError):
        await press


@pytest.mark.asyncio
async def test_an_invented_query_is_refused(client: Client) -> None:
    assert await client.refusal("answerCallbackQuery", callback_query_id="12345") == TOO_OLD


@pytest.mark.asyncio
async def test_forged_data_reaches_the_bot_as_it_is(client: Client, human: Human) -> None:
    await client.send("May I?", reply_markup=KEYBOARD)
    press = asyncio.create_task(human.press_data(human.from_bot()[-1], "allow:everything:now"))
    query = await pressed(client)
    assert query["data"] == "allow:everything:now"
    await client.ok("answerCallbackQuery", callback_query_id=query["id"], text="no")
    assert await press == "no"


@pytest.mark.asyncio
async def test_a_button_that_is_not_there_cannot_be_pressed(client: Client, human: Human) -> None:
    await client.send("May I?", reply_markup=KEYBOARD)
    with pytest.raises(LookupError, match="Allow"):
        await human.press(human.from_bot()[-1], "Always")
