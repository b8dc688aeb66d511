"""Puts together what one person sent as one thing: albums, and long texts that the client split. Pure.

Clients send an album as separate messages with one ``album_id`` and cut a pasted text at 4096; the members come
within about a second. Everything else passes at once; order is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bridge.inbound import IncomingFile, IncomingMessage, Person
from bridge.markdown.part import TEXT_LIMIT

JOIN_SECONDS = 1.0
NEAR_LIMIT = 3900
"""A text of at least so many UTF-16 units may be the first piece of a longer one."""
MEMBERS_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a person said in one go, one or more messages in order; ``edits`` are the updates that changed them."""

    messages: tuple[IncomingMessage, ...]
    edits: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """All texts as one. A piece shorter than the limit was cut at a blank, which the client ate."""
        text, was_full = "", False
        for piece in (message.text for message in self.messages if message.text):
            text += "\n" + piece if text and not was_full else piece
            was_full = utf16_units(piece) >= TEXT_LIMIT
        return text

    @property
    def files(self) -> tuple[IncomingFile, ...]:
        return tuple(file for message in self.messages for file in message.files)

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(message.other for message in self.messages if message.other)

    @property
    def update_ids(self) -> tuple[int, ...]:
        return (*(message.update_id for message in self.messages), *self.edits)

    def changed(self, edit: IncomingMessage) -> Utterance:
        """With the new text of one message; the edit's update ends together with the others."""
        members = tuple(
            replace(old, text=edit.text) if old.message_id == edit.message_id else old for old in self.messages
        )
        return Utterance(members, (*self.edits, edit.update_id))

    @property
    def message_id(self) -> int:
        return self.messages[0].message_id

    @property
    def sender(self) -> Person:
        return self.messages[0].sender

    @property
    def date(self) -> float:
        return self.messages[0].date


@dataclass(slots=True)
class _Open:
    messages: list[IncomingMessage]
    due: float | None  # None: nothing more can belong to it
    album_id: str = ""
    edits: list[int] = field(default_factory=list)

    @property
    def utterance(self) -> Utterance:
        return Utterance(tuple(self.messages), tuple(self.edits))

    def takes(self, message: IncomingMessage) -> bool:
        if self.due is None or message.sender.id != self.messages[0].sender.id:
            return False
        if len(self.messages) >= MEMBERS_LIMIT:
            return False
        if self.album_id or message.album_id:
            return self.album_id == message.album_id
        return not message.files


@dataclass(slots=True)
class Joiner:
    """A line of utterances in the making; the first ones come out when they are complete."""

    _line: list[_Open] = field(default_factory=list)

    def add(self, message: IncomingMessage, now: float) -> list[Utterance]:
        """Take a message in; returns what is complete now. ``now`` in monotonic seconds."""
        group = next((group for group in self._line if group.takes(message)), None)
        if group is None:
            group = _Open([], None, message.album_id)
            self._line.append(group)
        group.messages.append(message)
        group.messages.sort(key=lambda member: member.message_id)
        may_go_on = bool(message.album_id) or is_near_limit(message.text)
        group.due = now + JOIN_SECONDS if may_go_on else None
        return self.ripe(now)

    def replace(self, message: IncomingMessage) -> bool:
        """An edited message that is still here is taken in its new form."""
        for group in self._line:
            for index, member in enumerate(group.messages):
                if member.message_id == message.message_id:
                    group.messages[index] = replace(message, update_id=member.update_id)
                    group.edits.append(message.update_id)
                    return True
        return False

    @property
    def count(self) -> int:
        """How many utterances are in the making."""
        return len(self._line)

    @property
    def due(self) -> float | None:
        """When to ask ``ripe`` again, None when nothing waits."""
        return self._line[0].due if self._line else None

    def flush(self) -> list[Utterance]:
        """Everything as it is now, complete or not."""
        groups, self._line = self._line, []
        return [group.utterance for group in groups]

    def ripe(self, now: float) -> list[Utterance]:
        """What is complete, in order."""
        ready: list[Utterance] = []
        while self._line and (self._line[0].due is None or self._line[0].due <= now):
            ready.append(self._line.pop(0).utterance)
        return ready


def is_near_limit(text: str) -> bool:
    """Whether a client may have cut the text here."""
    return utf16_units(text) >= NEAR_LIMIT


def utf16_units(text: str) -> int:
    """The length as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
