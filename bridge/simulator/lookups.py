"""Methods that look things up or set the bot itself: who am I, who is in a chat, commands, files, webhook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.simulator import wire
from bridge.simulator.access import chat_of
from bridge.simulator.calls import Call
from bridge.simulator.errors import bad_request
from bridge.simulator.feed import Kind
from bridge.simulator.world import World

COMMAND_LIMIT = 100


class Lookups:
    """Handlers by method name in ``table``."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.table: dict[str, Callable[[Call], Any]] = {
            "getme": self.me,
            "getchat": self.chat,
            "getchatmember": self.member,
            "getchatadministrators": self.administrators,
            "getchatmembercount": self.member_count,
            "leavechat": self.leave,
            "getfile": self.file,
            "answercallbackquery": self.answer,
            "setmycommands": self.set_commands,
            "getmycommands": self.get_commands,
            "deletemycommands": self.delete_commands,
            "deletewebhook": self.delete_webhook,
            "getwebhookinfo": self.webhook,
        }

    async def me(self, call: Call) -> wire.Json:
        world = self._world
        reads_all = not any(chat.rights.privacy for chat in world.chats.values() if chat.kind != "private")
        return wire.user(world.bot) | {
            "can_join_groups": True,
            "can_read_all_group_messages": reads_all,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
            "has_topics_enabled": False,
            "allows_users_to_create_topics": False,
        }

    async def chat(self, call: Call) -> wire.Json:
        chat = chat_of(self._world, call)
        body = wire.chat(chat) | {"accent_color_id": 0, "max_reaction_count": 11}
        gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
        body["accepted_gift_types"] = dict.fromkeys(gifts, False)
        if chat.kind != "private":
            rights = ("can_send_messages", "can_send_documents", "can_send_photos", "can_pin_messages")
            body["permissions"] = dict.fromkeys(rights, True) | {"can_manage_topics": False}
        return body

    async def member(self, call: Call) -> wire.Json:
        chat = chat_of(self._world, call)
        user_id = call.integer("user_id")
        if user_id == self._world.bot.id:
            return wire.bot_member(self._world.bot, chat)
        account = self._world.accounts.get(user_id)
        if account is None:
            raise bad_request("PARTICIPANT_ID_INVALID")
        return wire.member(account, chat)

    async def administrators(self, call: Call) -> list[wire.Json]:
        chat = chat_of(self._world, call)
        if chat.kind == "private":
            raise bad_request("there are no administrators in the private chat")
        found = [wire.member(chat.members[user_id], chat) for user_id in sorted(chat.admins)]
        return found + ([wire.bot_member(self._world.bot, chat)] if chat.rights.is_admin else [])

    async def member_count(self, call: Call) -> int:
        chat = chat_of(self._world, call)
        return len(chat.members) + 1

    async def leave(self, call: Call) -> bool:
        chat = chat_of(self._world, call)
        self._world.change_rights(chat, self._world.bot, is_member=False, is_admin=False)
        return True

    async def file(self, call: Call) -> wire.Json:
        stored = self._world.files.to_download(call.text("file_id"))
        media = stored.media
        return {
            "file_id": media.file_id,
            "file_unique_id": media.unique_id,
            "file_size": media.size,
            "file_path": stored.path,
        }

    async def answer(self, call: Call) -> bool:
        text = call.text("text")
        if len(text) > 200:
            raise bad_request("MESSAGE_TOO_LONG")
        self._world.answer_press(call.text("callback_query_id"), text, is_alert=call.flag("show_alert"))
        return True

    def _scope(self, call: Call) -> tuple[str, str]:
        scope = call.json("scope") or {"type": "default"}
        return "/".join(str(scope[key]) for key in sorted(scope, reverse=True)), call.text("language_code")

    async def set_commands(self, call: Call) -> bool:
        commands = call.json("commands")
        if not isinstance(commands, list) or len(commands) > COMMAND_LIMIT:
            raise bad_request("BOT_COMMANDS_TOO_MUCH")
        kept = [{"command": str(c.get("command", "")), "description": str(c.get("description", ""))} for c in commands]
        for item in kept:
            name = item["command"].removeprefix("/")
            if not 1 <= len(name) <= 32 or name != name.lower() or not name.replace("_", "").isalnum():
                raise bad_request("BOT_COMMAND_INVALID")
            if not 1 <= len(item["description"]) <= 256:
                raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
            item["command"] = name
        self._world.commands[self._scope(call)] = kept
        self._world.feed.publish(Kind.COMMANDS, 0, kept)
        return True

    async def get_commands(self, call: Call) -> list[dict[str, str]]:
        return self._world.commands.get(self._scope(call), [])

    async def delete_commands(self, call: Call) -> bool:
        self._world.commands.pop(self._scope(call), None)
        self._world.feed.publish(Kind.COMMANDS, 0, [])
        return True

    async def delete_webhook(self, call: Call) -> bool:
        if call.flag("drop_pending_updates"):
            self._world.updates.clear()
        return True

    async def webhook(self, call: Call) -> wire.Json:
        return {"url": "", "has_custom_certificate": False, "pending_update_count": len(self._world.updates)}
