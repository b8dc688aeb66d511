"""The adapters of all kinds, each imported and made when it is first asked for.

Five kinds are half as much code again as the rest of the hub: a start must not wait for those that nobody uses. Safe
from several threads, so that ``warm`` may make the rest in the background.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from agents.contract import AgentBackend


class DeferredBackends(Mapping[str, AgentBackend]):
    """``make`` gives the adapter of one kind."""

    def __init__(self, kinds: Sequence[str], make: Callable[[str], AgentBackend]) -> None:
        self._kinds = tuple(kinds)
        self._make = make
        self._made: dict[str, AgentBackend] = {}
        self._lock = threading.RLock()

    def __getitem__(self, kind: str) -> AgentBackend:
        with self._lock:
            if kind not in self._made:
                if kind not in self._kinds:
                    raise KeyError(kind)
                self._made[kind] = self._make(kind)
            return self._made[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def made(self) -> tuple[AgentBackend, ...]:
        """Those that exist: only they can hold a process."""
        with self._lock:
            return tuple(self._made.values())

    def warm(self) -> None:
        """Make all of them; the lock is free between two, so that whoever needs one now waits for one at most."""
        for kind in self._kinds:
            self[kind]
