"""What agents say they spend, kept for the caps of the settings. An agent that tells nothing can't be capped.

Money and tokens are counted as told; nothing is estimated. A day is the computer's own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from agents.contract import Usage
from bridge.clock import Clock
from bridge.config import LimitSettings
from bridge.store import Database
from bridge.texts import tr

WARN_AT = 0.8
KEEP_DAYS = 60


class Scope(StrEnum):
    """What a cap is for."""

    TURN = "turn"
    SESSION = "session"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars and tokens (input and output)."""

    cost: float = 0.0
    tokens: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.cost + other.cost, self.tokens + other.tokens)


@dataclass(frozen=True, slots=True)
class Reading:
    """How much of one cap is used: ``share`` 1.0 = all of it; ``text`` says it for a person."""

    scope: Scope
    share: float
    text: str

    @property
    def is_reached(self) -> bool:
        return self.share >= 1.0


def spent(usage: Usage | None) -> Spent:
    """What a turn told of itself."""
    if usage is None:
        return Spent()
    return Spent(usage.cost_usd or 0.0, (usage.input_tokens or 0) + (usage.output_tokens or 0))


def readings(limits: LimitSettings, turn: Spent, session: Spent, day: Spent) -> Iterator[Reading]:
    """Every cap that is set, with what is used of it; ``session`` and ``day`` include the turn."""
    for scope, used in ((Scope.TURN, turn), (Scope.SESSION, session), (Scope.DAY, day)):
        dollars, tokens = limits.of(scope.value)
        if dollars:
            yield Reading(scope, used.cost / dollars, f"${used.cost:.2f} / ${dollars:.2f}")
        if tokens:
            yield Reading(scope, used.tokens / tokens, tr("{used} / {limit} tokens", used=used.tokens, limit=tokens))


class Ledger:
    """The table of what ended turns have cost. ``told`` remembers which warnings were given."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.told: set[str] = set()
        self.running: dict[str, Spent] = {}
        """What running turns have cost so far: several topics may use up one day together."""

    @property
    def today(self) -> str:
        return time.strftime("%Y-%m-%d", time.localtime(self._clock.now()))

    def add(self, agent: str, session_id: str, cost: Spent) -> None:
        """A turn is over; joins the caller's transaction."""
        if cost == Spent():
            return
        oldest = time.strftime("%Y-%m-%d", time.localtime(self._clock.now() - KEEP_DAYS * 86400))
        with self._database.transaction():
            self._database.execute("DELETE FROM spend WHERE day < ?", (oldest,))
            self._database.execute(
                "INSERT INTO spend (day, agent, session_id, cost, tokens, ended) VALUES (?, ?, ?, ?, ?, ?)",
                (self.today, agent, session_id, cost.cost, cost.tokens, self._clock.now()),
            )

    def of_day(self) -> Spent:
        """Everything spent today, all topics and agents."""
        return self._sum("day = ?", (self.today,))

    def of_others(self, turn_id: str) -> Spent:
        """What the other running turns have cost so far."""
        return sum((cost for other, cost in self.running.items() if other != turn_id), Spent())

    def of_session(self, agent: str, session_id: str) -> Spent:
        return self._sum("agent = ? AND session_id = ?", (agent, session_id))

    def by_session(self) -> dict[tuple[str, str], float]:
        """Dollars of every session that told what it spends, by agent and session id."""
        rows = self._database.rows(
            "SELECT agent, session_id, total(cost) AS cost FROM spend GROUP BY agent, session_id"
        )
        return {(row["agent"], row["session_id"]): float(row["cost"]) for row in rows if row["cost"]}

    def _sum(self, where: str, values: tuple[str, ...]) -> Spent:
        row = self._database.row(
            f"SELECT total(cost) AS cost, total(tokens) AS tokens FROM spend WHERE {where}",  # noqa: S608 - two constants
            values,
        )
        return Spent(row["cost"], int(row["tokens"])) if row else Spent()
