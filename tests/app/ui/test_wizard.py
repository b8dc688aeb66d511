"""The first-run wizard from its first page to the first task, against a simulated Telegram in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail
from PySide6.QtWidgets import QWizard
from pytestqt.qtbot import QtBot

from app.host import ThreadedHost
from app.loop_thread import LoopThread
from app.paths import Folders, folders
from app.setup_steps import SetUp
from app.ui.calls import Calls
from app.ui.wizard import SetUpWizard
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


def test_choosing_russian_changes_the_pages(wizard: SetUpWizard, qtbot: QtBot) -> None:
    russian = wizard.language.group.buttons()[1]
    russian.setChecked(True)
    qtbot.waitUntil(lambda: wizard.set_up.current().hub.language == "ru", timeout=2000)
    qtbot.waitUntil(lambda: wizard.buttonText(QWizard.WizardButton.NextButton) != "", timeout=2000)


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
