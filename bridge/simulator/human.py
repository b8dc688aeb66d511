"""A scripted person with a phone: writes, replies, presses, reacts, sends files, reads. For tests and ``demo --check``.

Acts on the simulator's state as Telegram's own apps would; sees only what a person would see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.simulator.chats import Account, Chat, Entity, Key, Post, Topic
from bridge.simulator.feed import Kind
from bridge.simulator.forum import clean_name
from bridge.simulator.people import People
from bridge.simulator.simulator import Simulator
from bridge.simulator.world import OWNER, STRANGER


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file in a message, bytes and all. ``kind``: photo, document, audio, voice, video, animation."""

    kind: str
    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """A message as a person sees it at one moment; ``topic`` None is General, ``rows`` its buttons.

    ``text`` is the caption when there is a file. ``sender_id`` is the bot's for the hub's messages. ``reply_to`` is
    an explicit reply's target. ``reactions`` are emoji of everybody, ``edits`` how often it was edited.
    """

    id: int
    topic: int | None
    sender_id: int
    is_bot: bool
    text: str
    entities: tuple[Entity, ...] = ()
    rows: tuple[tuple[Key, ...], ...] = ()
    file: SeenFile | None = None
    is_silent: bool = False
    reply_to: int | None = None
    edits: int = 0
    album: str = ""
    service: str = ""
    reactions: tuple[str, ...] = ()
    date: float = 0.0

    @property
    def buttons(self) -> tuple[Key, ...]:
        """All buttons, row after row."""
        return tuple(key for row in self.rows for key in row)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(key.label for key in self.buttons)

    def button(self, which: str | int) -> Key:
        """A button by its place, its whole label, or a part of it; raises LookupError when there is none."""
        if isinstance(which, int):
            return self.buttons[which]
        for fits in (str.__eq__, str.__contains__):
            for key in self.buttons:
                if fits(key.label, which):
                    return key
        raise LookupError(f"no button {which!r} among {self.labels}")

    def styled(self, kind: str) -> tuple[str, ...]:
        """The pieces of text under entities of a kind ("bold", "pre", ...)."""
        units = self.text.encode("utf-16-le")
        spans = ((e.offset * 2, (e.offset + e.length) * 2) for e in self.entities if e.type == kind)
        return tuple(units[start:end].decode("utf-16-le") for start, end in spans)


Predicate = Callable[[Message], bool]


