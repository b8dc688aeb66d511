"""``agent-hub agents``: what is on this computer, as a table for people or JSON for programs."""

from __future__ import annotations

import asyncio
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agents.catalogue import Finder, look
from agents.contract import AgentHealth, LoginState
from agents.known_agents import KNOWN
from app.console import say, say_json
from app.paths import folders
from app.settings import Settings, load
from bridge.texts import told, tr


def agents_command(settings_file: Path | None, data_dir: Path | None, *, as_json: bool) -> int:
    """Print every agent; exit code 0 when at least one can be used."""
    settings = load(settings_file or folders(data_dir).settings_file)
    found = asyncio.run(probe_all(settings))
    if as_json:
        say_json([as_json_value(health) for health in found])
    else:
        for health in found:
            say(line(health))
    return 0 if any(health.is_usable for health in found) else 1


async def probe_all(settings: Settings) -> Sequence[AgentHealth]:
    """Look at every agent at once."""
    return await look(settings.launches(), Finder())


def command_for(health: AgentHealth) -> str:
    """The line for a terminal that installs, mends or logs in this agent; "" when nothing is to be done or known."""
    agent = KNOWN.get(health.kind)
    if agent is None or (health.is_usable and health.login is not LoginState.LOGGED_OUT):
        return ""
    if health.program is None or health.login is not LoginState.LOGGED_OUT:
        return agent.install
    command = agent.login.partition("   (")[0]
    name, _, rest = command.partition(" ")
    if shutil.which(name) is None:
        name = shlex.quote(str(health.program))
    return f"{name} {rest}".strip()


def login_text(login: LoginState) -> str:
    return {
        LoginState.LOGGED_IN: tr("logged in"),
        LoginState.LOGGED_OUT: tr("not logged in"),
        LoginState.UNKNOWN: tr("login not known"),
    }[login]


def as_json_value(health: AgentHealth) -> dict[str, object]:
    """One agent as plain JSON values."""
    values = asdict(health)
    values["program"] = str(health.program) if health.program else None
    values["login"] = health.login.value
    return values


def line(health: AgentHealth) -> str:
    """One agent for people: mark, name, version, login, what to do."""
    mark = "✓" if health.is_usable else "✗"
    facts = ", ".join(fact for fact in (health.version, login_text(health.login) if health.program else "") if fact)
    text = f"{mark} {health.title}" + (f" ({facts})" if facts else "")
    if health.problem:
        text += f"\n    {told(health.problem)}"
    if health.hint:
        text += f"\n    {told(health.hint)}"
    return text
