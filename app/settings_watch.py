"""Notices a settings file that was changed by hand: harmless changes apply at once, the others wait for a yes.

An agent runs with the user's rights and could write this file; so whoever may use the hub, where it works, its policy
and its lock never change by the file alone while the hub runs (only at the next start, or by a click in the window).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.contract import HubError
from app.settings import Settings, load
from app.settings_fields import changed, current, is_protected
from bridge.clock import Clock

log = logging.getLogger(__name__)

LOOK_EVERY = 5.0
"""Seconds between two looks at the file's stamp."""


@dataclass(frozen=True, slots=True)
class PendingChange:
    """A change that waits for a yes; both values as they stand in the file."""

    name: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Found:
    """``applied`` is what may be used now; ``pending`` what waits; ``problem`` why the file can't be read."""

    applied: Settings
    pending: tuple[PendingChange, ...] = ()
    problem: HubError | None = None


def weigh(in_force: Settings, in_file: Settings) -> Found:
    """Split a new file into what applies and what waits. Pure."""
    names = list(changed(in_force, in_file))
    pending = tuple(
        PendingChange(name, str(current(in_force, name)), str(current(in_file, name)))
        for name in names
        if is_protected(name)
    )
    own = {name: getattr(in_force, name).model_copy() for name in ("policy", "lock", "limits", "voice")}
    own_changed = in_force.policy.own != in_file.policy.own
    if own_changed:
        pending = (*pending, PendingChange("policy.own", str(dict(in_force.policy.own)), str(dict(in_file.policy.own))))
    telegram = in_file.telegram.model_copy(update={"chats": in_force.telegram.chats, "users": in_force.telegram.users})
    workspace = in_file.workspace.model_copy(update={"roots": in_force.workspace.roots})
    return Found(in_file.model_copy(update={"telegram": telegram, "workspace": workspace, **own}), pending)


class SettingsWatch:
    """Looks at one file; ``on_found`` hears of each change, in the loop's thread."""

    def __init__(self, file: Path, in_force: Callable[[], Settings], on_found: Callable[[Found], None]) -> None:
        self._file = file
        self._in_force = in_force
        self._on_found = on_found
        self._stamp = stamp(file)

    async def run(self, clock: Clock) -> None:
        """Watch until cancelled."""
        while True:
            await clock.sleep(LOOK_EVERY)
            await self.look()

    async def look(self) -> None:
        """One look; reads the file only when its stamp differs."""
        now = await asyncio.to_thread(stamp, self._file)
        if now == self._stamp:
            return
        self._stamp = now
        try:
            found = weigh(self._in_force(), await asyncio.to_thread(load, self._file))
        except HubError as error:
            log.warning("the changed settings are not used: %s", error.title)
            found = Found(self._in_force(), problem=error)
        self._on_found(found)


def stamp(file: Path) -> tuple[int, int]:
    """Changes whenever the file does; (0, 0) when there is none."""
    try:
        facts = file.stat()
    except OSError:
        return (0, 0)
    return facts.st_mtime_ns, facts.st_size
