"""python-telegram-bot's own client must be able to talk to the simulator: every answer parses into its types."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputMediaPhoto
from telegram.constants import ChatMemberStatus
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, NetworkError, RetryAfter
from telegram.ext import ExtBot
from telegram.request import HTTPXRequest

from bridge.simulator import Fault, FaultKind, Human, Simulator


def request() -> HTTPXRequest:
    return HTTPXRequest(httpx_kwargs={"trust_env": False})


def bot_of(simulator: Simulator) -> ExtBot[None]:
    return ExtBot(
        simulator.token,
        base_url=simulator.base_url,
        base_file_url=simulator.base_file_url,
        request=request(),
        get_updates_request=request(),
    )


@pytest_asyncio.fixture
async def bot(simulator: Simulator) -> AsyncIterator[Bot]:
    async with bot_of(simulator) as bot:
        yield bot


@pytest.mark.asyncio
async def test_a_set_up_wizard_finds_what_it_asks_for(bot: Bot, simulator: Simulator, human: Human) -> None:
    chat = await bot.get_chat(simulator.group.id)
    member = await bot.get_chat_member(chat.id, bot.id)
    administrators = await bot.get_chat_administrators(chat.id)
    assert chat.is_forum
    assert member.status == ChatMemberStatus.ADMINISTRATOR
    assert {admin.user.id for admin in administrators} == {human.id, bot.id}
    assert (await bot.get_me()).can_read_all_group_messages is False
    assert (await bot.get_chat_member(chat.id, human.id)).status == ChatMemberStatus.OWNER
    assert (await bot.get_forum_topic_icon_stickers())[0].custom_emoji_id
    await bot.delete_webhook()
    await bot.set_my_commands([("new", "Start a session")])
    assert (await bot.get_my_commands())[0].command == "new"


@pytest.mark.asyncio
async def test_messages_topics_and_files_parse_into_its_types(
    bot: Bot, simulator: Simulator, human: Human, png: bytes
) -> None:
    chat_id = simulator.group.id
    topic = (await bot.create_forum_topic(chat_id, "one")).message_thread_id
    markup = InlineKeyboardMarkup([[InlineKeyboardButton("Go", callback_data="go")]])
    sent = await bot.send_message(chat_id, "<b>x</b>", "HTML", message_thread_id=topic, reply_markup=markup)
    assert (sent.message_thread_id, sent.is_topic_message, sent.text_html) == (topic, True, "<b>x</b>")
    edited = await bot.edit_message_text("y", chat_id, sent.message_id)
    assert not isinstance(edited, bool)
    assert edited.edit_date is not None
    document = (await bot.send_document(chat_id, b"data", filename="a.md")).document
    assert document is not None
    assert bytes(await (await bot.get_file(document.file_id)).download_as_bytearray()) == b"data"
    album = await bot.send_media_group(chat_id, [InputMediaPhoto(png), InputMediaPhoto(png)])
    assert album[0].media_group_id == album[1].media_group_id
    assert await bot.send_chat_action(chat_id, "typing", message_thread_id=topic)
    assert await bot.set_message_reaction(chat_id, sent.message_id, "👀")
    assert await bot.delete_message(chat_id, album[0].message_id)


@pytest.mark.asyncio
async def test_every_kind_of_update_parses_into_its_types(
    bot: Bot, simulator: Simulator, human: Human, png: bytes
) -> None:
    world, kinds = (
        simulator.world,
        ["message", "edited_message", "callback_query", "message_reaction", "my_chat_member"],
    )
    await bot.get_updates(timeout=0, allowed_updates=kinds)
    markup = InlineKeyboardMarkup([[InlineKeyboardButton("Go", callback_data="go")]])
    sent = await bot.send_message(simulator.group.id, "x", reply_markup=markup)
    topic = human.create_topic("one")
    written = human.write("/new@agent_hub_bot go", topic)
    human.edit(written, "new")
    human.react(written, "👍")
    human.send_photo(png, topic)
    human.send_voice(b"ogg", topic)
    human.send_other("location", topic)
    human.close_topic(topic)
    world.press(simulator.group, simulator.group.posts[sent.message_id], human.account, human.from_bot()[0].buttons[0])
    world.change_rights(simulator.group, can_pin_messages=False)
    updates = await bot.get_updates(offset=-100, timeout=0)
    seen = {kind for update in updates for kind in kinds if getattr(update, kind) is not None}
    assert seen == set(kinds)
    assert all(not update.api_kwargs for update in updates)


@pytest.mark.filterwarnings("ignore::telegram.warnings.PTBDeprecationWarning")
@pytest.mark.asyncio
async def test_failures_arrive_as_its_errors(bot: Bot, simulator: Simulator) -> None:
    chat_id = simulator.group.id
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(chat_id, "x", message_thread_id=1)
    simulator.fail(Fault(FaultKind.RATE_LIMIT, seconds=5827))
    with pytest.raises(RetryAfter) as flood:
        await bot.send_message(chat_id, "x")
    assert flood.value.retry_after == 5827
    simulator.fail(Fault(FaultKind.BAD_GATEWAY))
    with pytest.raises(NetworkError):
        await bot.send_message(chat_id, "x")
    simulator.world.migrate(simulator.world.add_group(-42, "Basic", is_forum=False), -1_001_000_000_042)
    with pytest.raises(ChatMigrated):
        await bot.send_message(-42, "x")
    simulator.world.kick_bot(simulator.group)
    with pytest.raises(Forbidden):
        await bot.send_message(chat_id, "x")


@pytest.mark.asyncio
async def test_a_wrong_token_is_an_invalid_token(simulator: Simulator) -> None:
    async with request() as requests:
        bot = Bot("7000000001:AAanother-token-of-a-bot-that-is-not_real", simulator.base_url, request=requests)
        with pytest.raises(InvalidToken):
            await bot.get_me()
