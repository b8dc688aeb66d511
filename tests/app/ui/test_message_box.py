"""Boxes that ask and tell: no by default, in the person's language, and what an agent says in them is no markup."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from app.ui.message_box import confirm, warn
from app.ui.qt_texts import speak


@pytest.fixture
def russian(qtbot: QtBot) -> Iterator[None]:
    assert speak("ru")
    yield
    speak("en")


def when_open(qtbot: QtBot, do: object) -> list[QMessageBox]:
    """Call ``do`` with the box once it is there."""
    seen: list[QMessageBox] = []

    def look() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(20, look)
            return
        seen.append(box)
        do(box)

    QTimer.singleShot(0, look)
    return seen


def test_enter_alone_says_no(qtbot: QtBot) -> None:
    formats: list[Qt.TextFormat] = []

    def press(box: QMessageBox) -> None:
        formats.append(box.textFormat())
        qtbot.keyClick(box, Qt.Key.Key_Return)

    when_open(qtbot, press)
    assert confirm(None, "Run <b>rm -rf /</b>?") is False
    assert formats == [Qt.TextFormat.PlainText]


def test_yes_says_yes(qtbot: QtBot) -> None:
    when_open(qtbot, lambda box: box.button(QMessageBox.StandardButton.Yes).click())
    assert confirm(None, "Really?") is True


@pytest.mark.usefixtures("russian")
def test_qts_own_buttons_speak_russian(qtbot: QtBot) -> None:
    words: list[str] = []

    def read(box: QMessageBox) -> None:
        words.extend(button.text().replace("&", "") for button in box.buttons())
        box.reject()

    when_open(qtbot, read)
    confirm(None, "Точно?")
    assert set(words) == {"Да", "Нет"}


def test_another_language_takes_the_words_of_the_former_away(qtbot: QtBot) -> None:
    assert speak("ru")
    speak("en")
    words: list[str] = []

    def read(box: QMessageBox) -> None:
        words.append(box.buttons()[0].text().replace("&", ""))
        box.reject()

    when_open(qtbot, read)
    warn(None, "Mind the gap.")
    assert words == ["OK"]
