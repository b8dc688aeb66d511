"""What the catalogue says of the real programs, on a computer where nobody has logged in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.catalogue import look_at
from agents.contract import AgentLaunch, LoginState
from agents.finding import Finder
from agents.known_agents import KNOWN
from agents.login_shell import LoginShell
from tests.parts import require_program

pytestmark = pytest.mark.live


def terminal(home: Path, program: Path) -> Finder:
    """The finder of a person whose ``PATH`` leads to this program and whose home is empty."""
    home.mkdir()
    path = os.pathsep.join([str(program.parent), "/usr/bin", "/bin"])
    return Finder(LoginShell({"PATH": path, "HOME": str(home), "SHELL": "/bin/sh"}), home=home)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", sorted(KNOWN))
async def test_a_real_program_is_found_with_its_version_and_the_command_to_log_in(kind: str, tmp_path: Path) -> None:
    agent = KNOWN[kind]
    finder = terminal(tmp_path / "home", require_program(agent.names[0]))
    health = await look_at(kind, AgentLaunch(), finder)
    assert health.version == str(agent.tested)
    assert health.login is LoginState.LOGGED_OUT
    assert agent.login in health.hint
    assert not health.is_usable


@pytest.mark.asyncio
async def test_npms_scripts_are_passed_by_for_the_program_behind_them(tmp_path: Path) -> None:
    found = {}
    for kind in ("claude", "codex", "qwen"):
        finder = terminal(tmp_path / kind, require_program(kind))
        found[kind] = (await finder.locate(KNOWN[kind], AgentLaunch())).command
    assert Path(found["codex"][0]).parent.parent.name.startswith(("x86_64", "aarch64"))
    assert Path(found["claude"][0]).stat().st_size > 1_000_000
    assert (Path(found["qwen"][0]).name, Path(found["qwen"][1]).name) == ("node", "cli.js")


@pytest.mark.asyncio
async def test_hermes_is_found_with_the_python_of_its_environment(tmp_path: Path) -> None:
    finder = terminal(tmp_path / "home", require_program("hermes-acp"))
    located = await finder.locate(KNOWN["hermes"], AgentLaunch())
    assert located.interpreter is not None
    assert located.interpreter.name.startswith("python")


@pytest.mark.asyncio
async def test_codex_with_a_provider_of_ones_own_needs_no_login(tmp_path: Path) -> None:
    finder = terminal(tmp_path / "home", require_program("codex"))
    config = tmp_path / "home" / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model_provider = "own"\n[model_providers.own]\nname = "own"\n', encoding="utf-8")
    health = await look_at("codex", AgentLaunch(), finder)
    assert (health.is_usable, health.problem) == (True, "")
