"""Open at login: what is written can be read back, and the toggle tells the truth."""

from __future__ import annotations

import plistlib
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app import service_units
from app.autostart import LaunchAgent, XdgAutostart, desktop_quoted

COMMAND = ["/opt/Agent Hub/agent-hub", "run", "50%"]


@pytest.mark.parametrize("backend", [XdgAutostart, LaunchAgent])
def test_open_at_login_can_be_turned_on_and_off(backend: type[XdgAutostart | LaunchAgent], tmp_path: Path) -> None:
    autostart = backend(tmp_path)
    assert not autostart.is_on()
    autostart.turn_on(COMMAND)
    assert autostart.is_on()
    autostart.turn_off()
    assert not autostart.is_on()


def test_an_entry_switched_off_by_the_desktop_reads_as_off(tmp_path: Path) -> None:
    autostart = XdgAutostart(tmp_path)
    autostart.turn_on(COMMAND)
    autostart.file.write_text(autostart.file.read_text(encoding="utf-8") + "Hidden=true\n", encoding="utf-8")
    assert not autostart.is_on()


def test_a_path_with_blanks_and_percent_survives_the_exec_line() -> None:
    assert desktop_quoted(COMMAND[0]) == '"/opt/Agent Hub/agent-hub"'
    assert desktop_quoted("50%") == "50%%"


def test_the_launch_agent_names_program_and_arguments(tmp_path: Path) -> None:
    autostart = LaunchAgent(tmp_path)
    autostart.turn_on(COMMAND)
    assert plistlib.loads(autostart.file.read_bytes())["ProgramArguments"] == COMMAND


def test_the_systemd_unit_starts_the_hub_headless(capsys: pytest.CaptureFixture[str]) -> None:
    assert service_units.service_command("systemd") == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("ExecStart="))
    assert shlex.split(line.removeprefix("ExecStart=")) == [sys.executable, "-m", "app", "run", "--headless"]


def test_the_scheduled_task_is_valid_xml_with_its_command() -> None:
    text = service_units.task_xml(["C:\\Program Files\\Hub & Co\\agent-hub.exe", "run", "a b"])
    root = ElementTree.fromstring(text.split("?>", 1)[1])
    space = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    assert root.findtext(f".//{space}Command") == "C:\\Program Files\\Hub & Co\\agent-hub.exe"
    assert root.findtext(f".//{space}Arguments") == 'run "a b"'


def test_the_launchd_plist_restarts_only_after_a_failure() -> None:
    values = plistlib.loads(service_units.launchd_plist(COMMAND).encode())
    assert values["KeepAlive"] == {"SuccessfulExit": False}
