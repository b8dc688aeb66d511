"""What database and chat say at the end: what was lost, and what was sent twice."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bridge.simulator.human import Human
from tests.soak.person import TOKEN

MARK = "⟳ may be a repeat"


@dataclass(frozen=True)
class Ledger:
    """``unfinished``: updates still open; ``unsent``: those that never went out or are not there."""

    unfinished: int
    unsent: int
    repeats: int
    unmarked: int


def is_at_rest(database: Path) -> bool:
    """Every update is finished and every message is out."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        open_updates = connection.execute("SELECT count(*) FROM journal WHERE state != 'finished'").fetchone()[0]
        open_messages = connection.execute(
            "SELECT count(*) FROM outbox WHERE state NOT IN ('sent', 'failed')"
        ).fetchone()[0]
    return not open_updates and not open_messages


def read_ledger(database: Path, human: Human) -> Ledger:
    connection = sqlite3.connect(database)
    unfinished = connection.execute("SELECT count(*) FROM journal WHERE state != 'finished'").fetchone()[0]
    waiting = connection.execute(
        "SELECT count(*) FROM outbox WHERE state IN ('queued', 'sending', 'unknown', 'parked', 'failed')"
    ).fetchone()[0]
    recorded = {row[0] for row in connection.execute("SELECT message_id FROM outbox_sent")}
    connection.close()
    there = {message.id: message for message in human.all_messages() if message.is_bot and not message.service}
    missing = len(recorded - set(there))
    repeats = [message for message in there.values() if MARK in message.text]
    # A message that is there and not recorded was under way at a kill: if it came again, that one must be marked.
    # Texts without a task's token (notices) may rightly be the same several times.
    unrecorded = [m for number, m in there.items() if number not in recorded and TOKEN.search(m.text)]
    texts = Counter((message.topic, message.text) for message in there.values())
    unmarked = sum(1 for message in unrecorded if texts[message.topic, message.text] > 1)
    return Ledger(unfinished, waiting + missing, len(repeats), unmarked)
