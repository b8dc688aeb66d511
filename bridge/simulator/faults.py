"""Trouble on demand: what networks and servers do on a bad day, asked for by tests and by the demo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from fnmatch import fnmatchcase


class FaultKind(Enum):
    """``HANG`` and ``RESET`` strike before the call is taken; the ``LOST_*`` kinds after it was taken."""

    HANG = auto()
    RESET = auto()
    BAD_GATEWAY = auto()
    SERVER_ERROR = auto()
    DISK_FULL = auto()
    RATE_LIMIT = auto()
    HALF_BODY = auto()
    LOST_REPLY = auto()
    LOST_AND_HANG = auto()


TAKES_EFFECT = frozenset({FaultKind.HALF_BODY, FaultKind.LOST_REPLY, FaultKind.LOST_AND_HANG})


@dataclass(frozen=True, slots=True)
class Fault:
    """``method`` may hold wildcards ("send*"; "getFile:download" is the download itself).

    ``seconds``: how long a hang lasts (0 = until the client gives up), or the retry_after of a rate limit.
    ``times``: how often it strikes, 0 = until cleared. ``share``: the part of matching calls it strikes.
    """

    kind: FaultKind
    method: str = "*"
    seconds: float = 0.0
    times: int = 1
    share: float = 1.0


class Faults:
    """Faults that wait for their call. ``random`` gives a number in [0, 1) and is only asked for shares below 1."""

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._waiting: list[Fault] = []
        self.struck: list[tuple[str, FaultKind]] = []

    def add(self, fault: Fault) -> None:
        self._waiting.append(fault)

    def clear(self) -> None:
        self._waiting.clear()

    def strike(self, method: str) -> Fault | None:
        """The fault that hits this call, used up by it."""
        for at, fault in enumerate(self._waiting):
            if not fnmatchcase(method, fault.method):
                continue
            if fault.share < 1 and self._random() >= fault.share:
                continue
            if fault.times == 1:
                del self._waiting[at]
            elif fault.times > 1:
                self._waiting[at] = replace(fault, times=fault.times - 1)
            self.struck.append((method, fault.kind))
            return fault
        return None
