"""What is left of the account's allowance, as far as Codex has ever told. Pure.

With API keys and custom providers every field comes as null after each answer: null means "not told", so it never
overwrites what is known (measured on Codex 0.171.0).
"""

from __future__ import annotations

from datetime import datetime

from agents.codex.wire.events import Limits, LimitWindow
from agents.contract import AgentEvent, Quota, QuotaWindow


class KnownLimits:
    """The latest windows."""

    def __init__(self) -> None:
        self._windows: dict[str, LimitWindow] = {}
        self._told: Quota | None = None

    @property
    def resets_at(self) -> datetime | None:
        """When the fullest window is reset."""
        full = max(self._windows.values(), key=lambda window: window.used, default=None)
        return full.resets_at if full else None

    def learn(self, event: Limits) -> list[AgentEvent]:
        """The allowance when something about it is new."""
        for name, window in (("primary", event.primary), ("secondary", event.secondary)):
            if window is not None:
                self._windows[name] = window
        if not self._windows:
            return []
        is_exhausted = event.is_reached or any(window.used >= 100 for window in self._windows.values())
        quota = Quota(tuple(_window(name, window) for name, window in self._windows.items()), is_exhausted)
        if quota == self._told:
            return []
        self._told = quota
        return [quota]


def _window(name: str, window: LimitWindow) -> QuotaWindow:
    return QuotaWindow(_length(window.minutes) or name, window.used / 100, window.resets_at)


def _length(minutes: int | None) -> str:
    if not minutes:
        return ""
    if minutes % 1440 == 0:
        return f"{minutes // 1440} d"
    return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"
