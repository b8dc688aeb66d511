"""Notices a settings file that was changed by hand: harmless changes apply at once, the others wait for a yes.

An agent runs with the user's rights and could write this file; so who may use the hub, where the token goes, where and
how agents are started, policy and lock never change by the file alone while the hub runs (only at the next start, or by
a click in the window).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.contract import HubError
from app.settings import Settings, load
from app.settings_fields import PROTECTED, PROTECTED_WHOLE, changed, current, is_protected
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
    """``applied`` is what may be used now; ``pending`` what waits; ``problem`` why the file can't be read.

    ``in_file``: what was looked at.
    """

    applied: Settings
    pending: tuple[PendingChange, ...] = ()
    problem: HubError | None = None
    in_file: Settings | None = None


def weigh(in_force: Settings, in_file: Settings) -> Found:
    """Split a new file into what applies and what waits. Pure."""
    names = list(changed(in_force, in_file))
    pending = tuple(
        PendingChange(name, str(current(in_force, name)), str(current(in_file, name)))
        for name in names
        if is_protected(name)
    )
    if in_force.policy.own != in_file.policy.own:
        pending = (*pending, PendingChange("policy.own", str(dict(in_force.policy.own)), str(dict(in_file.policy.own))))
    pending = (*pending, *agents_changed(in_force, in_file))
    return Found(keeping_protected(in_force, in_file), pending, in_file=in_file)


def agents_changed(in_force: Settings, in_file: Settings) -> tuple[PendingChange, ...]:
    """Agents that would be started in another way; their values may hold keys, so only the names are told."""
    old, new = in_force.agents.entries, in_file.agents.entries
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    words = {True: "as it is", False: "none"}
    return tuple(
        PendingChange(f"agents.{name}", words[name in old], "changed" if name in new else "none") for name in names
    )


def keeping_protected(in_force: Settings, in_file: Settings) -> Settings:
    """``in_file``, but everything that waits for a yes as it is in force."""
    sections: dict[str, Any] = {name: getattr(in_force, name) for name in PROTECTED_WHOLE}
    for name in PROTECTED:
        section, field = name.split(".")
        held = sections.get(section) or getattr(in_file, section)
        sections[section] = held.model_copy(update={field: getattr(getattr(in_force, section), field)})
    sections["agents"] = in_file.agents.model_copy(update={"entries": in_force.agents.entries})
    return in_file.model_copy(update=sections)


def taking(in_force: Settings, in_file: Settings, names: Collection[str]) -> Settings:
    """``in_force`` with the values that a person has just changed in the file."""
    taken = in_force
    for name in names:
        section, field = name.split(".", 1)
        part = getattr(taken, section).model_copy(update={field: getattr(getattr(in_file, section), field)})
        taken = taken.model_copy(update={section: part})
    return taken


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