class Human:
    """One person in one chat. Most methods act at once; only ``press`` and the waits take time.

    ``is_anonymous``: an administrator who writes as the group. ``patience``: seconds for every wait by default.
    """

    def __init__(
        self,
        simulator: Simulator,
        user_id: int = OWNER.id,
        name: str = OWNER.name,
        *,
        chat_id: int | None = None,
        is_anonymous: bool = False,
        patience: float = 10.0,
    ) -> None:
        self._simulator = simulator
        self._world = simulator.world
        self._people = People(self._world)
        self.account = self._world.accounts.get(user_id) or Account(user_id, name, name.lower().replace(" ", "_"))
        self.chat_id = simulator.group.id if chat_id is None else chat_id
        self.is_anonymous = is_anonymous
        self.patience = patience
        if chat_id == self.account.id:
            self._people.start_private(self.account)
        elif self.account.id not in self.chat.members:
            self._world.join(self.chat, self.account, is_admin=is_anonymous)

    @classmethod
    def stranger(cls, simulator: Simulator) -> Human:
        """Somebody in the group whom the hub was not told to obey."""
        return cls(simulator, STRANGER.id, STRANGER.name)

    @classmethod
    def anonymous(cls, simulator: Simulator) -> Human:
        """An administrator hiding behind the group."""
        return cls(simulator, 1_777, "Anonymous", is_anonymous=True)

    @property
    def id(self) -> int:
        return self.account.id

    @property
    def chat(self) -> Chat:
        """The chat, or the one it became."""
        chat = self._world.chats[self.chat_id]
        return chat if chat.migrated_to is None else self._world.chats[chat.migrated_to]

    # --- topics ----------------------------------------------------------------------------------------------------

    def create_topic(self, name: str) -> int:
        """Open a topic; its id is what the other methods take."""
        return self._world.create_topic(self.chat, self.account, clean_name(name)).id

    def rename_topic(self, topic: int, name: str) -> None:
        self._world.edit_topic(self.chat, self.chat.topics[topic], self.account, clean_name(name), None)

    def close_topic(self, topic: int) -> None:
        self._world.close_topic(self.chat, self.chat.topics[topic], self.account, is_closed=True)

    def reopen_topic(self, topic: int) -> None:
        self._world.close_topic(self.chat, self.chat.topics[topic], self.account, is_closed=False)

    def delete_topic(self, topic: int) -> None:
        self._world.delete_topic(self.chat, self.chat.topics[topic])

    def topics(self) -> list[Topic]:
        """Topics that are there, oldest first."""
        return self.chat.live_topics()

    # --- writing ---------------------------------------------------------------------------------------------------

    def write(self, text: str, topic: int | None = None, *, reply_to: Message | int | None = None) -> Message:
        """Send a text; one over 4096 characters goes out in pieces, as the apps do. Returns the last piece."""
        reply = reply_to.id if isinstance(reply_to, Message) else reply_to
        posts = self._people.write(self.chat, self.account, text, topic, reply, anonymous=self.is_anonymous)
        return self._seen(posts[-1])

    def reply(self, message: Message, text: str) -> Message:
        """Reply to a message in its own topic."""
        return self.write(text, message.topic, reply_to=message)

    def edit(self, message: Message, text: str) -> Message:
        """Change one's own message."""
        return self._seen(self._people.edit(self._post(message), text))

    def delete(self, message: Message) -> None:
        self._world.delete_post(self._post(message))

    def react(self, message: Message, emoji: str | None) -> None:
        """React with one emoji; None takes the reaction back."""
        wanted = (emoji,) if emoji else ()
        self._world.react(self.chat, self._post(message), self.account, wanted, anonymous=self.is_anonymous)

    def send_file(self, data: bytes, name: str, topic: int | None = None, *, caption: str = "") -> Message:
        return self._send([("document", name, data)], topic, caption)[-1]

    def send_photo(self, data: bytes, topic: int | None = None, *, caption: str = "") -> Message:
        """A picture (PNG, GIF or JPEG)."""
        return self._send([("photo", "photo.jpg", data)], topic, caption)[-1]

    def send_voice(self, data: bytes, topic: int | None = None) -> Message:
        return self._send([("voice", "voice.ogg", data)], topic, "")[-1]

    def send_album(
        self, files: Sequence[tuple[str, bytes]], topic: int | None = None, *, caption: str = "", kind: str = "photo"
    ) -> list[Message]:
        """Several files of one kind as an album, (name, bytes) each; the caption stands at the first."""
        return self._send([(kind, name, data) for name, data in files], topic, caption)

    def send_other(self, what: str, topic: int | None = None) -> Message:
        """Something a hub can't take: location, contact, dice."""
        return self._seen(self._people.send_other(self.chat, self.account, what, topic))

    def _send(self, files: Sequence[tuple[str, str, bytes]], topic: int | None, caption: str) -> list[Message]:
        posts = self._people.send_files(self.chat, self.account, files, topic, caption, anonymous=self.is_anonymous)
        return [self._seen(post) for post in posts]

    # --- pressing --------------------------------------------------------------------------------------------------

    async def press(self, message: Message, which: str | int, *, patience: float | None = None) -> str:
        """Press a button (place, label or part of a label) and wait for the toast's text; "" for an empty answer.

        Presses what the message shows now. Raises LookupError without such a button, TimeoutError without an answer.
        """
        fresh = self.look(message)
        if fresh is None:
            raise LookupError("the message is deleted")
        return await self._await_toast(message, fresh.button(which), patience)

    async def press_data(self, message: Message, data: str, *, patience: float | None = None) -> str:
        """Send a press with any data, as a forged or outdated button would."""
        return await self._await_toast(message, Key("", data), patience)

    async def _await_toast(self, message: Message, key: Key, patience: float | None) -> str:
        press = self._world.press(self.chat, self._post(message), self.account, key)
        async with asyncio.timeout(self.patience if patience is None else patience):
            text, _ = await asyncio.shield(press.answer)
        return text

    # --- reading ---------------------------------------------------------------------------------------------------

    def messages(self, topic: int | None = None) -> list[Message]:
        """Everything in a topic now, oldest first; None = General."""
        return [self._seen(post) for post in self.chat.posts_of(topic)]

    def all_messages(self) -> list[Message]:
        """Everything in the chat, oldest first."""
        return [self._seen(post) for post in self.chat.posts.values() if not post.is_deleted]

    def look(self, message: Message | int) -> Message | None:
        """The message as it is now; None when it was deleted."""
        post = self.chat.post(message.id if isinstance(message, Message) else message)
        return None if post is None else self._seen(post)

    def from_bot(self, topic: int | None = None) -> list[Message]:
        """The hub's messages in a topic, service messages left out."""
        return [message for message in self.messages(topic) if message.is_bot and not message.service]

    async def wait_for(
        self, predicate: Predicate, patience: float | None = None, *, topic: int | None = None, after: int = 0
    ) -> Message:
        """The first message of the bot, there already or to come, that fits; edits count as new looks.

        ``topic`` None looks everywhere, General included. ``after`` leaves out messages up to that id.
        Raises TimeoutError that shows the latest messages.
        """
        limit = self.patience if patience is None else patience
        with self._world.feed.listen() as queue:
            try:
                async with asyncio.timeout(limit):
                    while True:
                        for message in self._candidates(topic, after):
                            if predicate(message):
                                return message
                        while (await queue.get()).kind not in {Kind.MESSAGE, Kind.EDIT, Kind.REACTION, Kind.DELETE}:
                            pass
            except TimeoutError:
                seen = [f"#{m.id} {m.text[:160]!r} {list(m.labels)}" for m in self._candidates(topic, after)][-6:]
                raise TimeoutError(f"no such message within {limit:g} s; latest: {seen}") from None

    async def wait_text(self, part: str, topic: int | None = None, *, after: int = 0) -> Message:
        """Wait for a message of the bot that contains a text."""
        return await self.wait_for(lambda message: part in message.text, topic=topic, after=after)

    async def wait_button(self, label: str, topic: int | None = None, *, after: int = 0) -> Message:
        """Wait for a message of the bot with a button whose label contains a text."""
        return await self.wait_for(lambda m: any(label in own for own in m.labels), topic=topic, after=after)

    def _candidates(self, topic: int | None, after: int) -> list[Message]:
        posts = self.chat.posts.values() if topic is None else self.chat.posts_of(topic)
        bot = self._world.bot.id
        return [
            self._seen(post)
            for post in posts
            if post.id > after and not post.is_deleted and post.sender.id == bot and post.service is None
        ]

    # --- inside ----------------------------------------------------------------------------------------------------

    def _post(self, message: Message) -> Post:
        return self.chat.posts[message.id]

    def _seen(self, post: Post) -> Message:
        file = None
        if post.media is not None:
            stored = self._world.files.find(post.media.file_id)
            file = SeenFile(post.media.kind, post.media.name, post.media.media_type, stored.data)
        return Message(
            id=post.id,
            topic=post.topic_id,
            sender_id=post.sender.id,
            is_bot=post.sender.is_bot,
            text=post.text,
            entities=post.entities,
            rows=post.keyboard,
            file=file,
            is_silent=post.is_silent,
            reply_to=post.reply_to,
            edits=post.edits,
            album=post.album_id,
            service=post.service[0] if post.service else "",
            reactions=tuple(emoji for given in post.reactions.values() for emoji in given),
            date=post.date,
        )
