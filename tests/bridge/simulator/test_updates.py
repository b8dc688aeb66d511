"""getUpdates: confirmed by offset, one poller at a time, aged as on the real server."""

from __future__ import annotations

import asyncio

import pytest

from bridge.simulator import Human
from tests.bridge.clocks import HandClock
from tests.bridge.simulator.client import Client


def texts(updates: list[dict]) -> list[str]:
    return [update["message"].get("text", "service") for update in updates]


@pytest.mark.asyncio
async def test_an_update_stays_until_a_larger_offset_confirms_it(client: Client, human: Human) -> None:
    human.write("one")
    human.write("two")
    first = await client.updates(offset=-100)
    again = await client.updates(offset=first[0]["update_id"])
    assert texts(first) == texts(again) == ["one", "two"]
    rest = await client.updates(offset=first[0]["update_id"] + 1)
    assert texts(rest) == ["two"]


@pytest.mark.asyncio
async def test_a_negative_offset_keeps_only_the_last_updates(client: Client, human: Human) -> None:
    for text in ("one", "two", "three"):
        human.write(text)
    assert texts(await client.updates(offset=-1)) == ["three"]
    assert len(client.simulator.world.updates) == 1


@pytest.mark.asyncio
async def test_a_long_poll_ends_when_something_happens(client: Client, human: Human, clock: HandClock) -> None:
    poll = asyncio.create_task(client.updates(timeout=50))
    await clock.somebody_sleeps()
    human.write("hello")
    assert texts(await poll) == ["hello"]


@pytest.mark.asyncio
async def test_a_long_poll_ends_empty_after_its_time(client: Client, clock: HandClock) -> None:
    poll = asyncio.create_task(client.updates(timeout=20))
    await clock.somebody_sleeps()
    clock.move(20)
    assert await poll == []


@pytest.mark.asyncio
async def test_the_same_offset_asked_again_at_once_is_slowed_down(client: Client, clock: HandClock) -> None:
    await client.updates(timeout=0)
    poll = asyncio.create_task(client.updates(timeout=0))
    await clock.somebody_sleeps()
    assert not poll.done()
    clock.move(3)
    assert await poll == []


@pytest.mark.asyncio
async def test_of_two_polls_the_older_gets_the_conflict(client: Client, human: Human, clock: HandClock) -> None:
    older = asyncio.create_task(client.call("getUpdates", timeout=30))
    await clock.somebody_sleeps()
    newer = asyncio.create_task(client.updates(timeout=30))
    answer = await older
    assert answer["error_code"] == 409
    assert answer["description"].startswith("Conflict: terminated by other getUpdates request")
    human.write("for the newer")
    assert texts(await newer) == ["for the newer"]


@pytest.mark.asyncio
async def test_allowed_updates_stay_until_others_are_named(client: Client, human: Human) -> None:
    seen = human.write("react to me")
    human.react(seen, "👍")
    assert [list(update)[1] for update in await client.updates(offset=-100)] == ["message"]
    await client.updates(offset=-100, allowed_updates=["message_reaction"], timeout=0)
    human.react(seen, "🔥")
    human.write("not asked for")
    kinds = [list(update)[1] for update in await client.updates(offset=-1)]
    assert kinds == ["message_reaction"]


@pytest.mark.asyncio
async def test_a_message_waits_for_a_day_and_a_press_for_150_seconds(
    client: Client, human: Human, clock: HandClock
) -> None:
    keyboard = {"inline_keyboard": [[{"text": "Go", "callback_data": "go"}]]}
    await client.send("press me", reply_markup=keyboard)
    human.write("a text")
    press = asyncio.create_task(human.press(human.from_bot()[-1], "Go"))
    await asyncio.sleep(0)
    assert len(client.simulator.world.updates) == 2
    clock.move(151)
    assert texts(client.simulator.world.updates.pending()) == ["a text"]
    clock.move(86_400)
    assert len(client.simulator.world.updates) == 0
    press.cancel()


@pytest.mark.asyncio
async def test_a_poll_whose_client_hung_up_lets_the_next_one_through(
    client: Client, human: Human, clock: HandClock
) -> None:
    poll = asyncio.create_task(client.updates(timeout=50))
    await clock.somebody_sleeps()
    poll.cancel()
    await asyncio.gather(poll, return_exceptions=True)
    human.write("still there")
    assert texts(await client.updates(timeout=20)) == ["still there"]


@pytest.mark.asyncio
async def test_with_privacy_and_without_rights_only_what_concerns_the_bot_is_seen(client: Client, human: Human) -> None:
    client.simulator.world.change_rights(client.simulator.group, is_admin=False)
    client.simulator.world.updates.clear()
    await client.send("mine")
    human.write("among people")
    human.write("/status")
    human.reply(human.from_bot()[-1], "to the bot")
    assert texts(await client.updates(timeout=0)) == ["/status", "to the bot"]


@pytest.mark.asyncio
async def test_an_album_comes_as_separate_messages_of_one_group(client: Client, human: Human, png: bytes) -> None:
    human.send_album([("a.png", png), ("b.png", png)], caption="two")
    first, second = [update["message"] for update in await client.updates(timeout=0)]
    assert first["media_group_id"] == second["media_group_id"]
    assert (first["caption"], second.get("caption")) == ("two", None)
