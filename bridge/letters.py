"""One logical message on its way out, from its posting to its last edit. Plain state, no I/O."""

from __future__ import annotations

import hashlib
import html
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bridge.delivery import MessageClass, Outgoing
from bridge.inbound import Place
from bridge.markdown.part import TEXT_LIMIT, Part
from bridge.messenger import Button, FileUpload, Keyboard
from bridge.texts import tr

SAFE_SLICE = TEXT_LIMIT - 300
"""UTF-16 units of a slice of a text that was refused as too long; leaves room for a mark."""


class LetterState(StrEnum):
    """``UNKNOWN``: the reply was lost, it may be there. ``PARKED``: its topic is gone or closed."""

    QUEUED = "queued"
    SENDING = "sending"
    UNKNOWN = "unknown"
    SENT = "sent"
    PARKED = "parked"
    FAILED = "failed"


@dataclass(slots=True)
class Letter:
    """Mutable, owned by the outbox. ``id`` is the order of posting.

    While unsent, ``part`` and ``keyboard`` are what is to be sent. Once sent (``message_id``), they are what the next
    edit shows, if ``is_edit``. ``klass`` is the class of the next call. ``not_before`` is on the monotonic clock.
    """

    id: int
    key: str
    place: Place
    klass: MessageClass
    part: Part
    keyboard: Keyboard = ()
    rings: bool = False
    reply_to: int | None = None
    files: tuple[FileUpload, ...] = ()
    rest: tuple[str, ...] = ()
    state: LetterState = LetterState.QUEUED
    repeats: int = 0
    message_id: int | None = None
    is_edit: bool = False
    shown: str = ""
    failure: str = ""
    not_before: float = 0.0
    is_plain: bool = False
    is_in_flight: bool = False
    started: float = 0.0
    edit_failures: int = 0
    waits_since: float = 0.0
    """When the edit that is to be made was asked for first (monotonic)."""
    on_wire: str = ""
    """Digest of what the call under way (or the one whose reply was lost) shows."""
    next_klass: MessageClass | None = None
    """Set while a call is under way and the letter was revised meanwhile: the class of the edit that must follow."""

    @property
    def is_send(self) -> bool:
        """The next call makes a new message."""
        return not self.is_edit

    @property
    def is_open(self) -> bool:
        """Something is still to be done."""
        return self.is_edit or self.state in (LetterState.QUEUED, LetterState.SENDING, LetterState.UNKNOWN)

    @property
    def keeps_order(self) -> bool:
        """Prompts, replies and finals of a topic arrive in the order they were posted."""
        return self.is_send and self.klass <= MessageClass.FINAL

    def wire_part(self) -> Part:
        """What goes out, with the mark of a possible repeat where it may be one."""
        return marked(self.part) if self.is_send and self.repeats else self.part


def letter_of(number: int, message: Outgoing, key: str) -> Letter:
    """A fresh letter for a posted message."""
    return Letter(
        id=number,
        key=key,
        place=message.place,
        klass=message.klass,
        part=message.part,
        keyboard=message.keyboard,
        rings=message.rings,
        reply_to=message.reply_to,
        files=message.files,
    )


def marked(part: Part) -> Part:
    """The part with a line that says it may be there twice; a text without room for it keeps its length."""
    mark = tr("⟳ may be a repeat")
    if utf16_length(part.text) + len(mark) + 2 > TEXT_LIMIT:
        return part
    return Part(html=f"{part.html}\n\n<i>{html.escape(mark, quote=False)}</i>", text=f"{part.text}\n\n{mark}")


def digest(part: Part, keyboard: Keyboard) -> str:
    """Equal for what looks equal to the person."""
    return hashlib.blake2b(f"{part.html}\0{dump_keyboard(keyboard)}".encode(), digest_size=12).hexdigest()


def plain_part(text: str) -> Part:
    """A text that can't be refused for its markup."""
    return Part(html=html.escape(text, quote=False), text=text)


def utf16_length(text: str) -> int:
    """UTF-16 units, as Telegram counts."""
    return len(text) + sum(1 for letter in text if ord(letter) > 0xFFFF)


def slices_of(text: str, limit: int = SAFE_SLICE) -> list[str]:
    """Cut at line ends where possible, else at spaces, else anywhere; never inside a surrogate pair."""
    slices = []
    while utf16_length(text) > limit:
        end = _end_of_slice(text, limit)
        slices.append(text[:end])
        text = text[end:].lstrip("\n")
    if text.strip():
        slices.append(text)
    return slices


def _end_of_slice(text: str, limit: int) -> int:
    units = end = 0
    for letter in text:
        units += 2 if ord(letter) > 0xFFFF else 1
        if units > limit:
            break
        end += 1
    for mark in ("\n", " "):
        found = text.rfind(mark, end // 2, end)
        if found > 0:
            return found
    return max(end, 1)


def dump_keyboard(keyboard: Keyboard) -> str:
    """Rows of buttons as JSON."""
    return json.dumps([[[b.label, b.data, b.url] for b in row] for row in keyboard], ensure_ascii=False)


def load_keyboard(text: str) -> Keyboard:
    """The reverse of ``dump_keyboard``."""
    return tuple(tuple(Button(*values) for values in row) for row in json.loads(text))


def dump_files(files: tuple[FileUpload, ...]) -> str:
    """Files as JSON."""
    return json.dumps([[str(file.path), file.name, file.is_photo] for file in files], ensure_ascii=False)


def load_files(text: str) -> tuple[FileUpload, ...]:
    """The reverse of ``dump_files``."""
    return tuple(FileUpload(Path(path), name, is_photo=photo) for path, name, photo in json.loads(text))
