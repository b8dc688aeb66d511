"""The command that opens a terminal at the desk."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path

import pytest

from agents.contract import HubError
from app.terminals import terminal_command

FOLDER = Path("/home/ann/my project")
COMMAND = ["claude", "--resume=1 2"]


def test_a_folder_with_a_blank_reaches_the_mac_terminal_whole() -> None:
    words = terminal_command(COMMAND, FOLDER, "darwin")
    assert "cd '/home/ann/my project' && exec claude '--resume=1 2'" in words[2]


def test_a_quote_in_a_folder_cannot_end_the_mac_script() -> None:
    script = terminal_command(COMMAND, Path('/a"b'), "darwin")[2]
    inside = script.removeprefix('tell application "Terminal" to do script "').removesuffix('"')
    assert '"' not in inside.replace('\\"', "")


def test_the_terminal_of_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "myterm"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TERMINAL", "myterm")
    words = terminal_command(COMMAND, FOLDER, "linux")
    assert words[0] == str(program)
    assert shlex.split(words[-1].split("&&")[1].split(";")[0]) == COMMAND


def test_without_any_terminal_the_command_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TERMINAL", raising=False)
    with pytest.raises(HubError) as caught:
        terminal_command(COMMAND, FOLDER, "linux")
    assert "claude '--resume=1 2'" in caught.value.hint


def test_windows_gets_the_folder_as_a_word_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = terminal_command(COMMAND, Path("D:/Work & Play"), "win32")
    assert str(Path("D:/Work & Play")) in words
    assert words[-2:] == COMMAND
