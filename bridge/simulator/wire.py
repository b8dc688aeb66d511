"""State as the Bot API shows it: the JSON shapes of users, chats, messages and updates."""

from __future__ import annotations

from typing import Any

from bridge.simulator.chats import ANONYMOUS, Account, Chat, Entity, Key, Keyboard, Media, Post

Json = dict[str, Any]
RIGHTS = ("can_manage_topics", "can_delete_messages", "can_pin_messages")
OTHER_RIGHTS = (
    "can_be_edited",
    "can_manage_chat",
    "can_change_info",
    "can_invite_users",
    "can_restrict_members",
    "can_promote_members",
    "can_manage_video_chats",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
)


def user(account: Account) -> Json:
    body: Json = {"id": account.id, "is_bot": account.is_bot, "first_name": account.name}
    if account.username:
        body["username"] = account.username
    if not account.is_bot:
        body["language_code"] = account.language
    return body


def chat(value: Chat) -> Json:
    if value.kind == "private":
        return {"id": value.id, "type": "private", "first_name": value.title}
    body: Json = {"id": value.id, "type": value.kind, "title": value.title}
    if value.is_forum:
        body["is_forum"] = True
    return body


def entity(value: Entity) -> Json:
    body: Json = {"type": value.type, "offset": value.offset, "length": value.length}
    for key, item in value.extra:
        if key == "user_id":
            body["user"] = {"id": item, "is_bot": False, "first_name": "User"}
        else:
            body[key] = item
    return body


def button(key: Key) -> Json:
    body: Json = {"text": key.label}
    if key.url:
        body["url"] = key.url
    elif key.copy:
        body["copy_text"] = {"text": key.copy}
    else:
        body["callback_data"] = key.data
    if key.style:
        body["style"] = key.style
    return body


def markup(keyboard: Keyboard) -> Json:
    return {"inline_keyboard": [[button(key) for key in row] for row in keyboard]}


def media(value: Media) -> Any:
    """The value of the field named by the media's kind."""
    common: Json = {"file_id": value.file_id, "file_unique_id": value.unique_id, "file_size": value.size}
    if value.kind == "photo":
        return [{**common, "width": value.width, "height": value.height}]
    if value.kind == "voice":
        return {**common, "duration": 1, "mime_type": value.media_type}
    common |= {"file_name": value.name, "mime_type": value.media_type}
    if value.kind == "audio":
        return {**common, "duration": 1}
    if value.kind in {"video", "animation"}:
        return {**common, "duration": 1, "width": value.width or 320, "height": value.height or 240}
    return common


def message(value: Post, where: Chat, *, with_reply: bool = True) -> Json:
    """A message as sent in answers and updates; a reply is shown one level deep."""
    body: Json = {"message_id": value.id, "date": int(value.date), "chat": chat(where)}
    if value.is_anonymous:
        body["from"] = user(ANONYMOUS)
        body["sender_chat"] = chat(where)
    else:
        body["from"] = user(value.sender)
    if value.topic_id is not None:
        body["message_thread_id"] = value.topic_id
        body["is_topic_message"] = True
    if value.edit_date:
        body["edit_date"] = int(value.edit_date)
    if value.service is not None:
        field, content = value.service
        return {**body, field: dict(content) if isinstance(content, dict) else content}
    _content(value, body)
    if with_reply:
        _reply(value, where, body)
    if value.keyboard:
        body["reply_markup"] = markup(value.keyboard)
    return body


def _content(value: Post, body: Json) -> None:
    entities = [entity(item) for item in value.entities]
    if value.media is None:
        if value.other:
            body[value.other] = OTHER[value.other]
            return
        body["text"] = value.text
        if entities:
            body["entities"] = entities
        return
    body[value.media.kind] = media(value.media)
    if value.media.kind == "animation":
        body["document"] = media(value.media)
    if value.text:
        body["caption"] = value.text
    if entities:
        body["caption_entities"] = entities
    if value.album_id:
        body["media_group_id"] = value.album_id


OTHER: dict[str, Json] = {
    "location": {"latitude": 52.37, "longitude": 4.9},
    "contact": {"phone_number": "+100000000", "first_name": "Somebody"},
    "dice": {"emoji": "🎲", "value": 4},
}
"""Contents that a hub cannot take, to see that it says so."""


def _reply(value: Post, where: Chat, body: Json) -> None:
    """A person's reply, or else the implicit one of a forum topic to the message that created it."""
    target = where.post(value.reply_to) if value.reply_to is not None else None
    if target is None and where.is_forum and value.topic_id is not None and value.id != value.topic_id:
        target = where.post(value.topic_id)
    if target is not None:
        body["reply_to_message"] = message(target, where, with_reply=False)


def bot_member(bot: Account, where: Chat) -> Json:
    """The bot's own ChatMember."""
    rights = where.rights
    if rights.was_kicked:
        return {"user": user(bot), "status": "kicked", "until_date": 0}
    if not rights.is_member:
        return {"user": user(bot), "status": "left"}
    if not rights.is_admin or where.kind == "private":
        return {"user": user(bot), "status": "member"}
    held: Json = {"user": user(bot), "status": "administrator", "is_anonymous": False}
    held |= dict.fromkeys(OTHER_RIGHTS, False) | {"can_manage_chat": True, "can_invite_users": True}
    return held | {name: getattr(rights, name) for name in RIGHTS}


def member(account: Account, where: Chat) -> Json:
    """A person's ChatMember."""
    if account.id not in where.members:
        return {"user": user(account), "status": "left"}
    if account.id == where.owner_id:
        return {"user": user(account), "status": "creator", "is_anonymous": False}
    if account.id in where.admins:
        held: Json = {"user": user(account), "status": "administrator", "is_anonymous": False}
        return held | dict.fromkeys((*OTHER_RIGHTS, *RIGHTS), True)
    return {"user": user(account), "status": "member"}


def reactions(emoji: tuple[str, ...]) -> list[Json]:
    return [{"type": "emoji", "emoji": item} for item in emoji]
