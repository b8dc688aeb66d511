"""The hub's state at a glance, as frozen values for tray, window, command line and tests. No Qt, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bridge.texts import tr, trn


class Light(StrEnum):
    """What the tray shows, the most urgent first. Each has a shape and a colour of its own."""

    ERROR = "error"
    LOCKED = "locked"
    WAITING = "waiting"
    PAUSED = "paused"
    CONNECTING = "connecting"
    CONNECTED = "connected"


@dataclass(frozen=True, slots=True)
class HubView:
    """A snapshot. ``problem``/``hint`` are sentences ("" = fine); ``waiting`` counts open requests and questions.

    ``waits`` names the first of them ("topic: what it wants") for the tray's menu. ``has_lock``: it is switched on.
    """

    is_connected: bool = False
    is_paused: bool = False
    is_locked: bool = False
    has_lock: bool = False
    waiting: int = 0
    waits: tuple[str, ...] = ()
    running: int = 0
    problem: str = ""
    hint: str = ""

    @property
    def light(self) -> Light:
        if self.problem:
            return Light.ERROR
        if self.is_locked:
            return Light.LOCKED
        if self.waiting:
            return Light.WAITING
        if self.is_paused:
            return Light.PAUSED
        return Light.CONNECTED if self.is_connected else Light.CONNECTING

    @property
    def sentence(self) -> str:
        """One line for tooltip and menu; under 128 characters, which is all that Windows shows."""
        match self.light:
            case Light.ERROR:
                text = self.problem
            case Light.LOCKED:
                text = tr("Locked: send /unlock CODE")
            case Light.WAITING:
                text = trn("{count} request waits for you", "{count} requests wait for you", self.waiting)
            case Light.PAUSED:
                text = tr("Paused: no new turns start")
            case Light.CONNECTING:
                text = tr("Connecting to Telegram…")
            case Light.CONNECTED:
                text = (
                    trn("Connected, {count} turn runs", "Connected, {count} turns run", self.running)
                    if self.running
                    else tr("Connected")
                )
        return text if len(text) < 128 else text[:126] + "…"
