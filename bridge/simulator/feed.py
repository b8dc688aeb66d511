"""Everything that happens, as a numbered stream: the phone page and the scripted human live on it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

KEPT = 4096


class Kind(StrEnum):
    """What happened. ``subject`` is the thing itself for the first five, a small mapping for the others."""

    MESSAGE = "message"
    EDIT = "edit"
    DELETE = "delete"
    REACTION = "reaction"
    TOPIC = "topic"
    TYPING = "typing"
    CALL = "call"
    CHAT = "chat"
    COMMANDS = "commands"
    STAGE = "stage"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Happening:
    """``number`` grows by one; ``chat_id`` 0 = concerns no chat."""

    number: int
    kind: Kind
    chat_id: int
    subject: Any


class Feed:
    """Publishes to every listener; a slow one never stops the others."""

    def __init__(self) -> None:
        self.number = 0
        self._kept: deque[Happening] = deque(maxlen=KEPT)
        self._listeners: set[asyncio.Queue[Happening]] = set()

    def publish(self, kind: Kind, chat_id: int, subject: Any) -> None:
        self.number += 1
        happening = Happening(self.number, kind, chat_id, subject)
        self._kept.append(happening)
        for queue in self._listeners:
            queue.put_nowait(happening)

    def since(self, number: int) -> list[Happening] | None:
        """What came after ``number``; None when that is too long ago or lies ahead."""
        if number > self.number or (self._kept and number < self._kept[0].number - 1):
            return None
        return [happening for happening in self._kept if happening.number > number]

    def latest(self, kind: Kind, count: int) -> list[Happening]:
        """The last happenings of a kind that are still kept, oldest first."""
        return [happening for happening in self._kept if happening.kind is kind][-count:]

    @property
    def listener_count(self) -> int:
        return len(self._listeners)

    @contextmanager
    def listen(self) -> Iterator[asyncio.Queue[Happening]]:
        """A queue of everything from now on."""
        queue: asyncio.Queue[Happening] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)
