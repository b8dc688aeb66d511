"""What database and chat say at the end: what was lost, and what was sent twice."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bridge.simulator.human import Human

MARK = "⟳ may be a repeat"


@dataclass(frozen=True)
class Ledger:
    """``unfinished``: updates still open; ``unsent``: those that never went out or are not there."""

    unfinished: int
    unsent: int
    repeats: int
    unmarked: int


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
    unrecorded = [message for number, message in there.items() if number not in recorded]
    texts = Counter((message.topic, message.text) for message in there.values())
    unmarked = sum(1 for message in unrecorded if texts[message.topic, message.text] > 1)
    return Ledger(unfinished, waiting + missing, len(repeats), unmarked)
