"""A running simulator behind the page, in a thread of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bridge.simulator import UNLIMITED, Human, Limits, Simulator
from tests.phone.backstage import Backstage


class Served(Backstage):
    """The simulator and its owner."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self.simulator = Simulator(limits=limits)
        self.run(self.simulator.start())
        self.human = Human(self.simulator)

    def close(self) -> None:
        self.run(self.simulator.stop())
        self.end()


@contextmanager
def served(limits: Limits = UNLIMITED) -> Iterator[Served]:
    """A running simulator."""
    one = Served(limits)
    try:
        yield one
    finally:
        one.close()
