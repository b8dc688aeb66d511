"""What database and chat say at the end: what was lost, and what was sent twice."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.simulator.calls import read_call
from bridge.simulator.http import Request, Response
from bridge.simulator.human import Human
from tests.soak.person import TOKEN

MARK = "⟳ may be a repeat"


@dataclass(frozen=True)
class Sent:
    """One ``sendMessage`` as the server took it. Buttons carry ids, so one message posted twice has them twice."""

    message_id: int
    topic: str
    text: str
    buttons: str

    @property
    def is_one_of_a_kind(self) -> bool:
        """Notices without a button or a task's token may rightly be the same several times."""
        return bool(self.buttons or TOKEN.search(self.text))


def sent_of(request: Request, response: Response) -> Sent | None:
    """The message that a call has made; None when it made none."""
    answer = json.loads(response.body or b"{}")
    if not answer.get("ok"):
        return None
    fields = read_call("sendMessage", request).fields
    return Sent(
        answer["result"]["message_id"],
        str(fields.get("message_thread_id", "")),
        str(fields.get("text", "")),
        str(fields.get("reply_markup") or ""),
    )


@dataclass(frozen=True)
class Ledger:
    """``unfinished``: updates still open; ``unsent``: those that never went out or are not there."""

    unfinished: int
    unsent: int
    repeats: int
    unmarked: Sequence[Sent]


def is_at_rest(database: Path) -> bool:
    """Every update is finished and every message is out."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        open_updates = connection.execute("SELECT count(*) FROM journal WHERE state != 'finished'").fetchone()[0]
        open_messages = connection.execute(
            "SELECT count(*) FROM outbox WHERE state NOT IN ('sent', 'failed')"
        ).fetchone()[0]
    return not open_updates and not open_messages


def read_ledger(database: Path, human: Human, sends: Sequence[Sent]) -> Ledger:
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
    return Ledger(unfinished, waiting + missing, len(repeats), unmarked_repeats(sends))


def unmarked_repeats(sends: Sequence[Sent]) -> list[Sent]:
    """Messages that were taken a second time just as they were. Two kills may make two repeats: those are marked."""
    alike: dict[tuple[str, str, str], list[Sent]] = defaultdict(list)
    for sent in sends:
        if sent.is_one_of_a_kind and MARK not in sent.text:
            alike[sent.topic, sent.text, sent.buttons].append(sent)
    return [sent for group in alike.values() for sent in group[1:]]
