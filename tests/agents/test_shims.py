"""Windows npm shims lead to the real program; cmd.exe is never asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.contract import AgentNotFoundError
from agents.shims import is_shim, resolve_shim

CMD = """@ECHO off
SETLOCAL
SET dp0=%~dp0
IF EXIST "%dp0%\\node.exe" (
  SET "_prog=%dp0%\\node.exe"
) ELSE (
  SET "_prog=node"
)
endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\node_modules\\@x\\agent\\cli.js" %*
"""
PS1 = """#!/usr/bin/env pwsh
$basedir=Split-Path $MyInvocation.MyCommand.Definition -Parent
& "$basedir/node$exe"  "$basedir/node_modules/@x/agent/cli.js" $args
"""
NATIVE = '@ECHO off\n"%~dp0\\node_modules\\@x\\agent\\bin\\agent.exe" %*\n'


def npm_folder(tmp_path: Path, shim: str, text: str, target: str) -> Path:
    folder = tmp_path / "Ann & Bob %PATH%" / "npm"
    program = folder / "node_modules" / "@x" / "agent" / target
    program.parent.mkdir(parents=True)
    program.write_text("")
    (folder / shim).write_text(text)
    return folder / shim


@pytest.mark.parametrize(("shim", "text"), [("agent.cmd", CMD), ("agent.ps1", PS1)])
def test_a_script_shim_becomes_node_and_the_script(tmp_path: Path, shim: str, text: str) -> None:
    path = npm_folder(tmp_path, shim, text, "cli.js")
    command = resolve_shim(path, lambda name: f"/found/{name}")
    assert command == ("/found/node", str(path.parent / "node_modules" / "@x" / "agent" / "cli.js"))


def test_the_node_beside_the_shim_wins(tmp_path: Path) -> None:
    path = npm_folder(tmp_path, "agent.cmd", CMD, "cli.js")
    (path.parent / "node.exe").write_text("")
    assert resolve_shim(path, lambda _: None)[0] == str(path.parent / "node.exe")


def test_a_native_program_behind_a_shim_is_started_directly(tmp_path: Path) -> None:
    path = npm_folder(tmp_path, "agent.cmd", NATIVE, "bin/agent.exe")
    assert resolve_shim(path, lambda _: None) == (str(path.parent / "node_modules/@x/agent/bin/agent.exe"),)


def test_a_shim_that_leads_nowhere_names_what_was_tried(tmp_path: Path) -> None:
    path = tmp_path / "agent.cmd"
    path.write_text("@echo hello %*\n")
    with pytest.raises(AgentNotFoundError) as caught:
        resolve_shim(path, lambda _: None)
    assert str(path) in caught.value.detail


def test_only_scripts_of_cmd_and_powershell_count_as_shims() -> None:
    assert is_shim("C:\\Users\\Ann & Bob\\AppData\\Roaming\\npm\\claude.CMD")
    assert not is_shim("/usr/bin/claude")
    assert not is_shim("C:\\x\\claude.exe")
