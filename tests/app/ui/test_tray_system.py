"""The tray icon of the real program on a real session bus: registered, telling the truth, every entry working."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.app.ui.tray_host import TrayHost, wait_until
from tests.parts import require_display, require_session_bus

pytestmark = pytest.mark.system

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def host() -> Iterator[TrayHost]:
    require_display()
    require_session_bus()
    with TrayHost() as running:
        yield running


@pytest.fixture
def program(host: TrayHost, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """``agent-hub demo`` with window and tray, in a session of its own."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "xcb",
        "BROWSER": "true",
        "TMPDIR": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "app", "demo"], env=environment, cwd=tmp_path, text=True, stdout=subprocess.PIPE
    )
    yield child
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(5)
    if child.stdout is not None:
        child.stdout.close()


def tooltip(host: TrayHost, icon: str) -> str:
    return str(host.property(icon, "ToolTip"))


def test_the_icon_registers_and_says_that_it_is_connected(host: TrayHost, program: subprocess.Popen[str]) -> None:
    icon = host.wait_for_icon()
    wait_until(lambda: "Connected" in tooltip(host, icon), "the tooltip never said Connected")
    assert {"Open agent-hub", "Pause", "Quit"} <= set(host.menu(icon))


def test_pause_and_resume_work_from_the_menu(host: TrayHost, program: subprocess.Popen[str]) -> None:
    icon = host.wait_for_icon()
    wait_until(lambda: "Connected" in tooltip(host, icon), "the tooltip never said Connected")
    host.click(icon, "Pause")
    wait_until(lambda: "Paused" in tooltip(host, icon), "the tooltip never said Paused")
    host.click(icon, "Resume")
    wait_until(lambda: "Connected" in tooltip(host, icon), "the hub did not resume")


def test_open_at_login_changes_the_real_entry(host: TrayHost, program: subprocess.Popen[str], tmp_path: Path) -> None:
    icon = host.wait_for_icon()
    entry = tmp_path / "config" / "autostart" / "agent-hub.desktop"
    host.click(icon, "Open at login")
    wait_until(entry.exists, "no entry was written")
    host.click(icon, "Open at login")
    wait_until(lambda: not entry.exists(), "the entry stayed")


def test_quit_from_the_menu_leaves_no_process_behind(host: TrayHost, program: subprocess.Popen[str]) -> None:
    icon = host.wait_for_icon()
    wait_until(lambda: "Connected" in tooltip(host, icon), "the tooltip never said Connected")
    family = psutil.Process(program.pid).children(recursive=True)
    host.click(icon, "Quit")
    assert program.wait(20) == 0
    wait_until(lambda: not any(child.is_running() for child in family), "children outlived the program")
