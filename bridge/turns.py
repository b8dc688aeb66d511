"""Turns as the hub remembers them: what was asked, by which updates, and how it ended. Event loop's thread only.

A turn without an end after a start of the hub was cut off: it is reported and offered, never run again by itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Row

from bridge.bindings import number_of, place_of
from bridge.clock import Clock
from bridge.inbound import Place
from bridge.store import Database

KEEP = 90 * 24 * 3600.0
"""Seconds an ended turn is remembered."""
CUT_OFF = "cut off"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """``started``/``ended`` in wall-clock seconds; ``outcome`` "" while it runs."""

    id: str
    place: Place
    agent: str
    prompt: str
    update_ids: tuple[int, ...]
    started: float
    ended: float | None = None
    outcome: str = ""


class Turns:
    """The table of turns. Every method joins the caller's transaction."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(self, turn_id: str, place: Place, agent: str, prompt: str, update_ids: Sequence[int]) -> None:
        self._database.execute(
            "INSERT INTO turns (id, chat_id, topic_id, agent, prompt, updates, started) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                turn_id,
                place.chat_id,
                number_of(place),
                agent,
                prompt,
                json.dumps(list(update_ids)),
                self._clock.now(),
            ),
        )

    def add_updates(self, turn_id: str, update_ids: Sequence[int]) -> None:
        """These updates were given to the running turn too."""
        record = self.get(turn_id)
        if record:
            both = [*record.update_ids, *update_ids]
            self._database.execute("UPDATE turns SET updates = ? WHERE id = ?", (json.dumps(both), turn_id))

    def end(self, turn_id: str, outcome: str) -> None:
        self._database.execute(
            "UPDATE turns SET ended = ?, outcome = ? WHERE id = ? AND ended IS NULL",
            (self._clock.now(), outcome, turn_id),
        )

    def get(self, turn_id: str) -> TurnRecord | None:
        row = self._database.row("SELECT * FROM turns WHERE id = ?", (turn_id,))
        return _record(row) if row else None

    def unended(self) -> list[TurnRecord]:
        """Turns of a former life, oldest first."""
        return [_record(row) for row in self._database.rows("SELECT * FROM turns WHERE ended IS NULL ORDER BY started")]

    def last(self, place: Place) -> TurnRecord | None:
        row = self._database.row(
            "SELECT * FROM turns WHERE chat_id = ? AND topic_id = ? AND outcome != 'not begun'"
            " ORDER BY started DESC LIMIT 1",
            (place.chat_id, number_of(place)),
        )
        return _record(row) if row else None

    def count(self, place: Place) -> int:
        row = self._database.row(
            "SELECT count(*) AS turns FROM turns WHERE chat_id = ? AND topic_id = ? AND outcome != 'not begun'",
            (place.chat_id, number_of(place)),
        )
        return int(row["turns"]) if row else 0

    def prune(self) -> None:
        self._database.execute("DELETE FROM turns WHERE ended IS NOT NULL AND started < ?", (self._clock.now() - KEEP,))


def _record(row: Row) -> TurnRecord:
    return TurnRecord(
        id=row["id"],
        place=place_of(row),
        agent=row["agent"],
        prompt=row["prompt"],
        update_ids=tuple(json.loads(row["updates"])),
        started=row["started"],
        ended=row["ended"],
        outcome=row["outcome"],
    )
