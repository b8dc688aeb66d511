"""The first-run wizard from its first page to the first task, against a simulated Telegram in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWizard
from pytestqt.qtbot import QtBot

from agents.contract import HubError
from app.host import ThreadedHost
from app.loop_thread import LoopThread
from app.paths import Folders, folders
from app.secrets import SecretSource
from app.setup_steps import SetUp, Sighting
from app.ui.calls import Calls
from app.ui.wizard import SetUpWizard
from bridge.simulator.human import Human
from tests.app.conftest import write_settings
from tests.app.phone import Phone


@pytest.fixture
def phone() -> Iterator[Phone]:
    made = Phone()
    yield made
    made.close()


@pytest.fixture
def place(tmp_path: Path, phone: Phone, monkeypatch: pytest.MonkeyPatch) -> Folders:
    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)
    made = folders(tmp_path / "hub")
    made.make()
    write_settings(made, phone.simulator)
    return made


@pytest.fixture
def wizard(qtbot: QtBot, place: Folders) -> Iterator[SetUpWizard]:
    loop = LoopThread("set-up")
    set_up = SetUp(place)
    made = SetUpWizard(set_up, Calls(loop))
    qtbot.addWidget(made)
    made.show()
    yield made
    made.calls.cancel_all()
    loop.call(set_up.close()).result(timeout=10)
    loop.close()


def test_the_wizard_leads_from_the_first_page_to_a_pressed_button(
    wizard: SetUpWizard, phone: Phone, qtbot: QtBot, tmp_path: Path
) -> None:
    wizard.next()
    token = wizard.token
    token.token.setText("not a token")
    token.try_token()
    qtbot.waitUntil(lambda: "✗" in token.note.text(), timeout=10_000)
    token.token.setText(phone.simulator.token)
    token.try_token()
    qtbot.waitUntil(token.plaintext.isVisible, timeout=10_000)
    assert not token.isComplete(), "a plaintext file needs a yes first"
    token.plaintext.setChecked(True)
    token.try_token()
    qtbot.waitUntil(token.isComplete, timeout=10_000)
    assert token.token.text() == "", "the token stays on the screen"

    wizard.next()
    group = wizard.group
    phone.do(lambda: phone.simulator.world.change_rights(phone.simulator.group, can_manage_topics=False))
    phone.do(lambda: phone.human.write("hello"))
    qtbot.waitUntil(lambda: group.checks.count() > 0, timeout=10_000)
    assert not group.use.isEnabled()
    phone.do(lambda: phone.simulator.world.change_rights(phone.simulator.group, can_manage_topics=True))
    qtbot.waitUntil(group.use.isEnabled, timeout=10_000)
    group.use.click()
    assert group.isComplete()

    wizard.next()
    assert not wizard.folders.isComplete()
    wizard.folders.add_folder(tmp_path)
    assert wizard.folders.isComplete()

    wizard.next()
    qtbot.waitUntil(lambda: wizard.agents.list.count() > 0, timeout=60_000)
    wizard.next()
    wizard.test.make.click()
    card = phone.run(phone.human.wait_button("It works"))
    phone.run(phone.human.press(card, "It works"))
    qtbot.waitUntil(lambda: "✓" in wizard.test.note.text(), timeout=10_000)

    settings = wizard.set_up.current()
    assert settings.telegram.chats == (phone.simulator.group.id,)
    assert set(settings.telegram.users) == {phone.human.id}
    assert settings.workspace.roots == (tmp_path,)


def test_the_wizard_goes_on_where_it_was_left(
    qtbot: QtBot, place: Folders, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_HUB_TOKEN", phone.simulator.token)
    loop = LoopThread("set-up")
    set_up = SetUp(place)
    wizard = SetUpWizard(set_up, Calls(loop))
    qtbot.addWidget(wizard)
    wizard.show()
    wizard.next()
    qtbot.waitUntil(wizard.token.isComplete, timeout=10_000)
    wizard.calls.cancel_all()
    loop.call(set_up.close()).result(timeout=10)
    loop.close()


@pytest.fixture
def at_group(wizard: SetUpWizard, phone: Phone, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> SetUpWizard:
    """The wizard on its page of the group, with the bot connected."""
    monkeypatch.setenv("AGENT_HUB_TOKEN", phone.simulator.token)
    wizard.next()
    qtbot.waitUntil(wizard.token.isComplete, timeout=10_000)
    wizard.next()
    return wizard


def test_somebody_else_who_writes_meanwhile_does_not_become_the_owner(
    at_group: SetUpWizard, phone: Phone, qtbot: QtBot
) -> None:
    group = at_group.group
    phone.do(lambda: phone.human.write("hello"))
    qtbot.waitUntil(group.use.isEnabled, timeout=10_000)
    stranger = phone.do(lambda: Human.stranger(phone.simulator))
    phone.do(lambda: stranger.write("me too"))
    qtbot.waitUntil(lambda: group.seen.count() == 2, timeout=10_000)
    group.use.click()
    assert set(at_group.set_up.current().telegram.users) == {phone.human.id}

    group.seen.setCurrentIndex(1)
    assert not group.use.isEnabled(), "what is chosen was not checked yet"
    qtbot.waitUntil(group.use.isEnabled, timeout=10_000)
    group.use.click()
    assert set(at_group.set_up.current().telegram.users) == {phone.human.id, stranger.id}


def test_the_way_back_to_the_group_listens_again(at_group: SetUpWizard, phone: Phone, qtbot: QtBot) -> None:
    phone.do(lambda: phone.human.write("hello"))
    qtbot.waitUntil(at_group.group.use.isEnabled, timeout=10_000)
    at_group.group.use.click()
    at_group.next()
    at_group.back()
    stranger = phone.do(lambda: Human.stranger(phone.simulator))
    phone.do(lambda: stranger.write("me too"))
    qtbot.waitUntil(lambda: at_group.group.seen.count() == 2, timeout=10_000)


def test_a_lost_connection_is_told_and_the_group_is_looked_for_again(
    wizard: SetUpWizard, phone: Phone, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_HUB_TOKEN", phone.simulator.token)
    look, is_down = wizard.set_up.next_sighting, threading.Event()
    is_down.set()

    async def without_network() -> Sighting:
        if is_down.is_set():
            raise HubError("No network.")
        return await look()

    monkeypatch.setattr(wizard.set_up, "next_sighting", without_network)
    wizard.group._retry.setInterval(50)
    wizard.next()
    qtbot.waitUntil(wizard.token.isComplete, timeout=10_000)
    wizard.next()
    qtbot.waitUntil(lambda: "No network." in wizard.group.note.text(), timeout=10_000)
    is_down.clear()
    phone.do(lambda: phone.human.write("hello"))
    qtbot.waitUntil(wizard.group.use.isEnabled, timeout=10_000)


def test_the_token_that_was_checked_is_kept_whatever_the_field_says_by_then(
    wizard: SetUpWizard, phone: Phone, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []

    async def keep(token: str, *, allow_plaintext: bool = False) -> SecretSource:
        kept.append(token)
        return SecretSource.KEYRING

    monkeypatch.setattr(wizard.set_up, "keep_token", keep)
    wizard.next()
    wizard.token.token.setText(phone.simulator.token)
    wizard.token.try_token()
    wizard.token.token.setText("1:typed-meanwhile")
    qtbot.waitUntil(wizard.token.isComplete, timeout=10_000)
    assert kept == [phone.simulator.token]


def test_enter_goes_on_when_the_bot_is_connected(wizard: SetUpWizard, phone: Phone, qtbot: QtBot) -> None:
    wizard.next()
    wizard.token.plaintext.setChecked(True)
    wizard.token.token.setText(phone.simulator.token)
    qtbot.keyClick(wizard.token.token, Qt.Key.Key_Return)
    qtbot.waitUntil(wizard.token.isComplete, timeout=10_000)
    focus = wizard.focusWidget()
    assert focus is wizard.button(QWizard.WizardButton.NextButton)
    qtbot.keyClick(focus, Qt.Key.Key_Return)
    assert wizard.currentPage() is wizard.group


def test_enter_makes_the_owner_chooses_a_folder_and_goes_on(
    at_group: SetUpWizard, phone: Phone, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))

    def enter() -> None:
        focus = at_group.focusWidget()
        assert focus is not None
        qtbot.keyClick(focus, Qt.Key.Key_Return)

    phone.do(lambda: phone.human.write("hello"))
    qtbot.waitUntil(at_group.group.use.isEnabled, timeout=10_000)
    enter()
    assert at_group.group.isComplete()
    enter()
    qtbot.waitUntil(lambda: at_group.focusWidget() is at_group.folders.add, timeout=5000)
    enter()
    assert at_group.set_up.current().workspace.roots == (tmp_path,)
    enter()
    assert at_group.currentPage() is at_group.agents


def test_a_check_of_nothing_undoes_nothing(at_group: SetUpWizard) -> None:
    at_group.back()
    at_group.token.check.click()
    assert at_group.token.isComplete()
    assert "Paste" in at_group.token.note.text()


def test_choosing_russian_changes_the_pages(wizard: SetUpWizard, qtbot: QtBot) -> None:
    russian = wizard.language.group.buttons()[1]
    russian.setChecked(True)
    qtbot.waitUntil(lambda: wizard.set_up.current().hub.language == "ru", timeout=10_000)
    qtbot.waitUntil(lambda: wizard.buttonText(QWizard.WizardButton.NextButton) == "Далее", timeout=10_000)
    assert wizard.currentPage() is wizard.language
    assert wizard.token.note.text() == "", "another page was entered on the way"


def test_what_the_wizard_set_up_takes_its_first_task(
    place: Folders, phone: Phone, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After the wizard the real host runs with what it wrote, and the first task gets its answer."""
    monkeypatch.setenv("AGENT_HUB_TOKEN", phone.simulator.token)
    workspace = tmp_path / "code"
    workspace.mkdir()
    set_up = SetUp(place)
    set_up.keep_group(phone.simulator.group.id)
    set_up.keep_person(phone.human.id)
    set_up.keep_roots([workspace])
    set_up.keep_default_agent("demo")
    host = ThreadedHost(place)
    host.start(lambda _view: None)
    try:
        topic = phone.do(lambda: phone.human.create_topic("First"))
        phone.do(lambda: phone.human.write("hello", topic))
        answer = phone.run(phone.human.wait_for(lambda message: "demo agent" in message.text, 30, topic=topic))
        assert not answer.is_silent
    finally:
        ended = asyncio.Event()
        host.stop(ended.set)
        qtbot.waitUntil(ended.is_set, timeout=30_000)
        assert host.loop.close()
