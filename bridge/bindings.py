"""Which agent, folder and session belong to which topic, kept across restarts. Event loop's thread only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from sqlite3 import Row

from agents.contract import SessionId
from bridge.clock import Clock
from bridge.config import Verbosity
from bridge.inbound import Place
from bridge.store import Database

GENERAL = 0
"""How General is written in the database; no topic has this number."""


class TopicState(StrEnum):
    """open: works; closed: closed in Telegram; lost: deleted, its session is parked."""

    OPEN = "open"
    CLOSED = "closed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Binding:
    """``session_id`` None: the next text begins a new session. ``topic_key`` outlives agents and sessions.

    ``held_notice`` is the key of the message that offers texts which were not run, "" when there is none.
    ``parked_turn`` goes on by itself at ``parked_until`` (wall clock, seconds); "": nothing is parked.
    """

    place: Place
    topic_key: str
    agent: str
    cwd: Path
    session_id: SessionId | None = None
    model: str | None = None
    mode: str | None = None
    effort: str | None = None
    verbosity: Verbosity | None = None
    title: str = ""
    is_named_by_hand: bool = False
    state: TopicState = TopicState.OPEN
    held_notice: str = ""
    parked_turn: str = ""
    parked_until: float = 0.0
    touched: float = 0.0

    def afresh(self, *, agent: str | None = None, cwd: Path | None = None) -> Binding:
        """The same topic without a past; another agent forgets the choices that only the former one knew."""
        if agent is None or agent == self.agent:
            return replace(self, cwd=cwd or self.cwd, session_id=None)
        return replace(self, agent=agent, cwd=cwd or self.cwd, session_id=None, model=None, mode=None, effort=None)


class Bindings:
    """The table of topics."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    def get(self, place: Place) -> Binding | None:
        row = self._database.row(
            "SELECT * FROM topics WHERE chat_id = ? AND topic_id = ?", (place.chat_id, number_of(place))
        )
        return _binding(row) if row else None

    def make(self, place: Place, agent: str, cwd: Path, *, title: str = "", is_named_by_hand: bool = False) -> Binding:
        """A new topic's binding, stored."""
        key = "t" + "".join(letter for letter in self._new_id().lower() if letter.isascii() and letter.isalnum())
        return self.put(
            Binding(place, key, agent, cwd, title=title, is_named_by_hand=is_named_by_hand, touched=self._clock.now())
        )

    def put(self, binding: Binding) -> Binding:
        """Store a changed binding; joins the caller's transaction. Returns it with ``touched`` set to now."""
        binding = replace(binding, touched=self._clock.now())
        self._database.execute(
            "INSERT OR REPLACE INTO topics (chat_id, topic_id, topic_key, agent, cwd, session_id, model, mode, effort,"
            " verbosity, title, is_named_by_hand, state, held_notice, parked_turn, parked_until, touched)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                binding.place.chat_id,
                number_of(binding.place),
                binding.topic_key,
                binding.agent,
                str(binding.cwd),
                binding.session_id,
                binding.model,
                binding.mode,
                binding.effort,
                binding.verbosity.value if binding.verbosity else None,
                binding.title,
                binding.is_named_by_hand,
                binding.state.value,
                binding.held_notice,
                binding.parked_turn,
                binding.parked_until,
                binding.touched,
            ),
        )
        return binding

    def forget(self, place: Place) -> None:
        """The topic is gone and its session belongs to another one now."""
        self._database.execute(
            "DELETE FROM topics WHERE chat_id = ? AND topic_id = ?", (place.chat_id, number_of(place))
        )

    def all(self) -> list[Binding]:
        """Every topic, the one used last first."""
        return [_binding(row) for row in self._database.rows("SELECT * FROM topics ORDER BY touched DESC")]

    def recent_folders(self, limit: int = 6) -> list[Path]:
        """Folders of the topics used last, each once."""
        rows = self._database.rows("SELECT cwd FROM topics GROUP BY cwd ORDER BY max(touched) DESC LIMIT ?", (limit,))
        return [Path(row["cwd"]) for row in rows]

    def move_chat(self, old_chat_id: int, new_chat_id: int) -> bool:
        """Rewrite a chat's id everywhere in the hub's own tables; False when it was done before."""
        with self._database.transaction():
            done = self._database.row("SELECT 1 FROM moved_chats WHERE old_chat_id = ?", (old_chat_id,))
            if done:
                return False
            self._database.execute("INSERT INTO moved_chats VALUES (?, ?)", (old_chat_id, new_chat_id))
            for table in ("topics", "turns", "buttons"):
                self._database.execute(
                    f"UPDATE OR IGNORE {table} SET chat_id = ? WHERE chat_id = ?",  # noqa: S608 - three constants
                    (new_chat_id, old_chat_id),
                )
        return True

    def move_topic(self, old: Place, new: Place) -> None:
        """The session of a lost topic goes on in another one: its turns and its buttons belong there now."""
        with self._database.transaction():
            for table in ("turns", "buttons"):
                self._database.execute(
                    f"UPDATE {table} SET chat_id = ?, topic_id = ? WHERE chat_id = ? AND topic_id = ?",  # noqa: S608 - two constants
                    (new.chat_id, number_of(new), old.chat_id, number_of(old)),
                )

    def holder(self, agent: str, session_id: str) -> Binding | None:
        """The topic that works with a session, None when none does (a deleted topic does not)."""
        return next(
            (
                binding
                for binding in self.all()
                if binding.session_id == session_id and binding.agent == agent and binding.state is not TopicState.LOST
            ),
            None,
        )

    def moved_chats(self) -> dict[int, int]:
        """Old chat id to new chat id, of all upgrades seen so far."""
        return {row["old_chat_id"]: row["new_chat_id"] for row in self._database.rows("SELECT * FROM moved_chats")}


def number_of(place: Place) -> int:
    """A place's topic as it is written in the database."""
    return place.topic_id or GENERAL


def place_of(row: Row) -> Place:
    return Place(row["chat_id"], row["topic_id"] or None)


def _binding(row: Row) -> Binding:
    return Binding(
        place=place_of(row),
        topic_key=row["topic_key"],
        agent=row["agent"],
        cwd=Path(row["cwd"]),
        session_id=row["session_id"],
        model=row["model"],
        mode=row["mode"],
        effort=row["effort"],
        verbosity=Verbosity(row["verbosity"]) if row["verbosity"] else None,
        title=row["title"],
        is_named_by_hand=bool(row["is_named_by_hand"]),
        state=TopicState(row["state"]),
        held_notice=row["held_notice"],
        parked_turn=row["parked_turn"],
        parked_until=row["parked_until"],
        touched=row["touched"],
    )
