"""The doctor: every check says what it found and what to do, and none of them raises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import doctor, secrets
from app.cli import main
from app.doctor import State
from app.paths import Folders, folders
from app.settings import parse
from bridge.simulator.simulator import Simulator
from bridge.texts import set_language
from tests.app.conftest import write_settings
from tests.parts import missing, qt_trouble


def test_qt_starts_without_a_display_on_the_offscreen_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    if trouble := qt_trouble():
        missing(trouble)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    found = doctor.check_qt()
    assert (found.state, found.message) == (State.OK, "Qt starts")


def test_a_qt_that_aborts_is_a_warning_with_the_packages_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "QT_TRIAL", "import os; os.abort()")
    found = doctor.check_qt()
    assert found.state is State.WARNING
    assert "libxcb-cursor0" in found.hint


def test_no_display_points_to_headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert "--headless" in doctor.check_display().hint


def test_a_root_that_is_gone_is_named() -> None:
    found = doctor.check_roots(parse("[workspace]\nroots = ['/nowhere/at/all']"))
    assert found.state is State.WARNING
    assert "/nowhere/at/all" in found.message


def test_no_users_is_a_problem() -> None:
    assert doctor.check_users(parse("")).state is State.PROBLEM


def test_a_token_in_a_plaintext_file_is_shown_as_such_for_ever(place: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(secrets.TOKEN_VARIABLE, raising=False)
    secrets.plaintext_file(place).write_text("1234567:" + "A" * 35, encoding="utf-8")
    found = doctor.check_token(place)
    assert found.state is State.WARNING
    assert "plaintext" in found.message


@pytest.mark.asyncio
async def test_telegram_is_asked_who_the_bot_is(
    simulator: Simulator, place: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(place, simulator)
    monkeypatch.setenv(secrets.TOKEN_VARIABLE, simulator.token)
    found = await doctor.check_telegram(parse(place.settings_file.read_text(encoding="utf-8")), place)
    assert [one.state for one in found] == [State.OK]
    assert f"@{simulator.world.bot.username}" in found[0].message


@pytest.mark.asyncio
async def test_a_right_that_the_bot_lost_in_a_group_is_named_with_its_remedy(
    simulator: Simulator, place: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(place, simulator, f"chats = [{simulator.group.id}]")
    monkeypatch.setenv(secrets.TOKEN_VARIABLE, simulator.token)
    settings = parse(place.settings_file.read_text(encoding="utf-8"))
    assert [one.state for one in await doctor.check_telegram(settings, place)] == [State.OK, State.OK]
    simulator.world.change_rights(simulator.group, can_manage_topics=False)
    _bot, group = await doctor.check_telegram(settings, place)
    assert group.state is State.PROBLEM
    assert "The bot may manage topics" in group.message
    assert "Manage topics" in group.hint


def test_a_desktop_without_a_tray_is_a_warning_that_says_what_happens_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    found = doctor.check_tray()
    assert found.state is State.WARNING
    assert "window stays open" in found.hint


def test_the_doctor_speaks_the_language_of_the_settings(place: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    place.settings_file.write_text("[hub]\nlanguage = 'ru'\n", encoding="utf-8")
    try:
        main(["--data-dir", str(place.config), "doctor"])
    finally:
        set_language("en")
    said = capsys.readouterr().out
    assert "папк" in said
    assert "no folder" not in said


@pytest.mark.asyncio
async def test_a_wrong_token_is_a_problem_with_advice(
    simulator: Simulator, place: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(place, simulator)
    monkeypatch.setenv(secrets.TOKEN_VARIABLE, "7000000009:" + "B" * 35)
    (found,) = await doctor.check_telegram(parse(place.settings_file.read_text(encoding="utf-8")), place)
    assert found.state is State.PROBLEM
    assert found.hint


def test_a_broken_settings_file_is_a_finding_not_a_crash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[hub", encoding="utf-8")
    code = main(["--settings", str(file), "--data-dir", str(tmp_path / "hub"), "doctor", "--json"])
    findings = {found["name"]: found for found in json.loads(capsys.readouterr().out)}
    assert code == 1
    assert findings["settings"]["state"] == "problem"
    assert "not valid TOML" in findings["settings"]["message"]


def test_the_platform_folders_are_closed_to_others(tmp_path: Path) -> None:
    made = folders(tmp_path / "hub")
    made.make()
    assert made.data.stat().st_mode & 0o077 == 0
