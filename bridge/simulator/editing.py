"""Methods that change what was sent: edits, deletion, pins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.simulator import wire
from bridge.simulator.access import chat_of, post_of
from bridge.simulator.calls import Call
from bridge.simulator.chats import Chat, Post
from bridge.simulator.errors import (
    DELETE_FORBIDDEN,
    DELETE_NOT_FOUND,
    EDIT_FORBIDDEN,
    EDIT_NO_CAPTION,
    EDIT_NO_TEXT,
    EDIT_NOT_FOUND,
    NOT_MODIFIED,
    PIN_NOT_FOUND,
    bad_request,
)
from bridge.simulator.keyboards import read_keyboard
from bridge.simulator.texts import judge_text
from bridge.simulator.world import World


class Editing:
    """Handlers by method name in ``table``. An edit without a keyboard takes the keyboard away."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.table: dict[str, Callable[[Call], Any]] = {
            "editmessagetext": self.text,
            "editmessagecaption": self.caption,
            "editmessagereplymarkup": self.markup,
            "deletemessage": self.delete,
            "deletemessages": self.delete_many,
            "pinchatmessage": self.pin,
            "unpinchatmessage": self.unpin,
        }

    def _own_post(self, chat: Chat, call: Call) -> Post:
        post = post_of(chat, call, EDIT_NOT_FOUND)
        if post.sender.id != self._world.bot.id or post.service is not None:
            raise bad_request(EDIT_FORBIDDEN)
        return post

    async def text(self, call: Call) -> wire.Json:
        chat = chat_of(self._world, call)
        sent = judge_text(self._world.judge, call.text("text"), call.text("parse_mode"), call.json("entities"))
        post = self._own_post(chat, call)
        if post.media is not None:
            raise bad_request(EDIT_NO_TEXT)
        return await self._change(chat, call, post, (sent.text, sent.entities))

    async def caption(self, call: Call) -> wire.Json:
        chat = chat_of(self._world, call)
        text, mode = call.text("caption"), call.text("parse_mode")
        sent = judge_text(self._world.judge, text, mode, call.json("caption_entities"), is_caption=True)
        post = self._own_post(chat, call)
        if post.media is None:
            raise bad_request(EDIT_NO_CAPTION)
        return await self._change(chat, call, post, (sent.text, sent.entities))

    async def markup(self, call: Call) -> wire.Json:
        chat = chat_of(self._world, call)
        post = self._own_post(chat, call)
        return await self._change(chat, call, post, (post.text, post.entities))

    async def _change(self, chat: Chat, call: Call, post: Post, content: tuple[str, Any]) -> wire.Json:
        keyboard = read_keyboard(call.json("reply_markup"))
        await self._world.flood.pay(chat.id)
        if post.is_deleted:
            raise bad_request(EDIT_NOT_FOUND)
        if (post.text, post.entities, post.keyboard) == (*content, keyboard):
            raise bad_request(NOT_MODIFIED)
        post.text, post.entities = content
        post.keyboard = keyboard
        self._world.edit_post(post)
        return wire.message(post, chat)

    def _delete(self, chat: Chat, post: Post) -> None:
        """Own messages under two days, others' with the right; never a topic's creation."""
        is_own = post.sender.id == self._world.bot.id
        is_old = self._world.clock.now() - post.date > self._world.limits.delete_age
        may = chat.rights.may("can_delete_messages")
        if post.is_topic_creation or (not may and (not is_own or is_old)):
            raise bad_request(DELETE_FORBIDDEN)
        self._world.delete_post(post)

    async def delete(self, call: Call) -> bool:
        chat = chat_of(self._world, call)
        self._delete(chat, post_of(chat, call, DELETE_NOT_FOUND))
        return True

    async def delete_many(self, call: Call) -> bool:
        """Messages that are not there are passed over."""
        chat = chat_of(self._world, call)
        wanted = call.json("message_ids") or []
        for post in [post for item in wanted if (post := chat.post(int(item)))]:
            self._delete(chat, post)
        return True

    async def pin(self, call: Call) -> bool:
        chat = chat_of(self._world, call)
        if chat.kind != "private" and not chat.rights.may("can_pin_messages"):
            raise bad_request("not enough rights to manage pinned messages in the chat")
        post = post_of(chat, call, PIN_NOT_FOUND)
        await self._world.flood.pay(chat.id)
        if post.id not in chat.pinned:
            chat.pinned.append(post.id)
            pinned = wire.message(post, chat, with_reply=False)
            notice = self._world.new_post(chat, self._world.bot, post.topic_id, ("pinned_message", pinned))
            notice.is_silent = call.flag("disable_notification")
            self._world.add_post(notice)
        return True

    async def unpin(self, call: Call) -> bool:
        chat = chat_of(self._world, call)
        message_id = call.integer("message_id", chat.pinned[-1] if chat.pinned else 0)
        if message_id in chat.pinned:
            chat.pinned.remove(message_id)
        return True
