"""Turns one update of the Bot API, as JSON, into a value of ``bridge.inbound``. Pure; never raises.

What it does not know, or what is not shaped as the Bot API says, becomes an ``UnknownUpdate``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from bridge.inbound import (
    BotMembership,
    ButtonPress,
    ChatMoved,
    FileKind,
    Inbound,
    IncomingFile,
    IncomingMessage,
    Person,
    Place,
    ReactionChange,
    TopicChange,
    TopicEvent,
    UnknownUpdate,
)

Json = Mapping[str, Any]

ANONYMOUS_ADMINISTRATOR = 1087968824
"""The placeholder account that Telegram shows for an administrator who hides behind the group."""

_CONTENT_WE_CAN_NOT_TAKE = (
    "sticker",
    "location",
    "venue",
    "contact",
    "poll",
    "dice",
    "game",
    "story",
    "checklist",
    "paid_media",
    "invoice",
    "giveaway",
    "rich_message",
    "live_photo",
)

_FILES: tuple[tuple[str, FileKind], ...] = (
    # An animation also carries "document"; the first that is there is taken.
    ("animation", FileKind.VIDEO),
    ("document", FileKind.DOCUMENT),
    ("audio", FileKind.AUDIO),
    ("voice", FileKind.VOICE),
    ("video", FileKind.VIDEO),
    ("video_note", FileKind.VIDEO),
)


def parse_update(update: Json) -> Inbound:
    """The update as a value. An update without a number gets the number 0."""
    update_id = update.get("update_id")
    number = update_id if isinstance(update_id, int) else 0
    kind = next((key for key in update if key != "update_id"), "empty")
    reader = _READERS.get(kind)
    if reader is None:
        return UnknownUpdate(number, kind)
    try:
        return reader(number, cast("Json", update[kind]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return UnknownUpdate(number, f"{kind}:malformed")


def _message(number: int, message: Json, *, is_edit: bool = False) -> Inbound:
    chat_id = int(message["chat"]["id"])
    moved = _move(number, chat_id, message)
    if moved is not None:
        return moved
    if "from" not in message or message.get("is_automatic_forward") is True:
        return UnknownUpdate(number, "message:channel")
    service = _topic_event(number, chat_id, message)
    if service is not None:
        return service
    files = _files(message)
    text = str(message.get("text") or message.get("caption") or "")
    other = next((key for key in _CONTENT_WE_CAN_NOT_TAKE if key in message), "")
    if not (files or text or other):
        return UnknownUpdate(number, f"message:{_service_name(message)}")
    return IncomingMessage(
        update_id=number,
        place=_place(chat_id, message),
        message_id=int(message["message_id"]),
        sender=_sender(message),
        date=float(message.get("date", 0)),
        text=text,
        reply_to=_reply(message),
        files=files,
        album_id=str(message.get("media_group_id") or ""),
        other=other,
        is_edit=is_edit,
    )


def _edited(number: int, message: Json) -> Inbound:
    return _message(number, message, is_edit=True)


def _move(number: int, chat_id: int, message: Json) -> ChatMoved | None:
    """Telegram tells an upgrade in both chats, each from its own side."""
    if "migrate_to_chat_id" in message:
        return ChatMoved(number, chat_id, int(message["migrate_to_chat_id"]))
    if "migrate_from_chat_id" in message:
        return ChatMoved(number, int(message["migrate_from_chat_id"]), chat_id)
    return None


def _place(chat_id: int, message: Json) -> Place:
    """Outside forums a reply chain has a thread id too; only ``is_topic_message`` says that it is a topic."""
    topic_id = message.get("message_thread_id") if message.get("is_topic_message") is True else None
    return Place(chat_id, int(topic_id) if topic_id is not None else None)


def _sender(message: Json) -> Person:
    account: Json = message["from"]
    hidden = message.get("sender_chat")
    user_id = int(account["id"])
    if hidden is not None or user_id == ANONYMOUS_ADMINISTRATOR:
        shown = hidden or account
        return Person(
            id=int(shown.get("id", user_id)), name=str(shown.get("title") or ""), is_bot=False, is_anonymous=True
        )
    return _person(account)


def _person(account: Json) -> Person:
    name = " ".join(str(account[key]) for key in ("first_name", "last_name") if account.get(key))
    return Person(
        id=int(account["id"]),
        name=name or str(account.get("username") or ""),
        is_bot=account.get("is_bot") is True,
        is_anonymous=int(account["id"]) == ANONYMOUS_ADMINISTRATOR,
    )


def _reply(message: Json) -> int | None:
    """Every plain message in a topic "replies" to the message that created the topic; a person did not do that."""
    target = message.get("reply_to_message")
    if not isinstance(target, Mapping):
        return None
    replied = int(target["message_id"])
    is_implicit = "forum_topic_created" in target or (
        message.get("is_topic_message") is True and replied == message.get("message_thread_id")
    )
    return None if is_implicit else replied


def _files(message: Json) -> tuple[IncomingFile, ...]:
    sizes = message.get("photo")
    if isinstance(sizes, Sequence) and sizes:
        largest: Json = max(sizes, key=lambda size: int(size.get("width", 0)) * int(size.get("height", 0)))
        return (
            IncomingFile(
                FileKind.PHOTO,
                str(largest["file_id"]),
                name="photo.jpg",
                media_type="image/jpeg",
                size=int(largest.get("file_size") or 0),
            ),
        )
    for key, kind in _FILES:
        found = message.get(key)
        if isinstance(found, Mapping):
            return (
                IncomingFile(
                    kind,
                    str(found["file_id"]),
                    name=str(found.get("file_name") or ""),
                    media_type=str(found.get("mime_type") or ""),
                    size=int(found.get("file_size") or 0),
                ),
            )
    return ()


def _topic_event(number: int, chat_id: int, message: Json) -> Inbound | None:
    thread = message.get("message_thread_id")
    place = Place(chat_id, int(thread) if thread is not None else None)
    if "forum_topic_created" in message:
        name = str(message["forum_topic_created"].get("name") or "")
        return TopicEvent(number, place, _sender(message), TopicChange.CREATED, name)
    if "forum_topic_edited" in message:
        name = str(message["forum_topic_edited"].get("name") or "")
        if not name:
            return UnknownUpdate(number, "message:forum_topic_icon")
        return TopicEvent(number, place, _sender(message), TopicChange.RENAMED, name)
    if "forum_topic_closed" in message:
        return TopicEvent(number, place, _sender(message), TopicChange.CLOSED)
    if "forum_topic_reopened" in message:
        return TopicEvent(number, place, _sender(message), TopicChange.REOPENED)
    return None


_FRAME_OF_A_MESSAGE = frozenset(
    {
        "message_id",
        "message_thread_id",
        "is_topic_message",
        "from",
        "sender_chat",
        "sender_boost_count",
        "sender_business_bot",
        "date",
        "chat",
        "business_connection_id",
        "forward_origin",
        "is_automatic_forward",
        "reply_to_message",
        "external_reply",
        "quote",
        "reply_to_story",
        "via_bot",
        "edit_date",
        "has_protected_content",
        "is_from_offline",
        "is_paid_post",
        "media_group_id",
        "author_signature",
        "entities",
        "link_preview_options",
        "effect_id",
        "caption_entities",
        "reply_markup",
    }
)


def _service_name(message: Json) -> str:
    return next((key for key in message if key not in _FRAME_OF_A_MESSAGE), "empty")


def _press(number: int, query: Json) -> Inbound:
    message = query.get("message")
    if not isinstance(message, Mapping):
        return UnknownUpdate(number, "callback_query:inline")
    chat: Json = message["chat"]
    topic_id = message.get("message_thread_id")
    is_in_topic = message.get("is_topic_message") is True or chat.get("is_forum") is True
    return ButtonPress(
        update_id=number,
        place=Place(int(chat["id"]), int(topic_id) if is_in_topic and topic_id is not None else None),
        message_id=int(message["message_id"]),
        sender=_person(query["from"]),
        press_id=str(query["id"]),
        data=str(query.get("data") or ""),
    )


def _reaction(number: int, change: Json) -> Inbound:
    user, actor = change.get("user"), change.get("actor_chat")
    if isinstance(user, Mapping):
        sender = _person(user)
    else:
        sender = Person(id=int(cast("Json", actor)["id"]), is_anonymous=True)
    before = set(_emoji(change.get("old_reaction")))
    return ReactionChange(
        update_id=number,
        chat_id=int(change["chat"]["id"]),
        message_id=int(change["message_id"]),
        sender=sender,
        added=tuple(emoji for emoji in _emoji(change.get("new_reaction")) if emoji not in before),
    )


def _emoji(reactions: object) -> list[str]:
    found = reactions if isinstance(reactions, Sequence) else []
    return [str(item["emoji"]) for item in found if isinstance(item, Mapping) and item.get("type") == "emoji"]


def _membership(number: int, change: Json) -> Inbound:
    member: Json = change["new_chat_member"]
    status = member.get("status")
    return BotMembership(
        update_id=number,
        chat_id=int(change["chat"]["id"]),
        is_member=status in ("creator", "administrator", "member")
        or (status == "restricted" and member.get("is_member") is True),
        can_manage_topics=status == "creator" or member.get("can_manage_topics") is True,
    )


_READERS: Mapping[str, Callable[[int, Json], Inbound]] = {
    "message": _message,
    "edited_message": _edited,
    "callback_query": _press,
    "message_reaction": _reaction,
    "my_chat_member": _membership,
}
