"""Finds an agent's program as a terminal would, and says which places were tried when it is not there.

Order: the settings, ``PATH`` of the login shell, then the folders installers use. Only absolute ``PATH`` entries
count: a relative one would start a program out of whatever folder a task works in.
"""

from __future__ import annotations

import asyncio
import os
import platform as system
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.contract import AgentLaunch, AgentNotFoundError, sentence
from agents.environment import child_environment
from agents.installs import Machine, package_root, target_of, venv_python
from agents.known_agents import KnownAgent
from agents.login_shell import LoginShell
from agents.shims import is_shim, resolve_shim

NODE_HINT = sentence("Install Node.js 22 or newer (nodejs.org), then try again.")


@dataclass(frozen=True, slots=True)
class Located:
    """``command`` starts the agent; the agent's own arguments follow it.

    ``found`` is what a terminal would start, ``package`` the npm package behind it, ``interpreter`` the Python of
    the environment it is installed in (console scripts only).
    """

    command: tuple[str, ...]
    found: Path
    package: Path | None = None
    interpreter: Path | None = None


class Finder:
    """Where programs are on this computer, for one user."""

    def __init__(
        self,
        shell: LoginShell | None = None,
        *,
        home: Path | None = None,
        machine: Machine | None = None,
    ) -> None:
        self._shell = shell or LoginShell()
        self._home = home or Path.home()
        self._machine = machine or Machine(sys.platform, system.machine().lower())

    @property
    def home(self) -> Path:
        return self._home

    async def environment(self) -> Mapping[str, str]:
        """The variables of a terminal, to start agents with; hold secrets, never log them."""
        return (await self._shell.environment()).variables

    async def child_variables(self, agent: KnownAgent | None, launch: AgentLaunch) -> dict[str, str]:
        """The whole environment of an agent's process: a terminal's harmless part, its own keys, the settings'."""
        terminal = await self.environment()
        own = agent.own_variables(terminal, launch.env) if agent is not None else {}
        return child_environment({**own, **launch.env}, terminal)

    async def shell_problem(self) -> str:
        """Why the login shell could not be asked, "" when it could."""
        return (await self._shell.environment()).problem

    def forget(self) -> None:
        """Look again the next time."""
        self._shell.forget()

    async def locate(self, agent: KnownAgent, launch: AgentLaunch) -> Located:
        """The program of ``agent``. Raises AgentNotFoundError with every place tried."""
        names = (launch.command,) if launch.command else agent.names
        variables = await self.environment()
        return await asyncio.to_thread(self._locate, names, variables, agent)

    async def locate_command(self, command: str, title: str) -> Located:
        """A program named in the settings (an ACP agent). Raises AgentNotFoundError."""
        variables = await self.environment()
        return await asyncio.to_thread(self._locate, (command,), variables, None, title)

    def _locate(
        self, names: tuple[str, ...], variables: Mapping[str, str], agent: KnownAgent | None, title: str = ""
    ) -> Located:
        title = agent.title if agent else title
        tried: list[Path] = []
        for name in names:
            for candidate in self._candidates(name, variables):
                tried.append(candidate)
                if self._is_program(candidate):
                    return self._resolved(candidate, variables, agent, title)
        if agent is None or names != agent.names:
            raise AgentNotFoundError(
                sentence("{agent} was not found: there is no program {program}.", agent=title, program=names[0]),
                hint=sentence("Check the command of {agent} in the settings.", agent=title),
                detail=_detail(names, tried),
            )
        raise AgentNotFoundError(
            sentence("{agent} is not on this computer.", agent=title),
            hint=sentence("Install it: {command}", command=agent.install),
            detail=_detail(names, tried),
        )

    def _candidates(self, name: str, variables: Mapping[str, str]) -> Iterator[Path]:
        if "/" in name or "\\" in name:
            given = Path(name.replace("~", str(self._home), 1) if name.startswith("~") else name)
            yield from self._spellings(given)
            return
        for folder in self._folders(variables):
            yield from self._spellings(folder / name)

    def _spellings(self, file: Path) -> list[Path]:
        """Windows: the real program before a batch file; a name without an ending is a script for other shells."""
        if not self._machine.is_windows or file.suffix.lower() in {".exe", ".cmd", ".bat", ".js", ".cjs", ".mjs"}:
            return [file]
        return [file.with_name(file.name + ending) for ending in (".exe", ".cmd", ".bat")]

    def _folders(self, variables: Mapping[str, str]) -> list[Path]:
        path = variables.get("PATH") or variables.get("Path") or os.defpath
        listed = [Path(entry.strip('"')) for entry in path.split(os.pathsep) if entry]
        known = [folder for folder in listed if folder.is_absolute()]
        return list(dict.fromkeys([*known, *usual_folders(self._home, variables, self._machine)]))

    def _is_program(self, file: Path) -> bool:
        try:
            return file.is_file() and (self._machine.is_windows or os.access(file, os.X_OK))
        except OSError:
            return False

    def _resolved(self, found: Path, variables: Mapping[str, str], agent: KnownAgent | None, title: str) -> Located:
        package = agent.package if agent else ""
        target = target_of(found, package, self._machine)
        if target is not None and target.script is not None:
            command: tuple[str, ...] = (str(self._node(found, variables, title)), str(target.script))
        elif target is not None:
            command = (str(target.program),)
        elif is_shim(str(found)):
            command = resolve_shim(found, lambda _: str(self._node(found, variables, title)))
        else:
            command = (str(found),)
        return Located(
            command=command,
            found=found,
            package=package_root(found, package) if package else None,
            interpreter=venv_python(found, self._machine) if not package else None,
        )

    def _node(self, found: Path, variables: Mapping[str, str], title: str) -> Path:
        """node: the one beside the shim first (nvm and others keep them together)."""
        tried = self._spellings(found.parent / "node")
        tried += [file for folder in self._folders(variables) for file in self._spellings(folder / "node")]
        for candidate in tried:
            if self._is_program(candidate):
                return candidate
        raise AgentNotFoundError(
            sentence("{agent} needs Node.js, which is not on this computer.", agent=title),
            hint=NODE_HINT,
            detail=_detail(("node",), tried),
        )


