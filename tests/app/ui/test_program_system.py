"""The desktop program as a process of its own, on a real display with a real tray host: one of it, and after a kill."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from app.paths import Folders, folders
from tests.app.conftest import write_settings
from tests.app.phone import Phone
from tests.app.ui.tray_host import TrayHost, wait_until
from tests.app.ui.x_windows import shown_titles
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
def phone() -> Iterator[Phone]:
    made = Phone()
    yield made
    made.close()


@pytest.fixture
def place(tmp_path: Path) -> Folders:
    made = folders(tmp_path / "hub")
    made.make()
    return made


def set_up(place: Folders, phone: Phone, tmp_path: Path) -> None:
    """What the wizard leaves behind."""
    workspace = tmp_path / "code"
    workspace.mkdir()
    write_settings(
        place,
        phone.simulator,
        f"chats = [{phone.simulator.group.id}]\nusers = [{phone.human.id}]\n"
        f"[workspace]\nroots = ['{workspace}']\n[agents]\ndefault = 'demo'\n",
    )


def command(place: Folders) -> list[str]:
    return [sys.executable, "-m", "app", "--data-dir", str(place.config), "run"]


def surroundings(phone: Phone, tmp_path: Path, *, token: bool = True) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("AGENT_HUB_")},
        **({"AGENT_HUB_TOKEN": phone.simulator.token} if token else {}),
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "xcb",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


@contextmanager
def started(place: Folders, phone: Phone, tmp_path: Path, *, token: bool = True) -> Iterator[subprocess.Popen[str]]:
    """The program until the block ends; killed with everything below it when it does not end by itself."""
    with ExitStack() as stack, tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(
            command(place), env=surroundings(phone, tmp_path, token=token), cwd=tmp_path, text=True,
            stdout=said, stderr=said,
        )  # fmt: skip
        stack.callback(end, child)
        yield child


def end(child: subprocess.Popen[str]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(5)


def wait_connected(host: TrayHost, icon: str) -> None:
    wait_until(lambda: "Connected" in str(host.property(icon, "ToolTip")), "the tooltip never said Connected")


def second_start(place: Folders, phone: Phone, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(place), env=surroundings(phone, tmp_path), cwd=tmp_path, text=True, capture_output=True, timeout=30,
        check=False,
    )  # fmt: skip


def test_a_second_start_shows_the_window_of_the_first_and_ends(
    host: TrayHost, place: Folders, phone: Phone, tmp_path: Path
) -> None:
    set_up(place, phone, tmp_path)
    with started(place, phone, tmp_path) as first:
        wait_connected(host, host.wait_for_icon())
        assert "agent-hub" not in shown_titles(), "with a tray nothing opens by itself"
        second = second_start(place, phone, tmp_path)
        assert (second.returncode, second.stdout.strip()) == (0, "agent-hub is already running.")
        wait_until(lambda: "agent-hub" in shown_titles(), "the first one's window did not come")
        assert first.poll() is None
        assert len(host.items) == 1, "the second start put an icon of its own into the tray"


def test_a_second_start_while_the_wizard_is_open_ends_and_leaves_it_open(
    host: TrayHost, place: Folders, phone: Phone, tmp_path: Path
) -> None:
    with started(place, phone, tmp_path, token=False) as first:
        wait_until(lambda: "Set up agent-hub" in shown_titles(), "the wizard did not come")
        second = second_start(place, phone, tmp_path)
        assert second.returncode == 0
        assert "Set up agent-hub" in shown_titles()
        assert first.poll() is None


def test_open_in_the_menu_shows_the_window_and_a_request_in_it_too(
    host: TrayHost, place: Folders, phone: Phone, tmp_path: Path
) -> None:
    set_up(place, phone, tmp_path)
    with started(place, phone, tmp_path):
        icon = host.wait_for_icon()
        wait_connected(host, icon)
        topic = phone.do(lambda: phone.human.create_topic("Shop"))
        phone.do(lambda: phone.human.write("run", topic))
        wait_until(lambda: any(text.startswith("Shop: ") for text in host.menu(icon)), "no entry for the request")
        assert "agent-hub" not in shown_titles()
        entry = next(text for text in host.menu(icon) if text.startswith("Shop: "))
        host.click(icon, entry)
        wait_until(lambda: "agent-hub" in shown_titles(), "the entry of the request opened nothing")
        # Not the tooltip: Qt shows the text of a bubble there for as long as that is up.
        assert "1 request waits for you" in host.menu(icon)


def test_after_kill_9_the_next_start_is_in_the_tray_again_and_no_agent_was_left(
    host: TrayHost, place: Folders, phone: Phone, tmp_path: Path
) -> None:
    set_up(place, phone, tmp_path)
    with started(place, phone, tmp_path) as first:
        icon = host.wait_for_icon()
        wait_connected(host, icon)
        topic = phone.do(lambda: phone.human.create_topic("Shop"))
        phone.do(lambda: phone.human.write("slow", topic))
        phone.run(phone.human.wait_for(lambda message: "count" in message.text, 30, topic=topic))
        family = psutil.Process(first.pid).children(recursive=True)
        assert family, "the turn has no process"
        first.kill()
        first.wait(5)
        wait_until(lambda: not any(is_alive(child) for child in family), "an agent outlived the killed program")
    with started(place, phone, tmp_path) as again:
        wait_until(lambda: len(host.items) == 2, "the second life did not come into the tray")
        wait_connected(host, host.items[1])
        assert again.poll() is None
        phone.run(phone.human.wait_for(lambda message: "Continue" in message.labels, 30, topic=topic))


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
