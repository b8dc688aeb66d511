"""The person of the soak: writes tasks, presses buttons of this life and of former ones, and remembers what it did."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bridge.simulator.human import Human, Message

TOKEN = re.compile(r"k\d{6}k")
ALLOW, DENY, RUN, CONTINUE = "Allow", "Deny", "Run", "Continue"
PRESS_PATIENCE = 4.0


@dataclass
class Person:
    """Acts in a few topics. ``allowed``: tokens whose card of the present life was allowed."""

    human: Human
    rng: Random
    workspace: Path
    topics: list[int]
    written: dict[str, int] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)
    mentioned: set[str] = field(default_factory=set)
    """Tokens in any message of the hub, also in texts that were replaced since."""
    stale_pressed: int = 0
    ran: set[str] = field(default_factory=set)
    _pressed: set[tuple[int, tuple[str, ...]]] = field(default_factory=set)
    _life_began: int = 0

    def begin_life(self) -> None:
        """Cards shown before now belong to former lives."""
        self._life_began = max((message.id for message in self.human.all_messages()), default=0)
        self.allowed.clear()

    async def work(self) -> None:
        """Write and press until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._write())
            tasks.create_task(self._press(self._choice))

    async def answer_everything(self) -> None:
        """Deny what is asked and run what is offered, so that every text reaches an agent."""
        await self._press(self._calm_choice)

    async def _write(self) -> None:
        while True:
            token = f"k{len(self.written):06d}k"
            topic = self.rng.choice(self.topics)
            dice = self.rng.random()
            if dice < 0.6:
                text = f"run `echo {token} >> ran.txt`"
            elif dice < 0.95:
                text = f"echo {token}"
            else:
                text = f"slow {token}"
            self.written[token] = topic
            self.human.write(text, topic)
            await asyncio.sleep(self.rng.uniform(0.2, 1.2))

    async def _press(self, choose: Callable[[Message], str]) -> None:
        while True:
            for message in self._with_buttons():
                seen = (message.id, message.labels)
                if seen in self._pressed:
                    continue
                label = choose(message)
                if label:
                    self._pressed.add(seen)
                    await self._press_one(message, label)
            await asyncio.sleep(0.2)

    def _with_buttons(self) -> list[Message]:
        posts = [post.id for post in self.human.chat.posts.values() if post.keyboard and not post.is_deleted]
        return [message for number in posts if (message := self.human.look(number)) is not None]

    async def _press_one(self, message: Message, label: str) -> None:
        found = TOKEN.search(message.text)
        if label == ALLOW and found is not None:
            if message.id > self._life_began:
                self.allowed.add(found[0])
            else:
                self.stale_pressed += 1
        with contextlib.suppress(TimeoutError, LookupError):
            await self.human.press(message, label, patience=PRESS_PATIENCE)

    def _choice(self, message: Message) -> str:
        """Mostly at once; one in four is left for a later life, where it must not decide anything."""
        labels = " ".join(message.labels)
        if ALLOW in labels:
            if message.id > self._life_began and self.rng.random() < 0.25:
                return ""
            return ALLOW if self.rng.random() < 0.8 else DENY
        return next((label for label in (RUN, CONTINUE) if label in labels), "")

    @staticmethod
    def _calm_choice(message: Message) -> str:
        labels = " ".join(message.labels)
        return next((label for label in (DENY, RUN) if label in labels), "")

    def newly_run(self) -> set[str]:
        """Tokens whose command has run since the last call."""
        found: set[str] = set()
        for file in self.workspace.rglob("ran.txt"):
            found |= set(TOKEN.findall(file.read_text(encoding="utf-8")))
        fresh = found - self.ran
        self.ran |= fresh
        return fresh

    def lost(self, agents: Path) -> list[str]:
        """Tasks that no agent ever heard (by its own files) and of which the hub never said a word."""
        heard: set[str] = set()
        for file in agents.rglob("*.jsonl"):
            heard |= set(TOKEN.findall(file.read_text(encoding="utf-8", errors="replace")))
        return [token for token in self.written if token not in self.mentioned | heard]
