"""The phone page's server: who may speak to it, what it answers, what it refuses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from agents.contract import HubError
from bridge.simulator import AgentChoice, Human
from tests.bridge.simulator.client import Client


def url(client: Client, name: str = "") -> str:
    return client.simulator.phone_url + name


async def act(client: Client, **fields: Any) -> httpx.Response:
    return await client.http.post(url(client, "act"), json=fields)


async def stream(client: Client, last: str = "") -> list[tuple[str, Any]]:
    """What a stream tells at its beginning: all that was missed, and the budget after it."""
    events: list[tuple[str, Any]] = []
    async with asyncio.timeout(20), client.http.stream("GET", url(client, f"events?last={last}")) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((kind, json.loads(line.removeprefix("data: "))))
                if kind == "budget":
                    break
    return events


@pytest.mark.asyncio
async def test_without_the_secret_nothing_is_served(client: Client) -> None:
    wrong = client.simulator.address + "/phone/guess/state"
    assert (await client.http.get(wrong)).status_code == 404


@pytest.mark.asyncio
async def test_under_another_name_than_loopbacks_nothing_is_served(client: Client) -> None:
    answer = await client.http.get(url(client, "state"), headers={"host": f"evil.example:{client.simulator.port}"})
    assert answer.status_code == 404


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["..%2f..%2fpyproject.toml", "../../pyproject.toml", ".hidden", "words.py", "nothing"])
async def test_only_the_pages_own_files_are_served(client: Client, name: str) -> None:
    assert (await client.http.get(url(client, name))).status_code == 404


@pytest.mark.asyncio
async def test_the_page_may_load_nothing_from_elsewhere(client: Client) -> None:
    answer = await client.http.get(url(client))
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.asyncio
async def test_a_file_of_a_person_is_never_served_as_a_page(client: Client, human: Human) -> None:
    human.send_file(b"<script>alert(1)</script>", "a.html")
    file_id = (await client.updates())[-1]["message"]["document"]["file_id"]
    answer = await client.http.get(url(client, f"file/{file_id}"))
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"do": "fly"},
        {"do": "write", "topic": 0, "text": " "},
        {"do": "write", "topic": "x", "text": "a"},
        {"do": "press", "message": 999, "data": "x"},
        {"do": "topic", "what": "create", "name": " "},
        {"do": "topic", "what": "close", "topic": 99},
        {"do": "choose", "agent": "unknown"},
    ],
)
async def test_nonsense_is_refused_with_a_reason(client: Client, fields: dict[str, Any]) -> None:
    answer = await act(client, **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]


@pytest.mark.asyncio
@pytest.mark.parametrize("data", ["", "x" * 65])
async def test_a_press_without_data_or_with_too_much_is_refused(client: Client, data: str) -> None:
    sent = await client.send("x", reply_markup={"inline_keyboard": [[{"text": "Go", "callback_data": "go"}]]})
    assert (await act(client, do="press", message=sent["message_id"], data=data)).status_code == 400


@pytest.mark.asyncio
async def test_a_press_sends_what_the_pressed_button_said_though_the_card_was_edited_meanwhile(client: Client) -> None:
    sent = await client.send("card", reply_markup={"inline_keyboard": [[{"text": "Deny", "callback_data": "deny"}]]})
    await client.ok(
        "editMessageText",
        chat_id=client.chat_id,
        message_id=sent["message_id"],
        text="card 2",
        reply_markup={"inline_keyboard": [[{"text": "Allow", "callback_data": "allow"}]]},
    )
    press = asyncio.create_task(act(client, do="press", message=sent["message_id"], data="deny"))
    (update,) = await client.updates(timeout=10)
    assert update["callback_query"]["data"] == "deny"
    await client.ok("answerCallbackQuery", callback_query_id=update["callback_query"]["id"])
    assert (await press).status_code == 200


@pytest.mark.asyncio
async def test_a_message_that_is_gone_already_is_told_of_as_gone_only(client: Client, human: Human) -> None:
    state = (await client.http.get(url(client, "state"))).json()
    kept = human.write("kept")
    human.delete(human.write("gone"))
    events = await stream(client, f"{state['epoch']}:{state['number']}")
    assert [body["text"] for kind, body in events if kind == "message"] == ["kept"]
    (gone,) = [body for kind, body in events if kind == "delete"]
    assert (gone["from"], gone["last"]["id"]) == (human.id, kept.id)


@pytest.mark.asyncio
async def test_a_page_that_hung_up_is_listened_for_no_longer(client: Client, human: Human) -> None:
    feed = client.simulator.world.feed
    await stream(client)
    async with asyncio.timeout(20):
        while feed.listener_count:
            human.write("somebody is still writing")
            await asyncio.sleep(0.01)


@pytest.mark.asyncio
async def test_only_own_messages_are_edited_or_deleted(client: Client, human: Human) -> None:
    theirs = await client.send("of the bot")
    mine = human.write("mine")
    assert (await act(client, do="edit", message=theirs["message_id"], text="x")).status_code == 400
    assert (await act(client, do="delete", message=theirs["message_id"])).status_code == 400
    assert (await act(client, do="edit", message=mine.id, text="changed")).status_code == 200
    seen = human.look(mine)
    assert seen is not None
    assert seen.text == "changed"


@pytest.mark.asyncio
async def test_unread_counts_what_others_wrote_since_it_was_read(client: Client, human: Human) -> None:
    topic = human.create_topic("one")
    human.write("mine", topic)
    first = await client.send("silent", message_thread_id=topic, disable_notification=True)
    await client.send("loud", message_thread_id=topic)

    async def unread() -> tuple[int, bool]:
        found = (await client.http.get(url(client, "state"))).json()["topics"]
        (one,) = [item for item in found if item["id"] == topic]
        return one["unread"], one["rings"]

    assert await unread() == (2, True)
    await act(client, do="read", topic=topic, message=first["message_id"])
    assert await unread() == (1, True)


@pytest.mark.asyncio
async def test_messages_come_in_pages_from_the_end(client: Client, human: Human) -> None:
    for number in range(30):
        human.write(f"m{number}")
    last = (await client.http.get(url(client, "messages?topic=0&limit=10"))).json()
    before = last["messages"][0]["id"]
    older = (await client.http.get(url(client, f"messages?topic=0&limit=50&before={before}"))).json()
    assert [item["text"] for item in last["messages"]] == [f"m{number}" for number in range(20, 30)]
    assert (len(older["messages"]), last["more"], older["more"]) == (20, True, False)


@pytest.mark.asyncio
async def test_the_stream_gives_what_was_missed_and_no_more(client: Client, human: Human) -> None:
    human.write("before")
    state = (await client.http.get(url(client, "state"))).json()
    human.write("missed")
    events = await stream(client, f"{state['epoch']}:{state['number']}")
    assert [body["text"] for kind, body in events if kind == "message"] == ["missed"]
    assert "hello" not in [kind for kind, _ in events]


@pytest.mark.asyncio
@pytest.mark.parametrize("last", ["", "another:5", "nonsense"])
async def test_a_page_that_knows_nothing_of_this_life_is_told_to_load_again(client: Client, last: str) -> None:
    kinds = [kind for kind, _ in await stream(client, last)]
    assert kinds == ["hello", "budget"]


@pytest.mark.asyncio
async def test_a_page_that_knows_more_than_there_is_loads_again(client: Client) -> None:
    kinds = [kind for kind, _ in await stream(client, f"{client.simulator.phone.epoch}:999")]
    assert kinds == ["hello", "budget"]


@pytest.mark.asyncio
async def test_the_choice_of_an_agent_is_made_once_and_a_failure_is_said(client: Client) -> None:
    chosen: list[str] = []

    async def choose(name: str) -> None:
        if name == "broken":
            raise HubError("It does not start", hint="Install it again")
        chosen.append(name)

    stage = client.simulator.phone.stage
    stage.offer([AgentChoice("demo", "Demo"), AgentChoice("broken", "Broken")], choose)
    refused = await act(client, do="choose", agent="broken")
    assert (refused.status_code, refused.json()["error"]) == (400, "It does not start\nInstall it again")
    assert stage.chosen == ""
    assert (await act(client, do="choose", agent="demo")).status_code == 200
    assert (chosen, stage.chosen) == (["demo"], "demo")


@pytest.mark.asyncio
async def test_an_error_of_the_simulators_own_is_a_500_and_not_the_end(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(client.simulator.world, "add_post", broken)
        answer = await client.http.post(client.url("sendMessage"), json={"chat_id": client.chat_id, "text": "x"})
        assert answer.status_code == 500
    assert (await client.call("getMe"))["ok"]


@pytest.mark.asyncio
async def test_a_stranger_may_not_change_the_topics_of_others(client: Client, human: Human) -> None:
    topic = human.create_topic("theirs")
    change = {"do": "topic", "what": "rename", "topic": topic, "name": "mine now"}
    assert (await act(client, **change, **{"as": "stranger"})).status_code == 400
    assert (await act(client, **change)).status_code == 200


@pytest.mark.asyncio
async def test_an_upload_without_a_file_is_refused(client: Client) -> None:
    answer = await client.http.post(url(client, "upload?topic=0"), data={"x": "y"})
    assert (answer.status_code, answer.json()["error"]) == (400, "there is no file in the request")
