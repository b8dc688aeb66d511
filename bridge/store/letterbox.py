"""The outbox's rows: every letter as it stands, which message is which letter, and the flood waits.

All methods join the caller's open transaction and raise StoreError.
"""

from __future__ import annotations

import json
import sqlite3

from bridge.clock import Clock
from bridge.delivery import MessageClass
from bridge.inbound import Place
from bridge.letters import Letter, LetterState, dump_files, dump_keyboard, load_files, load_keyboard
from bridge.markdown.part import Part
from bridge.store.database import Database

KEEP = 30 * 24 * 3600.0
"""Seconds a sent message can still be found by its id."""

_COLUMNS = (
    "id, key, chat_id, topic_id, klass, html, text, keyboard, rings, reply_to, files, rest,"
    " state, repeats, message_id, is_edit, shown, failure, posted, changed"
)
_SAVE = (
    f"INSERT OR REPLACE INTO outbox ({_COLUMNS}) VALUES"  # noqa: S608 - constant columns
    " (:id, :key, :chat_id, :topic_id, :klass, :html, :text, :keyboard, :rings, :reply_to, :files, :rest,"
    " :state, :repeats, :message_id, :is_edit, :shown, :failure, :now, :now)"
)


class Letterbox:
    """Reads and writes letters."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def next_id(self) -> int:
        """One more than any id ever given."""
        row = self._database.row("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'")
        return int(row["seq"]) + 1 if row else 1

    def save(self, letter: Letter) -> None:
        """Write the letter as it stands; the text of a finished one is forgotten."""
        keeps_text = letter.is_open or letter.state is LetterState.PARKED
        self._database.execute(
            _SAVE,
            {
                "id": letter.id,
                "key": letter.key,
                "chat_id": letter.place.chat_id,
                "topic_id": letter.place.topic_id,
                "klass": int(letter.klass),
                "html": letter.part.html if keeps_text else "",
                "text": letter.part.text if keeps_text else "",
                "keyboard": dump_keyboard(letter.keyboard) if keeps_text else "[]",
                "rings": letter.rings,
                "reply_to": letter.reply_to,
                "files": dump_files(letter.files) if keeps_text else "[]",
                "rest": json.dumps(letter.rest, ensure_ascii=False),
                "state": letter.state.value,
                "repeats": letter.repeats,
                "message_id": letter.message_id,
                "is_edit": letter.is_edit,
                "shown": letter.shown,
                "failure": letter.failure,
                "now": self._clock.now(),
            },
        )

    def save_sent(self, letter: Letter, message_id: int) -> None:
        """Write the letter and which message shows it, in one commit."""
        with self._database.transaction():
            self.save(letter)
            self._database.execute(
                "INSERT OR REPLACE INTO outbox_sent (chat_id, message_id, key, sent) VALUES (?, ?, ?, ?)",
                (letter.place.chat_id, message_id, letter.key, self._clock.now()),
            )

    def remove(self, letter: Letter) -> None:
        """Forget a letter that was never sent."""
        self._database.execute("DELETE FROM outbox WHERE key = ?", (letter.key,))

    def find(self, key: str) -> Letter | None:
        """A letter in whatever state; a sent one without its text."""
        row = self._database.row("SELECT * FROM outbox WHERE key = ?", (key,))
        return _letter(row) if row else None

    def open_letters(self) -> list[Letter]:
        """What a former life left to do, in the order of posting."""
        rows = self._database.rows(
            "SELECT * FROM outbox WHERE state IN ('queued', 'sending', 'unknown', 'parked') OR is_edit = 1 ORDER BY id"
        )
        return [_letter(row) for row in rows]

    def key_of(self, chat_id: int, message_id: int) -> str | None:
        """Which letter a message shows."""
        row = self._database.row(
            "SELECT key FROM outbox_sent WHERE chat_id = ? AND message_id = ?", (chat_id, message_id)
        )
        return str(row["key"]) if row else None

    def move_chat(self, old: int, new: int) -> None:
        """The chat has a new id, and none of its message ids means anything any more."""
        with self._database.transaction():
            self._database.execute("UPDATE outbox SET chat_id = ?, message_id = NULL WHERE chat_id = ?", (new, old))
            self._database.execute("DELETE FROM outbox_sent WHERE chat_id = ?", (old,))
            self._database.execute("DELETE FROM floods WHERE chat_id = ?", (old,))

    def recent_calls(self, seconds: float) -> list[tuple[int, float]]:
        """Chat and wall-clock time of the calls of the last ``seconds``, oldest first; each message counts once."""
        since = self._clock.now() - seconds
        rows = self._database.rows(
            "SELECT chat_id, sent AS at FROM outbox_sent WHERE sent > ? UNION ALL"
            " SELECT chat_id, changed AS at FROM outbox WHERE changed > ? AND state = 'sent' AND message_id NOT IN"
            " (SELECT message_id FROM outbox_sent WHERE sent > ?) ORDER BY at",
            (since, since, since),
        )
        return [(row["chat_id"], row["at"]) for row in rows]

    def save_flood(self, chat_id: int, until: float, scale: float) -> None:
        """Leave a chat alone until then (wall clock), also after a restart."""
        self._database.execute(
            "INSERT OR REPLACE INTO floods (chat_id, until, scale) VALUES (?, ?, ?)", (chat_id, until, scale)
        )

    def floods(self) -> dict[int, tuple[float, float]]:
        """For each chat until when (wall clock) and what its budget has learned."""
        rows = self._database.rows("SELECT chat_id, until, scale FROM floods")
        return {row["chat_id"]: (row["until"], row["scale"]) for row in rows}

    def prune(self) -> None:
        """Forget what was sent or has failed long ago."""
        before = self._clock.now() - KEEP
        with self._database.transaction():
            self._database.execute(
                "DELETE FROM outbox WHERE state IN ('sent', 'failed') AND is_edit = 0 AND changed < ?", (before,)
            )
            self._database.execute("DELETE FROM outbox_sent WHERE sent < ?", (before,))


def _letter(row: sqlite3.Row) -> Letter:
    return Letter(
        id=row["id"],
        key=row["key"],
        place=Place(row["chat_id"], row["topic_id"]),
        klass=MessageClass(row["klass"]),
        part=Part(row["html"], row["text"]),
        keyboard=load_keyboard(row["keyboard"]),
        rings=bool(row["rings"]),
        reply_to=row["reply_to"],
        files=load_files(row["files"]),
        rest=tuple(json.loads(row["rest"])),
        state=LetterState(row["state"]),
        repeats=row["repeats"],
        message_id=row["message_id"],
        is_edit=bool(row["is_edit"]),
        shown=row["shown"],
        failure=row["failure"],
    )
