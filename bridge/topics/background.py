"""What an agent left running beside its turns, and for how long that keeps its session awake. Pure state."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contract import BackgroundTask


class Background:
    """The background tasks of one topic's session; times in monotonic seconds."""

    def __init__(self) -> None:
        self.tasks: tuple[BackgroundTask, ...] = ()
        self._since: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self.tasks)

    def are(self, tasks: Sequence[BackgroundTask], now: float) -> None:
        """The whole set that runs now."""
        self.tasks = tuple(tasks)
        self._since = {task.id: self._since.get(task.id, now) for task in tasks}

    def awake_until(self, limit: float) -> float:
        """When the last of them will have run for ``limit`` seconds; long ago when nothing runs."""
        return max((since + limit for since in self._since.values()), default=0.0)

    def forget(self) -> tuple[BackgroundTask, ...]:
        """They ended with their session; returns which."""
        tasks, self.tasks, self._since = self.tasks, (), {}
        return tasks
