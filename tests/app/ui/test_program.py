"""Which of wizard and window opens at the start, and that a set-up which is left ends with the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agents.contract import AgentHealth
from app.paths import Folders, folders
from app.settings import Settings
from app.single_instance import SingleInstance
from app.ui.program import Program


async def no_agents(_settings: Settings) -> tuple[AgentHealth, ...]:
    """Programs of this computer are not started by these tests."""
    return ()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("app.ui.desktop.probe_all", no_agents)
    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)
    made = folders(tmp_path / "hub")
    made.make()
    return made


@pytest.fixture
def begun(qtbot: QtBot, qapp: QApplication, place: Folders) -> Iterator[Callable[[], Program]]:
    """Begins the program and ends it with the test."""
    instance, programs = SingleInstance(place), []

    def begin() -> Program:
        program = Program(qapp, place, None, None, instance)
        programs.append(program)
        program.begin()
        return program

    yield begin
    for program in programs:
        program.quit()
        qtbot.waitUntil(lambda program=program: program.desktop is None and program.wizard is None, timeout=30_000)
    instance.close()


def test_a_first_start_opens_the_wizard_and_quitting_ends_its_thread(
    begun: Callable[[], Program], qtbot: QtBot
) -> None:
    program = begun()
    assert program.wizard is not None
    assert program.wizard.isVisible()
    loop = program._loop
    assert loop is not None
    program.quit()
    assert not loop._thread.is_alive()


def test_a_broken_settings_file_opens_the_window_that_says_so(
    begun: Callable[[], Program], place: Folders, qtbot: QtBot
) -> None:
    place.settings_file.write_text("[telegram\nchats = 5", encoding="utf-8")
    program = begun()
    assert program.wizard is None
    desktop = program.desktop
    assert desktop is not None
    assert desktop.window.isVisible()
    qtbot.waitUntil(lambda: "settings file" in desktop.window.sentence.text(), timeout=20_000)


def test_leaving_the_wizard_for_later_opens_the_window(begun: Callable[[], Program], qtbot: QtBot) -> None:
    program = begun()
    assert program.wizard is not None
    program.wizard.reject()
    qtbot.waitUntil(lambda: program.desktop is not None, timeout=20_000)
    assert program.wizard is None
    assert program.desktop is not None
    assert "not finished" in program.desktop.window.sessions._or_empty.sentence.text()
