"""What a terminal's environment is, asked of real shells."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agents.login_shell import LoginShell, parse
from tests.agents.installed import program


def bash_home(tmp_path: Path, start_file: str) -> dict[str, str]:
    (tmp_path / ".bash_profile").write_text(start_file, encoding="utf-8")
    return {"SHELL": "/bin/bash", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}


@pytest.mark.asyncio
async def test_the_path_is_the_one_the_start_files_make(tmp_path: Path) -> None:
    shell = LoginShell(bash_home(tmp_path, 'export PATH="/opt/mine/bin:$PATH"'))
    assert (await shell.environment()).path.startswith("/opt/mine/bin:/usr/")


@pytest.mark.asyncio
async def test_noise_of_the_start_files_does_not_harm(tmp_path: Path) -> None:
    noise = "echo Welcome; echo PATH=/wrong; printf 'PATH=/wrong\\0'; export PATH=/right:/usr/bin:/bin; echo done >&2"
    shell = LoginShell(bash_home(tmp_path, noise))
    assert (await shell.environment()).path == "/right:/usr/bin:/bin"


@pytest.mark.asyncio
async def test_a_value_of_several_lines_stays_whole(tmp_path: Path) -> None:
    shell = LoginShell(bash_home(tmp_path, "export NOTE=$'one\\nPATH=/two'"))
    assert (await shell.environment()).variables["NOTE"] == "one\nPATH=/two"


@pytest.mark.asyncio
async def test_a_shell_that_hangs_is_given_up_and_said(tmp_path: Path) -> None:
    shell = LoginShell(bash_home(tmp_path, "sleep 60"), limit=0.2)
    began = time.monotonic()
    found = await shell.environment()
    assert found.path == "/usr/bin:/bin"
    assert "no answer within 0.2 s" in found.problem
    assert time.monotonic() - began < 5


@pytest.mark.asyncio
async def test_something_left_running_by_the_start_files_does_not_hold_us_up(tmp_path: Path) -> None:
    shell = LoginShell(bash_home(tmp_path, "sleep 8 & export PATH=/kept:/usr/bin:/bin"))
    began = time.monotonic()
    assert (await shell.environment()).path.startswith("/kept:")
    assert time.monotonic() - began < 5


@pytest.mark.asyncio
async def test_a_shell_that_is_not_there_is_said_with_its_path(tmp_path: Path) -> None:
    shell = LoginShell({"SHELL": str(tmp_path / "zsh"), "PATH": "/usr/bin"})
    found = await shell.environment()
    assert found.path == "/usr/bin"
    assert str(tmp_path / "zsh") in found.problem


@pytest.mark.asyncio
async def test_the_bot_token_neither_reaches_the_shell_nor_comes_back(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    start = f"echo \"[$AGENT_HUB_TOKEN]\" > '{seen}'; export AGENT_HUB_TOKEN=from-a-start-file"
    shell = LoginShell({**bash_home(tmp_path, start), "AGENT_HUB_TOKEN": "secret"})
    variables = (await shell.environment()).variables
    assert seen.read_text(encoding="utf-8").strip() == "[]"
    assert not any(name.startswith("AGENT_HUB_") for name in variables)


@pytest.mark.asyncio
async def test_the_shell_is_asked_once(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    script = program(tmp_path / "shell", f"echo x >> '{counter}'; eval \"$4\"")
    shell = LoginShell({"SHELL": str(script), "PATH": "/usr/bin:/bin"})
    await shell.environment()
    await shell.environment()
    assert counter.read_text(encoding="utf-8").count("x") == 1


def test_output_without_both_marks_gives_nothing() -> None:
    assert parse(b"m\0PATH=/x\0", "m") == {}


def test_path_is_read_where_env_knows_no_zero_ends() -> None:
    assert parse(b"m\0PATH=/only\0m\0", "m") == {"PATH": "/only"}


@pytest.mark.asyncio
async def test_folders_of_the_terminal_the_hub_was_started_from_are_kept_behind(tmp_path: Path) -> None:
    variables = bash_home(tmp_path, "export PATH=/right:/usr/bin:/bin") | {"PATH": "/by-hand:/usr/bin"}
    assert (await LoginShell(variables).environment()).path == "/right:/usr/bin:/bin:/by-hand"
