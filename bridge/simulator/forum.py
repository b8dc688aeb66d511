"""Methods for topics: create, rename, close, reopen, delete, and the same for General."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.simulator import wire
from bridge.simulator.access import chat_of, topic_of
from bridge.simulator.calls import Call
from bridge.simulator.chats import TOPIC_COLORS, Chat, Topic
from bridge.simulator.errors import (
    MAY_NOT_CLOSE_TOPIC,
    MAY_NOT_CREATE_TOPIC,
    MAY_NOT_DELETE_TOPIC,
    MAY_NOT_EDIT_TOPIC,
    NOT_FORUM,
    TOPIC_ICON_COLOR,
    TOPIC_NAME_EMPTY,
    TOPIC_NOT_MODIFIED,
    bad_request,
)
from bridge.simulator.world import World

NAME_LIMIT = 128
"""A longer name is cut without an error."""

ICONS = (
    "📰",
    "💡",
    "⚡️",
    "🎙",
    "🔝",
    "🗣",
    "🆒",
    "❗️",
    "📝",
    "📆",
    "📁",
    "🔎",
    "📣",
    "🔥",
    "❤️",
    "❓",
    "✅",
    "🤖",
    "💻",
    "🛠",
)


def clean_name(name: str) -> str:
    """A topic's name as the server keeps it; raises 400 when nothing is left."""
    name = " ".join(name.split())[:NAME_LIMIT].strip()
    if not name:
        raise bad_request(TOPIC_NAME_EMPTY)
    return name


class Forum:
    """Handlers by method name in ``table``."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.table: dict[str, Callable[[Call], Any]] = {
            "createforumtopic": self.create,
            "editforumtopic": self.edit,
            "closeforumtopic": self.close,
            "reopenforumtopic": self.reopen,
            "deleteforumtopic": self.delete,
            "editgeneralforumtopic": self.edit_general,
            "closegeneralforumtopic": self.close_general,
            "reopengeneralforumtopic": self.reopen_general,
            "hidegeneralforumtopic": self.hide_general,
            "unhidegeneralforumtopic": self.unhide_general,
            "getforumtopiciconstickers": self.icons,
        }

    def _forum(self, call: Call, refusal: str, right: str = "can_manage_topics") -> Chat:
        chat = chat_of(self._world, call)
        if not chat.is_forum:
            raise bad_request(NOT_FORUM)
        if not chat.rights.may(right):
            raise bad_request(refusal)
        return chat

    def _topic(self, call: Call, refusal: str, right: str = "can_manage_topics") -> tuple[Chat, Topic]:
        """The topic, if the bot has the right or made it itself."""
        chat = chat_of(self._world, call)
        topic = topic_of(chat, call)
        if not chat.rights.may(right) and topic.creator_id != self._world.bot.id:
            raise bad_request(refusal)
        return chat, topic

    async def create(self, call: Call) -> wire.Json:
        chat = self._forum(call, MAY_NOT_CREATE_TOPIC)
        name = clean_name(call.text("name"))
        color = call.integer("icon_color")
        if color and color not in TOPIC_COLORS:
            raise bad_request(TOPIC_ICON_COLOR)
        await self._world.flood.pay(chat.id)
        icon = call.text("icon_custom_emoji_id")
        topic = self._world.create_topic(chat, self._world.bot, name, color, icon)
        body: wire.Json = {"message_thread_id": topic.id, "name": topic.name, "icon_color": topic.color}
        return body | ({"icon_custom_emoji_id": topic.icon} if topic.icon else {})

    async def edit(self, call: Call) -> bool:
        chat, topic = self._topic(call, MAY_NOT_EDIT_TOPIC)
        has_icon = call.has("icon_custom_emoji_id")
        if not call.text("name") and not has_icon:
            return True
        name = clean_name(call.text("name")) if call.text("name") else None
        icon = call.text("icon_custom_emoji_id") if has_icon else None
        if name in {None, topic.name} and icon in {None, topic.icon}:
            raise bad_request(TOPIC_NOT_MODIFIED)
        self._world.edit_topic(chat, topic, self._world.bot, name, icon)
        return True

    def _set_closed(self, call: Call, *, is_closed: bool) -> bool:
        chat, topic = self._topic(call, MAY_NOT_CLOSE_TOPIC)
        if topic.is_closed == is_closed:
            raise bad_request(TOPIC_NOT_MODIFIED)
        self._world.close_topic(chat, topic, self._world.bot, is_closed=is_closed)
        return True

    async def close(self, call: Call) -> bool:
        return self._set_closed(call, is_closed=True)

    async def reopen(self, call: Call) -> bool:
        return self._set_closed(call, is_closed=False)

    async def delete(self, call: Call) -> bool:
        chat, topic = self._topic(call, MAY_NOT_DELETE_TOPIC, "can_delete_messages")
        self._world.delete_topic(chat, topic)
        return True

    async def edit_general(self, call: Call) -> bool:
        chat = self._forum(call, MAY_NOT_EDIT_TOPIC)
        name = clean_name(call.text("name"))
        if name == chat.general_name:
            raise bad_request(TOPIC_NOT_MODIFIED)
        chat.general_name = name
        self._world.general_changed(chat, self._world.bot, "forum_topic_edited", {"name": name})
        return True

    def _general(self, call: Call, switch: str, value: bool, field: str) -> bool:
        chat = self._forum(call, MAY_NOT_CLOSE_TOPIC)
        if getattr(chat, switch) == value:
            raise bad_request(TOPIC_NOT_MODIFIED)
        setattr(chat, switch, value)
        self._world.general_changed(chat, self._world.bot, field)
        return True

    async def close_general(self, call: Call) -> bool:
        return self._general(call, "is_general_closed", True, "forum_topic_closed")

    async def reopen_general(self, call: Call) -> bool:
        return self._general(call, "is_general_closed", False, "forum_topic_reopened")

    async def hide_general(self, call: Call) -> bool:
        return self._general(call, "is_general_hidden", True, "general_forum_topic_hidden")

    async def unhide_general(self, call: Call) -> bool:
        return self._general(call, "is_general_hidden", False, "general_forum_topic_unhidden")

    async def icons(self, call: Call) -> list[wire.Json]:
        return [
            {
                "file_id": f"CAACAgIAAx{number:08d}",
                "file_unique_id": f"AgAD{number:08d}",
                "type": "custom_emoji",
                "width": 100,
                "height": 100,
                "is_animated": False,
                "is_video": False,
                "emoji": emoji,
                "custom_emoji_id": str(5_312_536_423_851_630_000 + number),
            }
            for number, emoji in enumerate(ICONS)
        ]
