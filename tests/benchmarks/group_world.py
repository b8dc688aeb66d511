"""One forum group on virtual time: Telegram's flood rules, eight busy topics and a person who answers.

The server takes 20 sends and edits in any 60 s, holds a call that would have to wait up to 8 s, and answers 429 beyond
that; each call during a penalty makes it longer. Prompts stop their agent until the person, who answers 10 s after
seeing one, has pressed; a prompt unanswered for ten minutes is lost.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from bridge.messenger import FloodWaitError


@dataclass(frozen=True)
class World:
    """The knobs of one run; times in seconds. ``lost_replies``: share of sends that are taken but not answered."""

    topics: int = 8
    minutes: float = 30.0
    limit: int = 20
    window: float = 60.0
    hold: float = 8.0
    growth: float = 1.1
    longest_penalty: float = 7200.0
    net: float = 0.08
    prompt_every: float = 40.0
    answer_after: float = 10.0
    prompt_timeout: float = 600.0
    drain: float = 7200.0
    lost_replies: float = 0.02
    reply_timeout: float = 20.0


@dataclass(eq=False)
class Item:
    """Something the person must or may see. ``stamp``: how new what it says is."""

    kind: str
    topic: int
    created: float
    stamp: float
    turn: int = 0
    delivered: float | None = None
    times: int = 0
    seen: asyncio.Event = field(default_factory=asyncio.Event)


class LostReplyError(Exception):
    """The call was taken; its answer never came."""


class Group:
    """The server's side of one group."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.loop = asyncio.get_running_loop()
        self.rng = random.Random(seed)
        self.slots: deque[float] = deque(maxlen=world.limit)
        self.penalty_until = 0.0
        self.floods = 0
        self.unmarked_repeats = 0
        self.odd_rings = 0
        self.shown: dict[int, float] = {}

    async def call(
        self, items: list[Item], topic: int, *, is_send: bool, is_marked: bool = False, rings: bool = False
    ) -> None:
        """One call that shows ``items`` when it is taken. Raises FloodWaitError, LostReplyError."""
        world = self.world
        await asyncio.sleep(world.net + self.rng.expovariate(50))
        await self._take()
        now = self.loop.time()
        if rings and any(item.kind not in ("prompt", "final") for item in items):
            self.odd_rings += 1
        for item in items:
            item.times += is_send and item.kind in ("prompt", "final", "status")
            if item.times > 1 and not is_marked:
                self.unmarked_repeats += 1
            if item.delivered is None:
                item.delivered = now
            item.seen.set()
            self.shown[topic] = max(self.shown.get(topic, 0.0), item.stamp)
        if is_send and self.rng.random() < world.lost_replies:
            # Half of them as a reset, half as silence until the client gives up.
            await asyncio.sleep(world.net if self.rng.random() < 0.5 else world.reply_timeout)
            raise LostReplyError
        await asyncio.sleep(world.net)

    async def _take(self) -> None:
        world, now = self.world, self.loop.time()
        if now < self.penalty_until:
            left = (self.penalty_until - now) * world.growth + (1 if world.growth > 1 else 0)
            await self._refuse(min(world.longest_penalty, left))
        free = max(now, self.slots[0] + world.window) if len(self.slots) == world.limit else now
        if free - now > world.hold:
            await self._refuse(free - now)
        self.slots.append(free)
        if free > now:
            await asyncio.sleep(free - now)

    async def _refuse(self, seconds: float) -> None:
        self.penalty_until = self.loop.time() + seconds
        self.floods += 1
        await asyncio.sleep(self.world.net)
        raise FloodWaitError(math.ceil(seconds))


class Bridge(Protocol):
    """What a way of sending must offer; all methods return at once."""

    def turn_started(self, item: Item) -> None: ...

    def progressed(self, topic: int, stamp: float) -> None: ...

    def prompted(self, item: Item) -> None: ...

    def pressed(self, prompt: Item, close: Item) -> None: ...

    def turn_ended(self, items: list[Item]) -> None: ...


