"""The journal of updates: written to the disk before Telegram is told that they were taken.

An update is *received*, then *handed* (an agent was given it) or *finished* (nothing more will come of it). A handed,
unfinished one is never run again by itself after a crash.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bridge.clock import Clock
from bridge.inbound import Place
from bridge.store.database import Database

KEEP = 14 * 24 * 3600.0
"""Seconds a finished update's number is remembered; Telegram redelivers for one day at most."""


class UpdateState(StrEnum):
    """How far an update has come."""

    RECEIVED = "received"
    HANDED = "handed"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An update as it came. ``received`` is the wall clock of its first delivery, in seconds."""

    update_id: int
    received: float
    state: UpdateState
    body: Mapping[str, object]


class Journal:
    """Remembers every update until it is finished, and its number for two weeks."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def record(self, updates: Sequence[Mapping[str, object]]) -> list[JournalEntry]:
        """Write a batch durably; returns those never seen before, in their order.

        An update without a number can't be confirmed and is left out. Raises StoreError: confirm nothing then.
        """
        now = self._clock.now()
        rows = [
            (update_id, now, json.dumps(update, ensure_ascii=False, separators=(",", ":")), now)
            for update in updates
            if isinstance(update_id := update.get("update_id"), int)
        ]
        if not rows:
            return []
        fresh = await self._database.durably(lambda connection: insert_new(connection, rows))
        return [
            JournalEntry(update_id, now, UpdateState.RECEIVED, update)
            for update in updates
            if isinstance(update_id := update.get("update_id"), int) and update_id in fresh
        ]

    def hand(self, update_ids: Iterable[int]) -> None:
        """An agent has been given what these updates say. Joins the caller's transaction."""
        self._set(update_ids, UpdateState.HANDED)

    def finish(self, update_ids: Iterable[int]) -> None:
        """Nothing more will come of these updates; their text is forgotten. Joins the caller's transaction."""
        self._set(update_ids, UpdateState.FINISHED)

    def take_back(self, update_ids: Iterable[int]) -> None:
        """The agent did not get these after all: they wait again. Joins the caller's transaction."""
        with self._database.transaction():
            for update_id in update_ids:
                self._database.execute(
                    "UPDATE journal SET state = 'received', changed = ? WHERE update_id = ? AND state = 'handed'",
                    (self._clock.now(), update_id),
                )

    def move(self, update_ids: Iterable[int], place: Place) -> None:
        """What these updates say belongs to another place now. Joins the caller's transaction."""
        with self._database.transaction():
            for update_id in update_ids:
                self._database.execute(
                    "INSERT OR REPLACE INTO moved_updates (update_id, chat_id, topic_id) VALUES (?, ?, ?)",
                    (update_id, place.chat_id, place.topic_id),
                )

    def moved(self) -> dict[int, Place]:
        """Updates that belong to another place than the one they came from."""
        rows = self._database.rows("SELECT update_id, chat_id, topic_id FROM moved_updates")
        return {row["update_id"]: Place(row["chat_id"], row["topic_id"]) for row in rows}

    def unfinished(self) -> list[JournalEntry]:
        """What a former life left open, in the order of arrival."""
        rows = self._database.rows(
            "SELECT update_id, received, state, body FROM journal WHERE state != 'finished' ORDER BY update_id"
        )
        return [
            JournalEntry(row["update_id"], row["received"], UpdateState(row["state"]), json.loads(row["body"]))
            for row in rows
        ]

    def state_of(self, update_id: int) -> UpdateState | None:
        """How far one update has come; None when it is unknown."""
        row = self._database.row("SELECT state FROM journal WHERE update_id = ?", (update_id,))
        return UpdateState(row["state"]) if row else None

    def last_id(self) -> int | None:
        """The highest number recorded within the last week.

        After a quiet week Telegram counts from a new random number, so an older one says nothing.
        """
        row = self._database.row(
            "SELECT update_id FROM journal WHERE received > ? ORDER BY received DESC, update_id DESC LIMIT 1",
            (self._clock.now() - 6 * 24 * 3600,),
        )
        return int(row["update_id"]) if row else None

    def note_poll(self) -> None:
        """Telegram answered a poll now. A crash may lose the last notes; a minute more or less does not matter."""
        self._database.execute("INSERT OR REPLACE INTO polling (id, answered) VALUES (1, ?)", (self._clock.now(),))

    def last_received(self) -> float | None:
        """Wall clock of the newest update that is remembered."""
        row = self._database.row("SELECT max(received) AS at FROM journal")
        return None if row is None or row["at"] is None else float(row["at"])

    def last_poll(self) -> float | None:
        """When Telegram last answered a poll (wall clock), None before the first one."""
        row = self._database.row("SELECT answered FROM polling")
        return float(row["answered"]) if row else None

    def prune(self) -> int:
        """Forget finished updates older than ``KEEP``; returns how many."""
        self._database.execute(
            "DELETE FROM moved_updates WHERE update_id NOT IN (SELECT update_id FROM journal WHERE state != 'finished')"
        )
        return self._database.execute(
            "DELETE FROM journal WHERE state = 'finished' AND received < ?", (self._clock.now() - KEEP,)
        )

    def _set(self, update_ids: Iterable[int], state: UpdateState) -> None:
        body = ", body = ''" if state is UpdateState.FINISHED else ""
        with self._database.transaction():
            for update_id in update_ids:
                self._database.execute(
                    f"UPDATE journal SET state = ?, changed = ?{body} WHERE update_id = ? AND state != 'finished'",  # noqa: S608 - the variable part is one of two constants
                    (state.value, self._clock.now(), update_id),
                )


def insert_new(connection: sqlite3.Connection, rows: Sequence[tuple[int, float, str, float]]) -> set[int]:
    """Insert what is not there yet; the numbers that were new."""
    fresh = set()
    for row in rows:
        cursor = connection.execute(
            "INSERT INTO journal (update_id, received, body, changed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row
        )
        if cursor.rowcount:
            fresh.add(row[0])
    return fresh
