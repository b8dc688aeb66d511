"""How many messages a turn may post on its way (verbosity "full"): what a group bears and a person reads. Pure.

A build can print more than a chat takes in an hour. All topics share about 20 calls a minute (``bridge.budget``), and
the end of the turn must not wait behind its outputs; the whole is in the turn's log at any rate.
"""

from __future__ import annotations

BURST = 6
EVERY = 10.0
"""Seconds for one more message, for each busy topic of the hub."""
MOST = 40
"""Messages of one turn; beyond it /log is the better reading."""


class Trickle:
    """One turn's allowance. ``left_out`` counts what did not fit since it was last told."""

    __slots__ = ("_at", "_posted", "_tokens", "left_out", "missing")

    def __init__(self, now: float) -> None:
        self._at = now
        self._tokens = float(BURST)
        self._posted = 0
        self.left_out = 0
        self.missing = 0
        """Everything of the turn that did not fit."""

    def take(self, now: float, busy_topics: int) -> bool:
        """Whether one more message may be posted now; counted either way."""
        self._tokens = min(float(BURST), self._tokens + (now - self._at) / (EVERY * max(busy_topics, 1)))
        self._at = now
        if self._tokens < 1 or self._posted >= MOST:
            self.left_out += 1
            self.missing += 1
            return False
        self._tokens -= 1
        self._posted += 1
        return True

    def told(self) -> int:
        """How many were left out since the last message; it says so now."""
        count, self.left_out = self.left_out, 0
        return count
