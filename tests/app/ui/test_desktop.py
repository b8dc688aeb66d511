"""Window, tray and a real engine together: what is pressed in the window happens in the hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyotp
import pytest
from pytestqt.qtbot import QtBot

from agents.contract import AgentHealth
from app import secrets
from app.host import ThreadedHost
from app.paths import folders
from app.settings import Settings, edit
from app.settings_fields import put
from app.ui.desktop import Desktop
from app.ui.lock_dialog import LockDialog
from tests.app.conftest import write_settings
from tests.app.phone import Phone


@pytest.fixture
def phone() -> Iterator[Phone]:
    made = Phone()
    yield made
    made.close()


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A keyring of this test alone."""
    entries: dict[str, str] = {}
    monkeypatch.setattr(secrets, "_keyring_get", entries.get)
    monkeypatch.setattr(secrets, "_keyring_set", entries.__setitem__)
    return entries


async def no_agents(_settings: Settings) -> tuple[AgentHealth, ...]:
    """Programs of this computer are not started by these tests."""
    return ()


@pytest.fixture
def desktop(
    qtbot: QtBot, phone: Phone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: dict[str, str]
) -> Iterator[Desktop]:
    monkeypatch.setenv("AGENT_HUB_TOKEN", phone.simulator.token)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("app.ui.desktop.probe_all", no_agents)
    workspace = tmp_path / "code"
    workspace.mkdir()
    place = folders(tmp_path / "hub")
    place.make()
    write_settings(
        place,
        phone.simulator,
        f"chats = [{phone.simulator.group.id}]\nusers = [{phone.human.id}]\n"
        f"[workspace]\nroots = ['{workspace}']\n[agents]\ndefault = 'demo'\n",
    )
    left: list[bool] = []
    made = Desktop(ThreadedHost(place), lambda: left.append(True))
    made.start(show_window=True)
    qtbot.waitUntil(lambda: made.host.view.is_connected, timeout=20_000)
    yield made
    made.quit(asks=False)
    qtbot.waitUntil(lambda: bool(left), timeout=30_000)
    made.close()


def proven_dialog(desktop: Desktop, qtbot: QtBot) -> LockDialog:
    qtbot.waitUntil(lambda: bool(desktop.window.findChildren(LockDialog)), timeout=20_000)
    dialog = desktop.window.findChildren(LockDialog)[0]
    dialog.code.setText(pyotp.TOTP(dialog._secret).now())
    return dialog


def test_the_lock_is_set_up_locked_and_opened_in_the_window(
    desktop: Desktop, phone: Phone, qtbot: QtBot, kept: dict[str, str]
) -> None:
    desktop.window.show_page(desktop.window.settings)
    desktop.window.settings.lock.click()
    dialog = proven_dialog(desktop, qtbot)
    secret = dialog._secret
    dialog.keep.click()
    qtbot.waitUntil(lambda: desktop.host.view.has_lock and not desktop.host.view.is_locked, timeout=20_000)
    assert secret in kept.values()
    assert "enabled = true" in desktop.host.settings_file.read_text(encoding="utf-8")
    qtbot.waitUntil(desktop.window.lock.isVisible, timeout=20_000)

    desktop.window.lock.click()
    qtbot.waitUntil(lambda: desktop.host.view.is_locked, timeout=20_000)
    qtbot.waitUntil(lambda: desktop.window.lock.text() == "Unlock", timeout=20_000)
    desktop.window.lock.click()
    qtbot.waitUntil(lambda: not desktop.host.view.is_locked, timeout=20_000)

    qtbot.waitUntil(lambda: desktop.window.lock.text() == "Lock now", timeout=20_000)
    desktop.window.lock.click()
    qtbot.waitUntil(lambda: desktop.host.view.is_locked, timeout=20_000)
    phone.do(lambda: phone.human.write(f"/unlock {pyotp.TOTP(secret).now()}"))
    qtbot.waitUntil(lambda: not desktop.host.view.is_locked, timeout=20_000)


def test_a_lock_without_a_secret_is_set_up_before_it_is_switched_on(desktop: Desktop, qtbot: QtBot) -> None:
    desktop.window.settings.editors["lock.enabled"].widget.setChecked(True)
    desktop.window.settings.save.click()
    qtbot.waitUntil(lambda: bool(desktop.window.findChildren(LockDialog)), timeout=20_000)
    assert not desktop.host.settings.lock.enabled
    desktop.window.findChildren(LockDialog)[0].reject()


def test_another_language_changes_the_open_window_and_the_tray(desktop: Desktop, qtbot: QtBot) -> None:
    former, engine = desktop.window, desktop.host.engine
    language = former.settings.editors["hub.language"].widget
    language.setCurrentIndex(language.findData("ru"))
    former.settings.save.click()
    qtbot.waitUntil(lambda: desktop.window is not former, timeout=20_000)
    assert desktop.window.names.item(0).text() == "Сессии"
    assert desktop.window.isVisible()
    assert "Выйти" in desktop.tray.menu_texts() or "Выход" in desktop.tray.menu_texts()
    assert desktop.host.engine is engine, "a new language interrupts nothing"


def test_a_language_changed_in_the_file_changes_the_open_window(desktop: Desktop, qtbot: QtBot) -> None:
    former = desktop.window
    edit(desktop.host.settings_file, lambda document: put(document, {"hub.language": "ru"}))
    qtbot.waitUntil(lambda: desktop.window is not former, timeout=30_000)
    assert desktop.window.names.item(0).text() == "Сессии"


def test_an_ended_turn_is_told_and_a_click_opens_its_session(
    desktop: Desktop, phone: Phone, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(desktop.notices, "_notifier", None)
    monkeypatch.setattr(desktop.notices, "_bubble", lambda title, text: told.append(f"{title}: {text}"))
    desktop.window.hide()
    topic = phone.do(lambda: phone.human.create_topic("Shop"))
    phone.do(lambda: phone.human.write("plan", topic))
    qtbot.waitUntil(lambda: bool(told), timeout=30_000)
    assert told == ["Shop: Demo agent is done. The answer is in the topic."]
    desktop.notices.open_last()
    assert desktop.window.isVisible()
    assert desktop.window.names.currentRow() == 0


def test_the_health_page_says_when_the_last_message_came(desktop: Desktop, phone: Phone, qtbot: QtBot) -> None:
    def said() -> dict[str, str]:
        return {row.name: row.value for row in desktop.window.health.rows()}

    qtbot.waitUntil(lambda: said().get("Last message received") == "none yet", timeout=20_000)
    phone.do(lambda: phone.human.write("hello"))
    qtbot.waitUntil(lambda: said()["Last message received"].endswith("s ago"), timeout=20_000)
    assert said()["Last answer from Telegram"].endswith("s ago")


def test_quit_asks_while_a_turn_runs(
    desktop: Desktop, phone: Phone, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def no(_parent: object, question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("app.ui.desktop.confirm", no)
    topic = phone.do(lambda: phone.human.create_topic("Shop"))
    phone.do(lambda: phone.human.write("slow", topic))
    qtbot.waitUntil(lambda: desktop.host.view.running == 1, timeout=30_000)
    desktop.quit()
    assert asked == ["Turns are running. Quit and stop them?"]
    assert desktop.host.is_up
