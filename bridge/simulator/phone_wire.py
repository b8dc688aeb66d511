"""The JSON the phone page reads: messages, topics and calls as a person sees them. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.simulator import wire
from bridge.simulator.api import LoggedCall
from bridge.simulator.chats import Account, Chat, Post, Topic
from bridge.simulator.feed import Happening, Kind
from bridge.simulator.world import Typing, World

Json = dict[str, Any]
PREVIEW = 120


def person(account: Account) -> Json:
    return {"id": account.id, "name": account.name, "bot": account.is_bot}


def file(post: Post) -> Json | None:
    media = post.media
    if media is None:
        return None
    return {
        "id": media.file_id,
        "kind": media.kind,
        "name": media.name,
        "type": media.media_type,
        "size": media.size,
        "width": media.width,
        "height": media.height,
    }


def reactions(post: Post) -> list[Json]:
    """Each emoji once, with everybody who gave it."""
    given: dict[str, list[int]] = {}
    for user_id, emoji in post.reactions.items():
        for item in emoji:
            given.setdefault(item, []).append(user_id)
    return [{"emoji": emoji, "by": by} for emoji, by in given.items()]


def reply(post: Post, chat: Chat) -> Json | None:
    """What a reply shows of its target."""
    if post.reply_to is None:
        return None
    target = chat.post(post.reply_to)
    if target is None:
        return {"id": post.reply_to, "name": "", "text": ""}
    return {"id": target.id, "name": target.sender.name, "text": preview(target)}


def preview(post: Post) -> str:
    """One line of a message for lists."""
    text = " ".join(post.text.split())
    return text[:PREVIEW] or (post.media.name if post.media is not None else post.other)


def service(post: Post) -> Json | None:
    if post.service is None:
        return None
    kind, content = post.service
    name = content.get("name", "") if isinstance(content, dict) else ""
    return {"kind": kind, "name": name}


def message(post: Post, chat: Chat) -> Json:
    return {
        "id": post.id,
        "topic": post.topic_id or 0,
        "from": person(post.sender),
        "anonymous": post.is_anonymous,
        "date": post.date,
        "text": post.text,
        "entities": [wire.entity(item) for item in post.entities],
        "file": file(post),
        "other": post.other,
        "album": post.album_id,
        "reply": reply(post, chat),
        "keyboard": [[wire.button(key) for key in row] for row in post.keyboard],
        "edited": post.edits > 0,
        "silent": post.is_silent,
        "service": service(post),
        "reactions": reactions(post),
    }


def topic(value: Topic) -> Json:
    color = f"#{value.color:06x}"
    return {"id": value.id, "name": value.name, "color": color, "closed": value.is_closed, "deleted": value.is_deleted}


def general(chat: Chat) -> Json:
    return {"id": 0, "name": chat.general_name, "color": "#8e8e93", "closed": chat.is_general_closed, "deleted": False}


def call(value: LoggedCall) -> Json:
    return {
        "method": value.method,
        "topic": value.topic_id,
        "at": value.at,
        "ms": round(value.seconds * 1000),
        "code": value.code,
        "note": value.note or value.summary,
    }


def budget(world: World, chat: Chat) -> Json:
    """How much of the minute is spent, and the seconds of a penalty."""
    return {
        "used": world.flood.used(chat.id),
        "limit": world.flood.budget(chat.id).window.calls,
        "seconds": world.limits.window,
        "penalty": round(world.flood.penalty_left(chat.id)),
    }


def _gone(subject: Post, chat: Chat) -> Json:
    """A deleted message: whose it was, and which one is the topic's last now."""
    left = list(chat.posts_of(subject.topic_id))
    last = message(left[-1], chat) if left else None
    return {"id": subject.id, "topic": subject.topic_id or 0, "from": subject.sender.id, "last": last}


def _typing(subject: Typing, world: World, chat: Chat) -> Json:
    left = max(0.0, subject.until - world.clock.now())
    return {"topic": subject.topic_id or 0, "action": subject.action, "seconds": left}


_VIEWS: dict[type, Callable[[Any, World, Chat], Json]] = {
    Post: lambda subject, world, chat: message(subject, chat),
    Typing: _typing,
    Topic: lambda subject, world, chat: topic(subject),
    Chat: lambda subject, world, chat: general(subject),
}


def happening(world: World, chat: Chat, what: Happening) -> Json | None:
    """An event of the stream, None when it does not concern the page."""
    if isinstance(what.subject, LoggedCall):
        return call(what.subject)
    if what.chat_id not in {0, chat.id}:
        return None
    if isinstance(what.subject, Post):
        if what.kind is Kind.DELETE:
            return _gone(what.subject, chat)
        if what.subject.is_deleted:
            return None  # it came and went before it was told of
    view = _VIEWS.get(type(what.subject))
    return view(what.subject, world, chat) if view is not None else {"value": what.subject}