def usual_folders(home: Path, variables: Mapping[str, str], machine: Machine) -> list[Path]:
    """Where installers put programs even when no start file names the folder."""
    if machine.is_windows:
        roaming = Path(variables.get("APPDATA") or home / "AppData" / "Roaming")
        local = Path(variables.get("LOCALAPPDATA") or home / "AppData" / "Local")
        return [
            roaming / "npm",
            home / ".local" / "bin",
            local / "pnpm",
            local / "Programs" / "nodejs",
            Path(variables.get("ProgramFiles") or "C:/Program Files") / "nodejs",
            home / ".bun" / "bin",
            home / "scoop" / "shims",
        ]
    folders = [
        home / ".local" / "bin",
        *npm_prefixes(home, variables),
        Path("/opt/homebrew/bin"),
        Path("/usr/local/bin"),
        Path("/usr/bin"),
        home / ".claude" / "local",
        home / ".hermes" / "hermes-agent" / "venv" / "bin",
        home / ".volta" / "bin",
        home / ".bun" / "bin",
        home / ".yarn" / "bin",
        home / ".local" / "share" / "pnpm",
        home / "Library" / "pnpm",
        home / "node_modules" / ".bin",
        home / "bin",
    ]
    versions = [home / ".nvm" / "versions" / "node", home / ".local" / "share" / "fnm" / "node-versions"]
    for root in versions:
        if root.is_dir():
            folders += [
                place
                for version in sorted(root.iterdir(), reverse=True)
                for place in (version / "bin", version / "installation" / "bin")
            ]
    return folders


def npm_prefixes(home: Path, variables: Mapping[str, str]) -> list[Path]:
    """npm's own idea of where global programs go. Of ``~/.npmrc`` only the prefix line is read: it holds tokens."""
    prefixes = [variables.get("NPM_CONFIG_PREFIX"), variables.get("npm_config_prefix")]
    try:
        with (home / ".npmrc").open(encoding="utf-8", errors="replace") as file:
            for line in file:
                name, equals, value = line.partition("=")
                if equals and name.strip() == "prefix":
                    prefixes.append(value.strip().strip("\"'").replace("${HOME}", str(home)).replace("~", str(home), 1))
    except OSError:
        pass  # most people have no such file
    named = [Path(prefix) / "bin" for prefix in prefixes if prefix and Path(prefix).is_absolute()]
    return [*named, home / ".npm-global" / "bin", home / ".npm-packages" / "bin"]


def _detail(names: tuple[str, ...], tried: list[Path]) -> str:
    places = "\n".join(f"  {path}" for path in tried[:60])
    return f"looked for: {', '.join(names)}\ntried:\n{places}"
