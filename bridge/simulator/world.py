"""The simulated Telegram: its state and the ways it changes, for bots and people alike.

Every change goes through here, so that the feed and the update queue hear of it. No HTTP, no rules of single methods.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType

from bridge.clock import Clock
from bridge.simulator import wire
from bridge.simulator.chats import GENERAL, TOPIC_COLORS, Account, Chat, Key, Post, Topic
from bridge.simulator.errors import QUERY_TOO_OLD, bad_request
from bridge.simulator.faults import Faults
from bridge.simulator.feed import Feed, Kind
from bridge.simulator.files import FileShelf
from bridge.simulator.flood import Flood
from bridge.simulator.limits import Limits
from bridge.simulator.texts import Judge
from bridge.simulator.updates import UpdateQueue

BOT = Account(7_000_000_001, "Agent Hub", "agent_hub_bot", is_bot=True)
OWNER = Account(1_001, "Alex", "alex")
STRANGER = Account(1_666, "Stranger", "stranger")
GROUP_ID = -1_001_000_000_001


@dataclass(slots=True)
class Press:
    """A pressed button. ``answer`` is set once, to the toast's text."""

    id: str
    chat_id: int
    post_id: int
    account: Account
    data: str
    at: float
    answer: asyncio.Future[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Typing:
    """The bot is typing in a topic until ``until`` (wall clock)."""

    topic_id: int | None
    action: str
    until: float


class World:
    """All of it. ``random`` decides shares of faults and the ids nobody may guess."""

    def __init__(self, clock: Clock, limits: Limits, judge: Judge, random: Random) -> None:
        self.clock = clock
        self.limits = limits
        self.judge = judge
        self.random = random
        self.feed = Feed()
        self.updates = UpdateQueue(clock, limits)
        self.flood = Flood(clock, limits)
        self.faults = Faults(random.random)
        self.files = FileShelf(limits)
        self.bot = BOT
        self.accounts: dict[int, Account] = {BOT.id: BOT}
        self.chats: dict[int, Chat] = {}
        self.presses: dict[str, Press] = {}
        self.typing: dict[tuple[int, int | None], Typing] = {}
        self.commands: dict[tuple[str, str], list[dict[str, str]]] = {}
        self.add_group(GROUP_ID, "Agents", owner=OWNER)

    # --- chats and people ------------------------------------------------------------------------------------------

    def add_group(self, chat_id: int, title: str, *, owner: Account = OWNER, is_forum: bool = True) -> Chat:
        """A group with the bot as administrator; ``is_forum`` False makes a basic group without topics."""
        kind = "supergroup" if is_forum else "group"
        chat = Chat(chat_id, kind, title, is_forum, str(self.random.getrandbits(62)), owner_id=owner.id)
        chat.last_id = GENERAL  # the group's own creation
        self.chats[chat_id] = chat
        self.join(chat, owner, is_admin=True)
        return chat

    def private_chat(self, account: Account) -> Chat:
        """The chat of a person with the bot, made when it is first needed."""
        if account.id not in self.chats:
            chat = Chat(account.id, "private", account.name, instance=str(self.random.getrandbits(62)))
            chat.is_started = False
            self.chats[account.id] = chat
            self.join(chat, account)
        return self.chats[account.id]

    def join(self, chat: Chat, account: Account, *, is_admin: bool = False) -> None:
        """Let somebody into a chat."""
        self.accounts[account.id] = account
        chat.members[account.id] = account
        if is_admin:
            chat.admins.add(account.id)

    def change_rights(self, chat: Chat, by: Account = OWNER, **changes: bool) -> None:
        """Set switches of ``BotRights``; the bot is told by my_chat_member."""
        before = wire.bot_member(self.bot, chat)
        chat.rights = replace(chat.rights, **changes)
        after = wire.bot_member(self.bot, chat)
        self.feed.publish(Kind.CHAT, chat.id, chat)
        if before != after:
            self.updates.add(
                "my_chat_member",
                {
                    "chat": wire.chat(chat),
                    "from": wire.user(by),
                    "date": int(self.clock.now()),
                    "old_chat_member": before,
                    "new_chat_member": after,
                },
            )

    def kick_bot(self, chat: Chat) -> None:
        """Throw the bot out of a group."""
        self.change_rights(chat, is_member=False, was_kicked=True, is_admin=False)

    def migrate(self, chat: Chat, new_id: int) -> Chat:
        """Turn a basic group into a forum supergroup: a new id, and every old message id is void."""
        new = self.add_group(new_id, chat.title, owner=self.accounts[chat.owner_id])
        new.members.update(chat.members)
        new.admins.update(chat.admins)
        new.rights = replace(chat.rights)
        owner = self.accounts[chat.owner_id]
        self.add_post(self.new_post(chat, owner, service=("migrate_to_chat_id", new_id)))
        chat.migrated_to = new_id
        self.add_post(self.new_post(new, owner, service=("migrate_from_chat_id", chat.id)))
        return new

    # --- posts -----------------------------------------------------------------------------------------------------

    def new_post(
        self,
        chat: Chat,
        sender: Account,
        topic_id: int | None = None,
        service: tuple[str, object] | None = None,
    ) -> Post:
        """A post with the next id and the present time, not yet in the chat."""
        return Post(chat.next_id(), chat.id, sender, self.clock.now(), topic_id, service=service)

    def add_post(self, post: Post) -> Post:
        """Put a post into its chat and tell everybody who sees it."""
        chat = self.chats[post.chat_id]
        chat.posts[post.id] = post
        self.typing.pop((chat.id, post.topic_id), None)
        self.feed.publish(Kind.MESSAGE, chat.id, post)
        if self._bot_sees(chat, post):
            self.updates.add("message", wire.message(post, chat))
        return post

    def edit_post(self, post: Post) -> None:
        """Tell of an edit that was already written into the post."""
        chat = self.chats[post.chat_id]
        post.edits += 1
        post.edit_date = self.clock.now()
        self.feed.publish(Kind.EDIT, chat.id, post)
        if self._bot_sees(chat, post):
            self.updates.add("edited_message", wire.message(post, chat))

    def delete_post(self, post: Post) -> None:
        """Deletion queues nothing for the bot."""
        post.is_deleted = True
        self.feed.publish(Kind.DELETE, post.chat_id, post)

    def _bot_sees(self, chat: Chat, post: Post) -> bool:
        """Whether the update reaches the bot: its own service messages do, its own texts do not; privacy may hide."""
        if not chat.rights.is_member or (post.sender.id == self.bot.id and post.service is None):
            return False
        if chat.kind == "private" or chat.rights.reads_all or post.service is not None:
            return True
        replied = chat.post(post.reply_to) if post.reply_to else None
        is_to_bot = replied is not None and replied.sender.id == self.bot.id
        return post.text.startswith("/") or is_to_bot or f"@{self.bot.username}" in post.text

    def react(
        self, chat: Chat, post: Post, account: Account, emoji: tuple[str, ...], *, anonymous: bool = False
    ) -> None:
        """Replace somebody's reactions on a post; the bot hears of people's, never of its own."""
        before = post.reactions.get(account.id, ())
        if before == emoji:
            return
        if emoji:
            post.reactions[account.id] = emoji
        else:
            post.reactions.pop(account.id, None)
        self.feed.publish(Kind.REACTION, chat.id, post)
        if account.is_bot or not chat.rights.is_admin:
            return
        who = {"actor_chat": wire.chat(chat)} if anonymous else {"user": wire.user(account)}
        body = {"chat": wire.chat(chat), "message_id": post.id, "date": int(self.clock.now()), **who}
        body |= {"old_reaction": wire.reactions(before), "new_reaction": wire.reactions(emoji)}
        self.updates.add("message_reaction", body)

    def show_typing(self, chat: Chat, topic_id: int | None, action: str) -> None:
        """Until a message comes or some seconds are over."""
        typing = Typing(topic_id, action, self.clock.now() + self.limits.typing_shown)
        self.typing[chat.id, topic_id] = typing
        self.feed.publish(Kind.TYPING, chat.id, typing)

    # --- topics ----------------------------------------------------------------------------------------------------

    def create_topic(self, chat: Chat, by: Account, name: str, color: int = 0, icon: str = "") -> Topic:
        """A topic and the service message whose id it bears."""
        color = color or TOPIC_COLORS[chat.last_id % len(TOPIC_COLORS)]
        content: dict[str, object] = {"name": name, "icon_color": color}
        if icon:
            content["icon_custom_emoji_id"] = icon
        post = self.new_post(chat, by, service=("forum_topic_created", content))
        post.topic_id = post.id
        topic = Topic(post.id, name, color, by.id, icon)
        chat.topics[topic.id] = topic
        self.feed.publish(Kind.TOPIC, chat.id, topic)
        self.add_post(post)
        return topic

    def edit_topic(self, chat: Chat, topic: Topic, by: Account, name: str | None, icon: str | None) -> None:
        """Rename a topic or change its icon."""
        content: dict[str, object] = {}
        if name is not None:
            topic.name = content["name"] = name
        if icon is not None:
            topic.icon = content["icon_custom_emoji_id"] = icon
        self._topic_changed(chat, topic, by, "forum_topic_edited", content)

    def close_topic(self, chat: Chat, topic: Topic, by: Account, *, is_closed: bool) -> None:
        """Close or reopen a topic."""
        topic.is_closed = is_closed
        self._topic_changed(chat, topic, by, "forum_topic_closed" if is_closed else "forum_topic_reopened", {})

    def _topic_changed(self, chat: Chat, topic: Topic, by: Account, field: str, content: Mapping[str, object]) -> None:
        self.feed.publish(Kind.TOPIC, chat.id, topic)
        self.add_post(self.new_post(chat, by, topic.id, (field, content)))

    def general_changed(
        self, chat: Chat, by: Account, field: str, content: Mapping[str, object] = MappingProxyType({})
    ) -> None:
        """General was renamed, closed, reopened, hidden or shown."""
        self.feed.publish(Kind.CHAT, chat.id, chat)
        self.add_post(self.new_post(chat, by, None, (field, dict(content))))

    def delete_topic(self, chat: Chat, topic: Topic) -> None:
        """A topic goes with all its messages; nobody tells the bot."""
        topic.is_deleted = True
        for post in chat.posts_of(topic.id):
            post.is_deleted = True
        self.feed.publish(Kind.TOPIC, chat.id, topic)

    # --- presses ---------------------------------------------------------------------------------------------------

    def press(self, chat: Chat, post: Post, account: Account, key: Key) -> Press:
        """A button is pressed: a callback query waits for the bot, with an id that is answered once."""
        now = self.clock.now()
        self.presses = {k: v for k, v in self.presses.items() if now - v.at <= self.limits.press_answer}
        answer: asyncio.Future[tuple[str, bool]] = asyncio.get_running_loop().create_future()
        press = Press(str(self.random.getrandbits(63)), chat.id, post.id, account, key.data, now, answer)
        self.presses[press.id] = press
        body = {
            "id": press.id,
            "from": wire.user(account),
            "message": wire.message(post, chat),
            "chat_instance": chat.instance,
            "data": key.data,
        }
        if chat.rights.is_member:
            self.updates.add("callback_query", body)
        return press

    def answer_press(self, press_id: str, text: str, *, is_alert: bool) -> None:
        """Show the toast; raises 400 for a second answer, a late one or an unknown id."""
        press = self.presses.pop(press_id, None)
        if press is None or self.clock.now() - press.at > self.limits.press_answer:
            raise bad_request(QUERY_TOO_OLD)
        if not press.answer.done():
            press.answer.set_result((text, is_alert))
