"""Ways of sending that the delivery benchmark compares: ours (the real outbox), the library's limiter, and no limit."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path
from random import Random
from typing import Any

from telegram.error import RetryAfter
from telegram.ext import AIORateLimiter

from bridge.delivery import MessageClass, Outgoing
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import Button, FileUpload, FloodWaitError, OutcomeUnknownError
from bridge.outbox import Outbox
from bridge.presentation import REVISE_EVERY
from bridge.store import Database
from tests.benchmarks.group_world import Group, Item, LostReplyError, World
from tests.bridge.clocks import VirtualClock

CHAT = -1001234500001
BUTTONS = ((Button("Allow", "allow"), Button("Deny", "deny")),)
STATUS_AFTER = 5.0
MOST_PARTS = 3


class OurBridge:
    """What the presenter does, on the real outbox with its real database: the answered card becomes the live status."""

    def __init__(self, world: World, group: Group, folder: Path) -> None:
        self.group = group
        self.loop = asyncio.get_running_loop()
        self.database = Database.open(folder / "hub.db", VirtualClock())
        self.messenger = GroupMessenger(group)
        self.outbox = Outbox(self.messenger, self.database, VirtualClock(), random=Random(world.topics))  # type: ignore[arg-type]
        self.runner = asyncio.create_task(self.outbox.run())
        self.live: dict[int, str] = {}
        self.busy: set[int] = set()
        self.closing: dict[str, Item] = {}
        self.behind: dict[int, list[str]] = {}
        self.passed: dict[int, list[str]] = {}
        self.prompt_keys: dict[int, str] = {}
        self.touched: dict[int, float] = {}
        self.number = 0

    async def close(self) -> None:
        self.runner.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.runner
        self.database.close()

    def part(self, items: list[Item]) -> Part:
        self.number += 1
        text = f"#{self.number}"
        self.messenger.items[text] = items
        return Part(text, text)

    def post(self, items: list[Item], klass: MessageClass, key: str = "", *, rings: bool = False) -> str:
        keyboard = BUTTONS if klass is MessageClass.PROMPT else ()
        place = Place(CHAT, items[0].topic)
        return self.outbox.post(Outgoing(place, self.part(items), klass, key=key, rings=rings, keyboard=keyboard))

    def turn_started(self, item: Item) -> None:
        self.busy.add(item.topic)
        self.loop.call_later(STATUS_AFTER, self._late_status, item)

    def _late_status(self, item: Item) -> None:
        if item.topic in self.busy and item.topic not in self.live:
            self.live[item.topic] = self.post([item], MessageClass.STATUS)

    def progressed(self, topic: int, stamp: float) -> None:
        if stamp - self.touched.get(topic, 0.0) < REVISE_EVERY:
            return
        self.touched[topic] = stamp
        progress = Item("progress", topic, stamp, stamp)
        for key in list(self.behind.get(topic, ())):
            # A card whose edit still waits shows, when it is made, how things stand then.
            if left := self._unshown(key):
                self.outbox.revise(key, self.part([progress, *left]), klass=MessageClass.PROGRESS)
            else:
                self.behind[topic].remove(key)
                self.passed.setdefault(topic, []).append(key)
        if key := self.live.get(topic, ""):
            self.outbox.revise(key, self.part([progress, *self._unshown(key)]), klass=MessageClass.PROGRESS)

    def _unshown(self, key: str) -> list[Item]:
        """The verdict of an answered card whose edit still waits: whatever edit comes next shows it."""
        close = self.closing.get(key)
        return [close] if close is not None and close.delivered is None else []

    def prompted(self, item: Item) -> None:
        self.prompt_keys[id(item)] = self.post([item], MessageClass.PROMPT, f"card:{id(item)}", rings=True)

    def pressed(self, prompt: Item, close: Item) -> None:
        key = self.prompt_keys[id(prompt)]
        self.outbox.confirm(key, self.messenger.message_ids[id(prompt)])
        if former := self.live.get(prompt.topic, ""):
            if self._unshown(former):
                self.behind.setdefault(prompt.topic, []).append(former)
            else:
                self._leave_behind(former, prompt.topic)
        self.live[prompt.topic] = key
        self.closing[key] = close
        self.outbox.revise(key, self.part([close]), klass=MessageClass.CLOSING)

    def _leave_behind(self, key: str, topic: int) -> None:
        """The status goes on elsewhere: off with it here, when there is nothing better to do."""
        left = self._unshown(key) or [Item("left behind", topic, 0.0, 0.0)]
        self.outbox.revise(key, self.part(left), klass=MessageClass.PROGRESS)

    def turn_ended(self, items: list[Item]) -> None:
        topic = items[0].topic
        self.busy.discard(topic)
        for key in (*self.behind.pop(topic, ()), *self.passed.pop(topic, ())):
            self._leave_behind(key, topic)
        groups = [[item] for item in items] if len(items) <= MOST_PARTS else [[items[0]], items[1:]]
        for number, group in enumerate(groups):
            self.post(group, MessageClass.FINAL, rings=number == 0)
        if key := self.live.pop(topic, ""):
            log = Item("log", topic, items[0].created, items[0].stamp)
            self.outbox.revise(key, self.part([log, *self._unshown(key)]), klass=MessageClass.CLOSING)


class GroupMessenger:
    """The outbox's messenger whose every call is one call to the simulated server."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.items: dict[str, list[Item]] = {}
        self.message_ids: dict[int, int] = {}
        self.last_id = 0

    async def send_text(self, place: Place, part: Part, *, is_silent: bool = True, **_: Any) -> int:
        return await self._send(place, part.text, rings=not is_silent)

    async def send_files(self, place: Place, _files: list[FileUpload], *, caption: Part, **_: Any) -> int:
        return await self._send(place, caption.text, rings=False)

    async def edit_text(self, _chat_id: int, _message_id: int, part: Part, **_: Any) -> None:
        items = self.items[part.text]
        await self._call(items, items[0].topic, is_send=False)

    async def _send(self, place: Place, text: str, *, rings: bool) -> int:
        name, _, mark = text.partition("\n")
        items = self.items[name]
        self.last_id += 1
        message_id = self.last_id
        for item in items:
            self.message_ids.setdefault(id(item), message_id)
        await self._call(items, place.topic_id or 0, is_send=True, is_marked=bool(mark), rings=rings)
        return message_id

    async def _call(self, items: list[Item], topic: int, **more: Any) -> None:
        try:
            await self.group.call(items, topic, **more)
        except LostReplyError:
            raise OutcomeUnknownError("lost") from None


