"""The environment a terminal would give: what ``PATH`` is after the user's login shell has read its start files.

A program started from a menu, by autostart or by a service manager has a bare ``PATH``; agents installed through
npm, nvm, Homebrew or pipx are not on it. The environment may hold secrets: it is never logged, and names of this
application's own variables are taken out of it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from agents.bounded_run import Ran, run_briefly

LIMIT = 10.0
"""Seconds a shell may take; a usual start takes 0.02 s (measured with bash), one with nvm some 0.5 s."""
OWN_PREFIX = "AGENT_HUB_"
RESOLVING = "AGENT_HUB_RESOLVING_ENV"
"""Set while the shell runs, so that start files can skip what is slow or interactive."""


@dataclass(frozen=True, slots=True)
class ShellEnvironment:
    """``variables`` of a login shell; ``problem`` says why they are only those of this process, "" when fine."""

    variables: Mapping[str, str]
    problem: str = ""

    @property
    def path(self) -> str:
        return self.variables.get("PATH") or os.defpath


class LoginShell:
    """Asks the user's shell once and remembers the answer."""

    def __init__(self, inherited: Mapping[str, str] | None = None, *, limit: float = LIMIT) -> None:
        self._inherited = without_own_names(os.environ if inherited is None else inherited)
        self._limit = limit
        self._lock = asyncio.Lock()
        self._known: ShellEnvironment | None = None

    async def environment(self) -> ShellEnvironment:
        """The login shell's variables over those of this process; never raises for what the shell does."""
        async with self._lock:
            if self._known is None:
                self._known = await self._ask()
            return self._known

    def forget(self) -> None:
        """Ask again the next time: the user has just installed something."""
        self._known = None

    async def _ask(self) -> ShellEnvironment:
        if sys.platform == "win32":
            return ShellEnvironment(self._inherited)
        shell = self._inherited.get("SHELL") or "/bin/sh"
        mark = secrets.token_hex(16)
        end = mark.encode() + b"\0"
        ran = await run_briefly(
            [shell, "-i", "-l", "-c", script(mark)],
            env={**self._inherited, RESOLVING: "1", "TERM": "dumb"},
            timeout=self._limit,
            is_enough=lambda out: out.count(end) >= 2,
        )
        found = parse(ran.stdout, mark)
        if "PATH" not in found:
            return ShellEnvironment(self._inherited, problem=complaint(shell, ran))
        path = joined(found["PATH"], self._inherited.get("PATH", ""))
        return ShellEnvironment({**self._inherited, **found, "PATH": path})


def script(mark: str) -> str:
    """What the shell runs: all variables between two marks, whatever the start files print around them.

    ``PATH`` comes once more by itself for systems whose ``env`` knows no ``-0``.
    """
    return f"printf '%s\\0' {mark}; env -0; printf 'PATH=%s\\0' \"$PATH\"; printf '%s\\0' {mark}"


def parse(output: bytes, mark: str) -> dict[str, str]:
    """The variables between the marks; empty when they are not both there."""
    parts = output.split(mark.encode() + b"\0")
    if len(parts) < 3:
        return {}
    pairs = (entry.partition(b"=") for entry in parts[1].split(b"\0"))
    found = {os.fsdecode(name): os.fsdecode(value) for name, equals, value in pairs if equals}
    for shells_own in ("_", "SHLVL", "PWD", "OLDPWD", "TERM"):
        found.pop(shells_own, None)
    return without_own_names(found)


def joined(first: str, then: str) -> str:
    """The login shell's folders, then those only this process has: a person may have started it from a terminal
    whose ``PATH`` was changed by hand."""
    return os.pathsep.join(dict.fromkeys(part for part in (first + os.pathsep + then).split(os.pathsep) if part))


def without_own_names(variables: Mapping[str, str]) -> dict[str, str]:
    """Everything but this application's own variables: one of them may be the bot's token."""
    return {name: value for name, value in variables.items() if not name.upper().startswith(OWN_PREFIX)}


def complaint(shell: str, ran: Ran) -> str:
    why = ran.complaint or "it printed no PATH"
    return f"The login shell {shell} could not be asked for its PATH ({why}); programs are looked for in usual places."
