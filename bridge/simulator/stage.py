"""What the demo puts before the person at the start: which agents there are, and what happens when one is chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bridge.simulator.errors import bad_request
from bridge.simulator.feed import Feed, Kind


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """An agent that can be tried. ``note`` says in a few words what it is; ``name`` is what the callback gets."""

    name: str
    title: str
    note: str = ""


class Stage:
    """Without an offer the page opens at once; with one it asks first."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._choices: tuple[AgentChoice, ...] = ()
        self._choose: Callable[[str], Awaitable[None]] | None = None
        self.chosen = ""

    def offer(self, choices: Sequence[AgentChoice], choose: Callable[[str], Awaitable[None]]) -> None:
        """Ask the person; ``choose`` is awaited with the name and may raise HubError or ValueError to refuse."""
        self._choices, self._choose, self.chosen = tuple(choices), choose, ""
        self._feed.publish(Kind.STAGE, 0, self.view())

    async def choose(self, name: str) -> None:
        """The person has chosen; raises 400 for an agent that was not offered."""
        if self._choose is None or name not in {choice.name for choice in self._choices}:
            raise bad_request("no such agent")
        await self._choose(name)
        self.chosen = name
        self._feed.publish(Kind.STAGE, 0, self.view())

    def view(self) -> dict[str, Any]:
        return {"agents": [asdict(choice) for choice in self._choices], "chosen": self.chosen}