class PlainBridge:
    """One task for each message, edits once a second; subclasses say how a call is limited."""

    def __init__(self, world: World, group: Group, _folder: Path) -> None:
        self.world, self.group = world, group
        self.loop = asyncio.get_running_loop()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.dirty: dict[int, float] = {}
        self.has_status: set[int] = set()
        for topic in range(world.topics):
            self.go(self._edits(topic))

    async def via(self, items: list[Item], topic: int, *, is_send: bool) -> bool:
        try:
            await self.group.call(items, topic, is_send=is_send)
        except (FloodWaitError, LostReplyError):
            return False
        return True

    def go(self, work: Coroutine[Any, Any, Any]) -> None:
        task = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def close(self) -> None:
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _edits(self, topic: int) -> None:
        while True:
            await asyncio.sleep(1.0)
            if topic in self.has_status and topic in self.dirty:
                stamp = self.dirty.pop(topic)
                await self.via([Item("progress", topic, stamp, stamp)], topic, is_send=False)

    async def _status(self, item: Item) -> None:
        if await self.via([item], item.topic, is_send=True):
            self.has_status.add(item.topic)

    def turn_started(self, item: Item) -> None:
        self.go(self._status(item))

    def progressed(self, topic: int, stamp: float) -> None:
        self.dirty[topic] = stamp

    def prompted(self, item: Item) -> None:
        self.go(self.via([item], item.topic, is_send=True))

    def pressed(self, prompt: Item, close: Item) -> None:
        self.go(self.via([close], prompt.topic, is_send=False))

    def turn_ended(self, items: list[Item]) -> None:
        topic = items[0].topic
        self.has_status.discard(topic)
        self.dirty.pop(topic, None)
        self.go(self._finals(items))

    async def _finals(self, items: list[Item]) -> None:
        for item in items:
            await self.via([item], item.topic, is_send=True)


class LibraryBridge(PlainBridge):
    """python-telegram-bot's own AIORateLimiter, as it comes: 20 a minute for a group, no retries."""

    retries = 0

    def __init__(self, world: World, group: Group, folder: Path) -> None:
        self.limiter = AIORateLimiter(max_retries=self.retries)
        super().__init__(world, group, folder)

    async def via(self, items: list[Item], topic: int, *, is_send: bool) -> bool:
        async def call(*_: Any, **__: Any) -> bool:
            try:
                await self.group.call(items, topic, is_send=is_send)
            except FloodWaitError as error:
                raise RetryAfter(int(error.seconds)) from None
            return True

        method = "sendMessage" if is_send else "editMessageText"
        try:
            await self.limiter.process_request(call, (), {}, method, {"chat_id": CHAT}, None)
        except (RetryAfter, LostReplyError):
            return False
        return True


class LibraryRetryBridge(LibraryBridge):
    """The same with one retry."""

    retries = 1


BRIDGES: dict[str, Any] = {
    "ours": OurBridge,
    "python-telegram-bot's limiter": LibraryBridge,
    "python-telegram-bot's limiter, one retry": LibraryRetryBridge,
    "unlimited": PlainBridge,
}