class Load:
    """Agents that work, ask and finish, and the person; the same for every bridge with the same seed."""

    def __init__(self, world: World, group: Group, bridge: Bridge, seed: int) -> None:
        self.world, self.group, self.bridge, self.seed = world, group, bridge, seed
        self.loop = asyncio.get_running_loop()
        self.items: list[Item] = []
        self.finals: list[list[Item]] = []
        self.ages: list[float] = []
        self.turns = 0
        self._active: dict[int, float] = {}

    async def run(self) -> None:
        """The load's half hour, then time for what is still on its way."""
        end = self.world.minutes * 60
        jobs = [asyncio.create_task(self._topic(number)) for number in range(self.world.topics)]
        jobs.append(asyncio.create_task(self._watch()))
        await asyncio.sleep(end)
        await asyncio.wait(jobs, timeout=self.world.drain)
        await asyncio.sleep(900)
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)

    def _make(self, kind: str, topic: int, turn: int) -> Item:
        now = self.loop.time()
        item = Item(kind, topic, now, now, turn)
        self.items.append(item)
        return item

    async def _topic(self, topic: int) -> None:
        rng = random.Random(f"{self.seed}/{topic}")
        end = self.world.minutes * 60
        await asyncio.sleep(rng.uniform(0, 60))
        turn = 0
        while self.loop.time() < end:
            turn += 1
            work, parts, pause = rng.uniform(120, 360), rng.randint(1, 4), rng.uniform(30, 120)
            prompts: list[float] = []
            at = rng.uniform(0.5, 1.5) * self.world.prompt_every
            while at < work - 1:
                prompts.append(at)
                at += rng.uniform(0.5, 1.5) * self.world.prompt_every
            self.bridge.turn_started(self._make("status", topic, turn))
            self._active[topic] = self.loop.time()
            await self._turn(topic, turn, work, prompts)
            self._active.pop(topic, None)
            items = [self._make("final", topic, turn) for _ in range(parts)]
            self.finals.append(items)
            self.bridge.turn_ended(items)
            self.turns += self.loop.time() < end
            await asyncio.sleep(pause)

    async def _turn(self, topic: int, turn: int, work: float, prompts: list[float]) -> None:
        done = 0.0
        while done < work:
            await asyncio.sleep(0.3)
            done += 0.3
            self.bridge.progressed(topic, self.loop.time())
            if prompts and done >= prompts[0]:
                prompts.pop(0)
                prompt = self._make("prompt", topic, turn)
                since, asked = self._active.pop(topic), self.loop.time()
                self.bridge.prompted(prompt)
                await self._answer(prompt)
                self._active[topic] = since + self.loop.time() - asked

    async def _answer(self, prompt: Item) -> None:
        try:
            async with asyncio.timeout(self.world.prompt_timeout):
                await prompt.seen.wait()
        except TimeoutError:
            return
        await asyncio.sleep(self.world.answer_after)
        self.bridge.pressed(prompt, self._make("close", prompt.topic, prompt.turn))

    async def _watch(self) -> None:
        while self.loop.time() < self.world.minutes * 60:
            await asyncio.sleep(1.0)
            now = self.loop.time()
            self.ages += [now - max(since, self.group.shown.get(topic, 0.0)) for topic, since in self._active.items()]


@dataclass(frozen=True)
class Outcome:
    """What one run showed."""

    prompts: list[float]
    finals: list[float]
    closes: list[float]
    ages: list[float]
    floods: int
    lost: int
    repeats: int
    odd_rings: int
    turns: int


def outcome_of(load: Load, group: Group) -> Outcome:
    """Delays from the moment an item was made to the moment it was shown."""

    def delays(kind: str) -> list[float]:
        return [
            item.delivered - item.created for item in load.items if item.kind == kind and item.delivered is not None
        ]

    must = [item for item in load.items if item.kind in ("prompt", "final")]
    whole = [items for items in load.finals if all(item.delivered is not None for item in items)]
    return Outcome(
        prompts=delays("prompt"),
        finals=[max(item.delivered or 0.0 for item in items) - items[0].created for items in whole],
        closes=delays("close"),
        ages=load.ages,
        floods=group.floods,
        lost=sum(1 for item in must if item.delivered is None),
        repeats=group.unmarked_repeats,
        odd_rings=group.odd_rings,
        turns=load.turns,
    )
