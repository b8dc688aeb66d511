"""Methods that put messages into a chat: texts, files, albums, typing, reactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bridge.simulator import wire
from bridge.simulator.access import chat_of, may_send, place_of, post_of
from bridge.simulator.calls import Call
from bridge.simulator.chats import Chat, Media, Post
from bridge.simulator.entities import SentText
from bridge.simulator.errors import REACT_NOT_FOUND, bad_request
from bridge.simulator.files import FOLDERS
from bridge.simulator.keyboards import read_keyboard
from bridge.simulator.texts import judge_text
from bridge.simulator.world import World

ACTIONS = frozenset(
    {
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
    }
)
_OFFERED = (
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 "
    "🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 "
    "🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡 "
)
REACTIONS = frozenset(_OFFERED.split())
"""The emoji Telegram offers as free reactions (Bot API: ReactionTypeEmoji); others are refused."""


class Sending:
    """Handlers by method name in ``table``."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.table = {
            "sendmessage": self.message,
            "sendmediagroup": self.album,
            "sendchataction": self.chat_action,
            "setmessagereaction": self.reaction,
            **{f"send{kind}": self.file for kind in FOLDERS},
        }

    def caption(self, source: Any) -> SentText:
        """A caption of a call or of an album's item."""
        read = source if isinstance(source, Call) else Call("", source)
        entities = read.json("caption_entities")
        text, mode = read.text("caption"), read.text("parse_mode")
        return judge_text(self._world.judge, text, mode, entities, is_caption=True)

    async def message(self, call: Call) -> wire.Json:
        world = self._world
        chat = chat_of(world, call)
        sent = judge_text(world.judge, call.text("text"), call.text("parse_mode"), call.json("entities"))
        post = await self._post(chat, call, "text", sent)
        return wire.message(world.add_post(post), chat)

    async def file(self, call: Call) -> wire.Json:
        world = self._world
        chat = chat_of(world, call)
        kind = call.method.removeprefix("send")
        sent = self.caption(call)
        media = self._media(call, kind, call.fields.get(kind, f"attach://{kind}"))
        post = await self._post(chat, call, kind, sent)
        post.media = media
        return wire.message(world.add_post(post), chat)

    async def album(self, call: Call) -> list[wire.Json]:
        """Two to ten files; documents are not mixed with pictures. Each is a message of its own."""
        world = self._world
        chat = chat_of(world, call)
        items = call.json("media")
        if not isinstance(items, list) or not 1 <= len(items) <= 10:
            raise bad_request("the album must contain from 1 to 10 messages")
        kinds = {str(item.get("type")) for item in items}
        if not kinds <= set(FOLDERS) or (len(kinds) > 1 and kinds - {"photo", "video"}):
            raise bad_request("different types of media can't be mixed in the album")
        read = [(self._media(call, item["type"], item.get("media", "")), self.caption(item)) for item in items]
        return [wire.message(post, chat) for post in await self._album_posts(chat, call, read)]

    async def _album_posts(self, chat: Chat, call: Call, read: Sequence[tuple[Media, SentText]]) -> list[Post]:
        world = self._world
        thread, reply = place_of(chat, call)
        may_send(world, chat, thread, read[0][0].kind)
        await world.flood.pay(chat.id, len(read))
        thread, reply = place_of(chat_of(world, call), call)
        album_id = str(world.random.getrandbits(40)) if len(read) > 1 else ""
        posts = []
        for media, caption in read:
            post = world.new_post(chat, world.bot, thread)
            post.media, post.text, post.entities = media, caption.text, caption.entities
            post.album_id, post.reply_to, post.is_silent = album_id, reply, call.flag("disable_notification")
            posts.append(world.add_post(post))
        return posts

    async def _post(self, chat: Chat, call: Call, kind: str, sent: SentText) -> Post:
        """A new post of the bot, paid for; everything that can be refused is refused first."""
        world = self._world
        thread, _ = place_of(chat, call)
        may_send(world, chat, thread, kind)
        keyboard = read_keyboard(call.json("reply_markup"))
        await world.flood.pay(chat.id)
        thread, reply = place_of(chat_of(world, call), call)  # much may have happened while the call was held
        post = world.new_post(chat, world.bot, thread)
        post.text, post.entities, post.keyboard = sent.text, sent.entities, keyboard
        post.reply_to, post.is_silent = reply, call.flag("disable_notification")
        return post

    def _media(self, call: Call, kind: str, source: Any) -> Media:
        """A file of this call, or one sent before by its file_id."""
        upload = call.files.get(str(source).removeprefix("attach://"))
        if upload is not None:
            return self._world.files.keep(kind, upload.name, upload.media_type, upload.data, by_bot=True)
        if not source or str(source).startswith("attach://"):
            raise bad_request(f"there is no {kind} in the request")
        if str(source).startswith(("http://", "https://")):
            raise bad_request("failed to get HTTP URL content")
        return self._world.files.find(str(source)).media

    async def chat_action(self, call: Call) -> bool:
        """Not checked for the topic, as the server does not either."""
        world = self._world
        chat = chat_of(world, call)
        if call.text("action") not in ACTIONS:
            raise bad_request("wrong parameter action in request")
        await world.flood.pay_typing(chat.id)
        world.show_typing(chat, call.integer("message_thread_id") or None, call.text("action"))
        return True

    async def reaction(self, call: Call) -> bool:
        """One emoji of the bot's on a message; none takes it back."""
        world = self._world
        chat = chat_of(world, call)
        post = post_of(chat, call, REACT_NOT_FOUND)
        wanted = call.json("reaction") or []
        emoji = tuple(str(item.get("emoji", "")) for item in wanted if isinstance(item, dict))
        if len(emoji) > 1:
            raise bad_request("REACTIONS_TOO_MANY")
        if any(item.removesuffix("\ufe0f") not in REACTIONS for item in emoji):
            raise bad_request("REACTION_INVALID")
        world.react(chat, post, world.bot, emoji)
        return True
