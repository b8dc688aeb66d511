"""Finds the chat, topic and message that a call speaks of, and refuses as Telegram does when it may not."""

from __future__ import annotations

from bridge.simulator.calls import Call
from bridge.simulator.chats import GENERAL, Chat, Post, Topic
from bridge.simulator.errors import (
    BLOCKED,
    CANNOT_INITIATE,
    CHAT_NOT_FOUND,
    KICKED,
    MAY_NOT_SEND_DOCUMENT,
    MAY_NOT_SEND_PHOTO,
    MAY_NOT_SEND_TEXT,
    NOT_FORUM,
    NOT_MEMBER,
    REPLY_NOT_FOUND,
    THREAD_NOT_FOUND,
    TOPIC_CLOSED,
    TOPIC_DELETED,
    bad_request,
    forbidden,
    migrated,
)
from bridge.simulator.world import World

REFUSALS = {
    "text": ("can_send_text", MAY_NOT_SEND_TEXT),
    "photo": ("can_send_photos", MAY_NOT_SEND_PHOTO),
}
DOCUMENT_REFUSAL = ("can_send_documents", MAY_NOT_SEND_DOCUMENT)


def chat_of(world: World, call: Call) -> Chat:
    """The chat, if the bot is in it."""
    chat = world.chats.get(call.integer("chat_id"))
    if chat is None:
        raise bad_request(CHAT_NOT_FOUND)
    if chat.migrated_to is not None:
        raise migrated(chat.migrated_to)
    if chat.kind == "private":
        if chat.rights.was_kicked:
            raise forbidden(BLOCKED)
        if not chat.is_started:
            raise forbidden(CANNOT_INITIATE)
    elif chat.rights.was_kicked:
        raise forbidden(KICKED)
    elif not chat.rights.is_member:
        raise forbidden(NOT_MEMBER)
    return chat


def thread_of(chat: Chat, call: Call) -> int | None:
    """The topic to send into; None is General. Outside forums the parameter is dropped silently."""
    if not chat.is_forum or not call.has("message_thread_id"):
        return None
    thread = call.integer("message_thread_id")
    if thread == 0:
        return None
    topic = chat.topics.get(thread)
    if thread == GENERAL or topic is None or topic.is_deleted:
        raise bad_request(THREAD_NOT_FOUND)
    return thread


def may_send(world: World, chat: Chat, thread: int | None, kind: str) -> None:
    """Refuse without the right, or into a closed topic unless the bot may manage topics or made it."""
    right, text = REFUSALS.get(kind, DOCUMENT_REFUSAL)
    if not getattr(chat.rights, right):
        raise bad_request(text)
    topic = chat.topics.get(thread) if thread is not None else None
    is_closed = topic.is_closed if topic is not None else chat.is_general_closed and chat.is_forum
    is_own = topic is not None and topic.creator_id == world.bot.id
    if is_closed and not chat.rights.may("can_manage_topics") and not is_own:
        raise bad_request(TOPIC_CLOSED)


def place_of(chat: Chat, call: Call) -> tuple[int | None, int | None]:
    """Topic and reply target of a send. A reply without a topic goes into the topic of what it replies to."""
    thread = thread_of(chat, call)
    parameters = call.json("reply_parameters")
    if isinstance(parameters, dict):
        message_id, is_optional = parameters.get("message_id", 0), parameters.get("allow_sending_without_reply", False)
    else:
        message_id, is_optional = call.integer("reply_to_message_id"), call.flag("allow_sending_without_reply")
    if not message_id:
        return thread, None
    post = chat.post(int(message_id))
    if post is not None and thread is None and chat.is_forum:
        thread = post.topic_id
    if post is None or post.topic_id != thread:
        if is_optional:
            return thread, None
        raise bad_request(REPLY_NOT_FOUND)
    return thread, post.id


def topic_of(chat: Chat, call: Call) -> Topic:
    """The topic of a forum method."""
    if not chat.is_forum:
        raise bad_request(NOT_FORUM)
    topic = chat.topics.get(call.integer("message_thread_id"))
    if topic is None:
        raise bad_request(THREAD_NOT_FOUND)
    if topic.is_deleted:
        raise bad_request(TOPIC_DELETED)
    return topic


def post_of(chat: Chat, call: Call, refusal: str) -> Post:
    """The message named by message_id."""
    post = chat.post(call.integer("message_id"))
    if post is None:
        raise bad_request(refusal)
    return post
