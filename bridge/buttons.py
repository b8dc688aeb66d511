"""What the hub's own buttons mean, kept across restarts: Telegram carries 64 bytes, so the data is an id only.

``callback_data`` is ``<verb>:<answer>:<id>``; the answer is a number into the payload. Permission cards and
questions keep their own registry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.bindings import number_of, place_of
from bridge.clock import Clock
from bridge.inbound import Place
from bridge.messenger import Button, Keyboard
from bridge.store import Database

KEEP = 30 * 24 * 3600.0
"""Seconds a button works."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """A press of one of the hub's own buttons; ``value`` is what the label stood for."""

    place: Place
    verb: str
    value: str
    id: str


class ButtonBook:
    """Issues keyboards and looks presses up."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    def keyboard(self, place: Place, verb: str, choices: Sequence[tuple[str, str]], *, columns: int = 2) -> Keyboard:
        """Buttons for (label, value) pairs, ``columns`` in a row; joins the caller's transaction."""
        pairs = list(choices)
        return self.grid(place, verb, [pairs[start : start + columns] for start in range(0, len(pairs), columns)])

    def grid(self, place: Place, verb: str, rows: Sequence[Sequence[tuple[str, str]]]) -> Keyboard:
        """Buttons in rows as given; joins the caller's transaction."""
        choices = [pair for row in rows for pair in row]
        book_id = self._new_id()
        self._database.execute(
            "INSERT INTO buttons (id, chat_id, topic_id, verb, payload, made) VALUES (?, ?, ?, ?, ?, ?)",
            (
                book_id,
                place.chat_id,
                number_of(place),
                verb,
                json.dumps([value for _, value in choices], ensure_ascii=False),
                self._clock.now(),
            ),
        )
        buttons = iter([Button(label, f"{verb}:{index}:{book_id}") for index, (label, _) in enumerate(choices)])
        return tuple(tuple(next(buttons) for _ in row) for row in rows)

    def find(self, data: str, chat_id: int) -> Pressed | None:
        """What a press means; None for data that this hub never issued in that chat, or that is too old."""
        verb, _, rest = data.partition(":")
        answer, _, book_id = rest.partition(":")
        if not (answer.isascii() and answer.isdigit() and len(answer) < 4):
            return None
        row = self._database.row("SELECT * FROM buttons WHERE id = ? AND verb = ?", (book_id, verb))
        if row is None or row["chat_id"] != chat_id:
            return None
        payload: list[str] = json.loads(row["payload"])
        if int(answer) >= len(payload):
            return None
        return Pressed(place_of(row), verb, payload[int(answer)], book_id)

    def works(self, book_id: str) -> bool:
        """Whether a keyboard is not used up yet."""
        return self._database.row("SELECT 1 FROM buttons WHERE id = ?", (book_id,)) is not None

    def forget(self, book_id: str) -> bool:
        """Use a keyboard up; later presses are answered as old ones. False: another press had done so already."""
        return self._database.execute("DELETE FROM buttons WHERE id = ?", (book_id,)) > 0

    def prune(self) -> None:
        self._database.execute("DELETE FROM buttons WHERE made < ?", (self._clock.now() - KEEP,))
