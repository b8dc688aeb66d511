"""Topics as a forum group has them."""

from __future__ import annotations

import pytest

from bridge.simulator import Human
from tests.bridge.simulator.client import Client


@pytest.mark.asyncio
async def test_a_topics_id_is_the_id_of_the_message_that_created_it(client: Client) -> None:
    topic = await client.ok("createForumTopic", chat_id=client.chat_id, name="  build   it ")
    (update,) = await client.updates()
    message = update["message"]
    assert topic["name"] == "build it"
    assert message["message_id"] == message["message_thread_id"] == topic["message_thread_id"]
    assert message["forum_topic_created"]["name"] == "build it"
    assert message["from"]["id"] == client.simulator.world.bot.id


@pytest.mark.asyncio
async def test_a_message_in_general_carries_no_thread(client: Client, human: Human) -> None:
    human.write("in general")
    (update,) = await client.updates()
    assert "message_thread_id" not in update["message"]
    assert "is_topic_message" not in update["message"]


@pytest.mark.asyncio
async def test_a_message_in_a_topic_seems_to_reply_to_its_creation(client: Client, human: Human) -> None:
    topic = human.create_topic("one")
    human.write("hello", topic)
    message = (await client.updates())[-1]["message"]
    assert message["is_topic_message"] is True
    assert "forum_topic_created" in message["reply_to_message"]


@pytest.mark.asyncio
@pytest.mark.parametrize("thread", [1, 999])
async def test_a_thread_that_is_no_topic_is_not_found(client: Client, thread: int) -> None:
    refusal = await client.refusal("sendMessage", chat_id=client.chat_id, text="x", message_thread_id=thread)
    assert refusal == "Bad Request: message thread not found"


@pytest.mark.asyncio
async def test_a_deleted_topic_is_only_noticed_by_the_next_send(client: Client, human: Human) -> None:
    topic = human.create_topic("gone soon")
    await client.updates(offset=-1)
    waiting = len(client.simulator.world.updates)
    human.delete_topic(topic)
    assert len(client.simulator.world.updates) == waiting
    send = await client.refusal("sendMessage", chat_id=client.chat_id, text="x", message_thread_id=topic)
    close = await client.refusal("closeForumTopic", chat_id=client.chat_id, message_thread_id=topic)
    assert (send, close) == ("Bad Request: message thread not found", "Bad Request: TOPIC_DELETED")


@pytest.mark.asyncio
async def test_a_closed_topic_takes_nothing_from_a_bot_without_rights(client: Client, human: Human) -> None:
    topic = human.create_topic("closed")
    human.close_topic(topic)
    await client.send("as administrator", message_thread_id=topic)
    client.simulator.world.change_rights(client.simulator.group, can_manage_topics=False)
    refusal = await client.refusal("sendMessage", chat_id=client.chat_id, text="x", message_thread_id=topic)
    assert refusal == "Bad Request: TOPIC_CLOSED"


@pytest.mark.asyncio
async def test_changes_of_a_topic_are_told_once_and_not_repeated(client: Client, human: Human) -> None:
    topic = human.create_topic("old")
    where = {"chat_id": client.chat_id, "message_thread_id": topic}
    assert await client.ok("editForumTopic", **where, name="new") is True
    assert await client.ok("editForumTopic", **where) is True
    assert await client.ok("closeForumTopic", **where) is True
    assert await client.refusal("editForumTopic", **where, name="new") == "Bad Request: TOPIC_NOT_MODIFIED"
    assert await client.refusal("closeForumTopic", **where) == "Bad Request: TOPIC_NOT_MODIFIED"
    assert await client.ok("reopenForumTopic", **where) is True
    told = [key for update in await client.updates() for key in update["message"] if key.startswith("forum_topic_")]
    assert told == ["forum_topic_created", "forum_topic_edited", "forum_topic_closed", "forum_topic_reopened"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("method", "fields", "right", "text"),
    [
        ("createForumTopic", {"name": "x"}, "can_manage_topics", "create a topic"),
        ("editForumTopic", {"name": "x"}, "can_manage_topics", "edit the topic"),
        ("closeForumTopic", {}, "can_manage_topics", "close or open the topic"),
        ("deleteForumTopic", {}, "can_delete_messages", "delete the topic"),
    ],
)
async def test_a_missing_right_is_named(
    client: Client, human: Human, method: str, fields: dict[str, str], right: str, text: str
) -> None:
    topic = human.create_topic("theirs")
    client.simulator.world.change_rights(client.simulator.group, **{right: False})
    refusal = await client.refusal(method, chat_id=client.chat_id, message_thread_id=topic, **fields)
    assert refusal == f"Bad Request: not enough rights to {text}"


@pytest.mark.asyncio
async def test_a_name_is_cut_at_128_and_never_empty(client: Client) -> None:
    topic = await client.ok("createForumTopic", chat_id=client.chat_id, name="n" * 200)
    assert len(topic["name"]) == 128
    refusal = await client.refusal("createForumTopic", chat_id=client.chat_id, name=" \n ")
    assert refusal == "Bad Request: name must be non-empty"


@pytest.mark.asyncio
async def test_only_the_six_colours_exist(client: Client) -> None:
    refusal = await client.refusal("createForumTopic", chat_id=client.chat_id, name="x", icon_color=1)
    assert refusal == "Bad Request: invalid icon color specified"


@pytest.mark.asyncio
async def test_a_change_of_the_bots_rights_is_told(client: Client) -> None:
    client.simulator.world.change_rights(client.simulator.group, can_manage_topics=False)
    (update,) = await client.updates()
    assert update["my_chat_member"]["new_chat_member"]["can_manage_topics"] is False


@pytest.mark.asyncio
async def test_a_kicked_bot_is_told_so_by_every_call(client: Client) -> None:
    client.simulator.world.kick_bot(client.simulator.group)
    assert (
        await client.refusal("sendMessage", chat_id=client.chat_id, text="x")
        == "Forbidden: bot was kicked from the supergroup chat"
    )


@pytest.mark.asyncio
async def test_an_upgraded_group_answers_with_its_new_id(client: Client) -> None:
    world = client.simulator.world
    old = world.add_group(-42, "Basic", is_forum=False)
    world.migrate(old, -1_001_000_000_042)
    body = await client.call("sendMessage", chat_id=-42, text="x")
    assert body["parameters"] == {"migrate_to_chat_id": -1_001_000_000_042}
    told = [next(key for key in update["message"] if key.startswith("migrate")) for update in await client.updates()]
    assert told == ["migrate_to_chat_id", "migrate_from_chat_id"]
    assert (await client.ok("sendMessage", chat_id=-1_001_000_000_042, text="x"))["message_id"] > 0
