"""Updates of the Bot API as values: the right topic, the right person, and never an exception."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.inbound import (
    BotMembership,
    ButtonPress,
    ChatMoved,
    FileKind,
    IncomingMessage,
    Place,
    ReactionChange,
    TopicChange,
    TopicEvent,
    UnknownUpdate,
)
from bridge.telegram.updates import parse_update

CHAT = -1001234500001


def message(**fields: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "message_id": 71,
        "from": {"id": 501, "is_bot": False, "first_name": "Ann", "last_name": "Lee"},
        "chat": {"id": CHAT, "type": "supergroup", "is_forum": True},
        "date": 1800000000,
    }
    sender = fields.pop("sender", None)
    return base | fields | ({"from": sender} if sender else {})


def in_topic(**fields: Any) -> dict[str, Any]:
    return message(message_thread_id=7, is_topic_message=True, **fields)


def parse(**kinds: Any) -> Any:
    return parse_update({"update_id": 9, **kinds})


def test_a_text_in_a_topic() -> None:
    found = parse(message=in_topic(text="fix it"))
    assert isinstance(found, IncomingMessage)
    assert (found.update_id, found.place, found.message_id) == (9, Place(CHAT, 7), 71)
    assert (found.text, found.date, found.reply_to, found.is_edit) == ("fix it", 1800000000.0, None, False)
    assert (found.sender.id, found.sender.name, found.sender.is_bot) == (501, "Ann Lee", False)


def test_general_has_no_topic() -> None:
    assert parse(message=message(text="/status")).place == Place(CHAT, None)


def test_a_reply_chain_outside_a_forum_is_no_topic() -> None:
    found = parse(message=message(message_thread_id=70, text="hm", reply_to_message={"message_id": 70}))
    assert found.place == Place(CHAT, None)
    assert found.reply_to == 70


@pytest.mark.parametrize("target", [{"message_id": 7}, {"message_id": 8, "forum_topic_created": {"name": "x"}}])
def test_the_implicit_reply_to_the_topics_creation_is_no_reply(target: dict[str, Any]) -> None:
    assert parse(message=in_topic(text="hi", reply_to_message=target)).reply_to is None


def test_a_persons_own_reply_is_kept() -> None:
    assert parse(message=in_topic(text="no", reply_to_message={"message_id": 60})).reply_to == 60


def test_an_administrator_who_hides_behind_the_group_is_anonymous() -> None:
    hidden = in_topic(text="hi", sender_chat={"id": CHAT, "title": "Team"}, sender={"id": 1087968824, "is_bot": True})
    found = parse(message=hidden)
    assert found.sender.is_anonymous
    assert found.sender.id == CHAT


def test_a_channel_that_writes_into_the_group_is_no_trusted_person() -> None:
    found = parse(message=in_topic(text="hi", sender_chat={"id": -100777}, sender={"id": 777000}))
    assert found.sender.is_anonymous
    assert found.sender.id == -100777


def test_what_telegram_itself_copies_from_a_linked_channel_is_nobodys_message() -> None:
    copied = in_topic(text="news", sender_chat={"id": -100777}, sender={"id": 777000}, is_automatic_forward=True)
    assert isinstance(parse(message=copied), UnknownUpdate)


def test_an_edited_message_says_so() -> None:
    assert parse(edited_message=in_topic(text="better")).is_edit


def test_the_largest_form_of_a_picture_is_taken_with_its_caption_and_album() -> None:
    sizes = [
        {"file_id": "S", "width": 90, "height": 60, "file_size": 900},
        {"file_id": "L", "width": 800, "height": 600, "file_size": 90000},
    ]
    found = parse(message=in_topic(photo=sizes, caption="сравни эти три", media_group_id="g1"))
    assert (found.text, found.album_id) == ("сравни эти три", "g1")
    assert [(file.kind, file.file_id, file.size) for file in found.files] == [(FileKind.PHOTO, "L", 90000)]


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("document", FileKind.DOCUMENT),
        ("audio", FileKind.AUDIO),
        ("voice", FileKind.VOICE),
        ("video", FileKind.VIDEO),
        ("video_note", FileKind.VIDEO),
    ],
)
def test_each_kind_of_file(key: str, kind: FileKind) -> None:
    file = {"file_id": "F", "file_name": "a.pdf", "mime_type": "application/pdf", "file_size": 5}
    found = parse(message=in_topic(**{key: file})).files[0]
    assert (found.kind, found.file_id, found.name, found.media_type, found.size) == (
        kind,
        "F",
        "a.pdf",
        "application/pdf",
        5,
    )


@pytest.mark.parametrize("key", ["sticker", "location", "contact", "poll", "dice"])
def test_content_the_hub_can_not_take_is_named(key: str) -> None:
    assert parse(message=in_topic(**{key: {}})).other == key


@pytest.mark.parametrize(
    ("fields", "change", "name"),
    [
        ({"forum_topic_created": {"name": "api", "icon_color": 1}}, TopicChange.CREATED, "api"),
        ({"forum_topic_edited": {"name": "web"}}, TopicChange.RENAMED, "web"),
        ({"forum_topic_closed": {}}, TopicChange.CLOSED, ""),
        ({"forum_topic_reopened": {}}, TopicChange.REOPENED, ""),
    ],
)
def test_each_change_of_a_topic(fields: dict[str, Any], change: TopicChange, name: str) -> None:
    found = parse(message=in_topic(**fields))
    assert isinstance(found, TopicEvent)
    assert (found.place, found.change, found.name, found.sender.id) == (Place(CHAT, 7), change, name, 501)


def test_another_icon_is_no_new_name() -> None:
    assert isinstance(parse(message=in_topic(forum_topic_edited={"icon_custom_emoji_id": "1"})), UnknownUpdate)


def test_both_sides_of_an_upgrade_say_the_same() -> None:
    old = {"id": -55, "type": "group"}
    first = parse(message=message(chat=old, migrate_to_chat_id=CHAT))
    second = parse(message=message(migrate_from_chat_id=-55))
    assert first == second == ChatMoved(9, -55, CHAT)


def test_a_press_knows_its_card_and_topic() -> None:
    card = {"message_id": 72, "chat": {"id": CHAT, "is_forum": True}, "message_thread_id": 7, "date": 1800000000}
    found = parse(callback_query={"id": "qa", "from": {"id": 501, "is_bot": False}, "data": "p:a:1", "message": card})
    assert isinstance(found, ButtonPress)
    assert (found.press_id, found.data, found.message_id, found.place) == ("qa", "p:a:1", 72, Place(CHAT, 7))


def test_a_press_on_a_card_that_telegram_no_longer_shows_still_counts() -> None:
    card = {"message_id": 72, "chat": {"id": CHAT}, "date": 0}
    found = parse(callback_query={"id": "qa", "from": {"id": 501}, "data": "x", "message": card})
    assert found.place == Place(CHAT, None)


def test_a_press_without_a_message_is_unknown() -> None:
    assert isinstance(parse(callback_query={"id": "q", "from": {"id": 1}, "data": "x"}), UnknownUpdate)


def test_only_new_emoji_of_a_reaction_are_told() -> None:
    change = {
        "chat": {"id": CHAT},
        "message_id": 5,
        "user": {"id": 501, "is_bot": False},
        "old_reaction": [{"type": "emoji", "emoji": "👍"}],
        "new_reaction": [
            {"type": "emoji", "emoji": "👍"},
            {"type": "emoji", "emoji": "🔥"},
            {"type": "custom_emoji", "custom_emoji_id": "1"},
        ],
    }
    found = parse(message_reaction=change)
    assert isinstance(found, ReactionChange)
    assert (found.message_id, found.added, found.sender.id) == (5, ("🔥",), 501)


def test_a_reaction_of_a_hidden_administrator_is_anonymous() -> None:
    change = {"chat": {"id": CHAT}, "message_id": 5, "actor_chat": {"id": CHAT}, "old_reaction": [], "new_reaction": []}
    assert parse(message_reaction=change).sender.is_anonymous


@pytest.mark.parametrize(
    ("member", "is_member", "manages"),
    [
        ({"status": "administrator", "can_manage_topics": True}, True, True),
        ({"status": "member"}, True, False),
        ({"status": "restricted", "is_member": False}, False, False),
        ({"status": "kicked"}, False, False),
        ({"status": "left"}, False, False),
    ],
)
def test_the_bots_own_membership(member: dict[str, Any], is_member: bool, manages: bool) -> None:
    found = parse(my_chat_member={"chat": {"id": CHAT}, "new_chat_member": member})
    assert found == BotMembership(9, CHAT, is_member, manages)


@pytest.mark.parametrize(
    ("update", "kind"),
    [
        ({"update_id": 3, "stopped_message_generation": {"a": 1}}, "stopped_message_generation"),
        ({"update_id": 3}, "empty"),
        ({"update_id": 3, "message": {"message_id": 1}}, "message:malformed"),
        ({"update_id": 3, "message": None}, "message:malformed"),
        ({"update_id": 3, "message": message(pinned_message={})}, "message:pinned_message"),
        ({"update_id": 3, "message": message()}, "message:empty"),
    ],
)
def test_what_is_not_known_is_a_value(update: dict[str, Any], kind: str) -> None:
    assert parse_update(update) == UnknownUpdate(3, kind)


SCALARS = st.sampled_from([None, True, -1, 7, "", "x", 1.5])
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["id", "file_id", "emoji"]), SCALARS)
KINDS = st.sampled_from(["message", "edited_message", "callback_query", "message_reaction", "my_chat_member", "poll"])
FIELDS = st.sampled_from(
    (
        *("message_id", "from", "chat", "photo", "document", "text", "reply_to_message", "forum_topic_created", "id"),
        *("migrate_to_chat_id", "new_chat_member", "user", "new_reaction", "message_thread_id", "is_topic_message"),
        *("message", "sender_chat", "date"),
    )
)


@given(KINDS, st.dictionaries(FIELDS, JSON, max_size=6))
def test_no_shape_of_an_update_raises(kind: str, fields: dict[str, Any]) -> None:
    parse_update({"update_id": 1, kind: message() | fields})
    parse_update({"update_id": 1, kind: fields})
