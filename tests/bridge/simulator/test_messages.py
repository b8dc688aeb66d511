"""Sending, editing, replying, deleting, reacting: what is taken and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bridge.simulator import Human
from tests.bridge.clocks import HandClock
from tests.bridge.simulator.client import Client


def keyboard(**button: Any) -> dict[str, Any]:
    return {"inline_keyboard": [[button]]}


@pytest.mark.asyncio
async def test_the_answer_carries_text_and_entities_as_they_were_sent(client: Client) -> None:
    sent = await client.send(" <b>a</b><b>b</b>\t<code>x</code> \n", parse_mode="HTML")
    assert sent["text"] == "ab x"
    assert sent["entities"] == [
        {"type": "bold", "offset": 0, "length": 2},
        {"type": "code", "offset": 3, "length": 1},
    ]


@pytest.mark.asyncio
async def test_given_entities_are_kept(client: Client) -> None:
    sent = await client.send("abc", entities=[{"type": "bold", "offset": 1, "length": 2}])
    assert sent["entities"] == [{"type": "bold", "offset": 1, "length": 2}]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"text": ""}, "message text is empty"),
        ({"text": " \n "}, "text must be non-empty"),
        ({"text": "x" * 4097}, "message is too long"),
        ({"text": "x" * 32_769}, "text is too long"),
        ({"text": "<b>x</b></b>", "parse_mode": "HTML"}, "can't parse entities: Unexpected end tag at byte offset 8"),
        ({"text": "x", "parse_mode": "Markdown"}, "unsupported parse_mode"),
        ({"text": "x", "reply_markup": keyboard(text="a", callback_data="d" * 65)}, "BUTTON_DATA_INVALID"),
        ({"text": "x", "reply_markup": keyboard(text="a", callback_data="ы" * 33)}, "BUTTON_DATA_INVALID"),
        (
            {"text": "x", "reply_markup": keyboard(text="", callback_data="d")},
            "inline keyboard button text must be non-empty",
        ),
        (
            {"text": "x", "reply_markup": keyboard(text="a")},
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
        (
            {"text": "x", "reply_markup": {"inline_keyboard": [{"text": "a"}]}},
            'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays',
        ),
        ({"text": "x", "reply_parameters": {"message_id": 999}}, "message to be replied not found"),
    ],
)  # fmt: skip
async def test_a_bad_message_is_refused_in_telegrams_words(
    client: Client, fields: dict[str, Any], refusal: str
) -> None:
    assert await client.refusal("sendMessage", chat_id=client.chat_id, **fields) == f"Bad Request: {refusal}"


@pytest.mark.asyncio
async def test_a_missing_reply_target_is_forgiven_when_asked(client: Client) -> None:
    reply = {"message_id": 999, "allow_sending_without_reply": True}
    assert "reply_to_message" not in await client.send("x", reply_parameters=reply)


@pytest.mark.asyncio
async def test_an_edit_that_changes_nothing_is_refused(client: Client) -> None:
    sent = await client.send("<b>x</b>", parse_mode="HTML")
    where = {"chat_id": client.chat_id, "message_id": sent["message_id"]}
    refusal = await client.refusal("editMessageText", **where, text="<b>x</b> ", parse_mode="HTML")
    assert refusal.startswith("Bad Request: message is not modified: specified new message content")
    edited = await client.ok("editMessageText", **where, text="x")
    assert edited["edit_date"] >= sent["date"]


@pytest.mark.asyncio
async def test_an_edit_without_a_keyboard_takes_it_away(client: Client, human: Human) -> None:
    sent = await client.send("x", reply_markup=keyboard(text="a", callback_data="d"))
    await client.ok("editMessageText", chat_id=client.chat_id, message_id=sent["message_id"], text="x")
    assert human.from_bot()[-1].buttons == ()


@pytest.mark.asyncio
async def test_only_own_living_texts_can_be_edited(client: Client, human: Human, png: bytes) -> None:
    theirs, photo = human.write("theirs"), human.send_photo(png)
    sent = await client.send("mine")
    human.delete(human.from_bot()[-1])
    edit = {"chat_id": client.chat_id, "text": "new"}
    assert (
        await client.refusal("editMessageText", **edit, message_id=theirs.id) == "Bad Request: message can't be edited"
    )
    assert await client.refusal("editMessageText", **edit, message_id=sent["message_id"]) == (
        "Bad Request: message to edit not found"
    )
    assert photo.file is not None
    picture = await client.ok("sendPhoto", chat_id=client.chat_id, photo=await file_id(client))
    assert await client.refusal("editMessageText", **edit, message_id=picture["message_id"]) == (
        "Bad Request: there is no text in the message to edit"
    )


async def file_id(client: Client) -> str:
    found: str = (await client.updates(offset=-1))[-1]["message"]["photo"][0]["file_id"]
    return found


@pytest.mark.asyncio
async def test_the_creation_of_a_topic_can_never_be_deleted(client: Client, human: Human) -> None:
    topic = human.create_topic("stays")
    refusal = await client.refusal("deleteMessage", chat_id=client.chat_id, message_id=topic)
    assert refusal == "Bad Request: message can't be deleted"
    assert await client.refusal("deleteMessage", chat_id=client.chat_id, message_id=77) == (
        "Bad Request: message to delete not found"
    )


@pytest.mark.asyncio
async def test_without_the_right_an_old_message_stays(client: Client, clock: HandClock) -> None:
    sent = await client.send("old")
    client.simulator.world.change_rights(client.simulator.group, can_delete_messages=False)
    clock.move(48 * 3600 + 1)
    refusal = await client.refusal("deleteMessage", chat_id=client.chat_id, message_id=sent["message_id"])
    assert refusal == "Bad Request: message can't be deleted"


@pytest.mark.asyncio
async def test_a_reaction_of_the_bot_is_seen_by_people_and_not_told_to_it(client: Client, human: Human) -> None:
    written = human.write("look")
    reaction = [{"type": "emoji", "emoji": "👀"}]
    await client.ok("setMessageReaction", chat_id=client.chat_id, message_id=written.id, reaction=reaction)
    seen = human.look(written)
    assert seen is not None
    assert seen.reactions == ("👀",)
    assert await client.refusal("setMessageReaction", chat_id=client.chat_id, message_id=99, reaction=reaction) == (
        "Bad Request: message to react not found"
    )
    strange = [{"type": "emoji", "emoji": "🧷"}]
    refusal = await client.refusal(
        "setMessageReaction", chat_id=client.chat_id, message_id=written.id, reaction=strange
    )
    assert refusal == "Bad Request: REACTION_INVALID"


@pytest.mark.asyncio
async def test_an_anonymous_administrator_has_no_name_of_its_own(client: Client) -> None:
    Human.anonymous(client.simulator).write("who am I")
    (update,) = await client.updates()
    assert update["message"]["sender_chat"]["id"] == client.chat_id
    assert update["message"]["from"]["username"] == "GroupAnonymousBot"


@pytest.mark.asyncio
async def test_a_long_text_of_a_person_comes_in_pieces(client: Client, human: Human) -> None:
    human.write("word " * 2000)
    sizes = [len(update["message"]["text"]) for update in await client.updates()]
    assert len(sizes) == 3
    assert max(sizes) <= 4096


@pytest.mark.asyncio
async def test_an_edited_message_of_a_person_is_told(client: Client, human: Human) -> None:
    human.edit(human.write("first"), "second")
    updates = await client.updates()
    assert updates[-1]["edited_message"]["text"] == "second"


@pytest.mark.asyncio
async def test_a_stranger_in_private_must_press_start_first(client: Client) -> None:
    assert await client.refusal("sendMessage", chat_id=1_666, text="x") == "Bad Request: chat not found"
    human = Human(client.simulator, 1_666, "Stranger", chat_id=1_666)
    assert (await client.updates())[0]["message"]["chat"]["type"] == "private"
    await client.ok("sendMessage", chat_id=1_666, text="hello")
    assert human.from_bot()[-1].text == "hello"


@pytest.mark.asyncio
async def test_a_reply_without_a_topic_goes_into_the_topic_it_replies_to(client: Client, human: Human) -> None:
    topic = human.create_topic("one")
    written = human.write("look here", topic)
    sent = await client.send("I see", reply_parameters={"message_id": written.id})
    assert (sent["message_thread_id"], sent["reply_to_message"]["message_id"]) == (topic, written.id)


@pytest.mark.asyncio
async def test_a_topic_that_goes_while_the_send_is_held_is_noticed(
    client: Client, human: Human, clock: HandClock
) -> None:
    topic = human.create_topic("going")
    for number in range(20):
        await client.send(f"text {number}")
    clock.move(55)
    held = asyncio.create_task(client.call("sendMessage", chat_id=client.chat_id, text="x", message_thread_id=topic))
    await clock.somebody_sleeps()
    human.delete_topic(topic)
    clock.move(5)
    assert (await held)["description"] == "Bad Request: message thread not found"
