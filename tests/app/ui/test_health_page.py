"""The Health page shows what comes from outside as plain text, and an address as something to click."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.facade import HealthRow, HubSnapshot
from app.ui.pages.health import HealthPage


def labels(page: HealthPage) -> list[QLabel]:
    return page.findChildren(QLabel)


def test_new_figures_change_their_words_and_leave_place_and_selection(qtbot: QtBot) -> None:
    page = HealthPage()
    qtbot.addWidget(page)
    page.resize(400, 200)
    page.show()
    rows = tuple(HealthRow(f"Row {number}", "old") for number in range(40))
    page.show_snapshot(HubSnapshot(health=rows))
    bar = page._area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 100, timeout=5000)
    bar.setValue(100)
    copied = next(label for label in labels(page) if label.text() == "old")
    copied.setSelection(0, 3)
    page.show_snapshot(HubSnapshot(health=(*rows[:-1], HealthRow("Row 39", "new", False))))
    assert bar.value() == 100
    assert copied.selectedText() == "old"
    assert [label.text() for label in labels(page)].count("new") == 1


def test_a_check_is_asked_for_once_until_it_is_done(qtbot: QtBot) -> None:
    page = HealthPage()
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.check_wanted, timeout=1000):
        page.show()
    with qtbot.assertNotEmitted(page.check_wanted):
        page._check.click()
    page.show_doctor((HealthRow("disk", "5 GB"),))
    with qtbot.waitSignal(page.check_wanted, timeout=1000):
        page._check.click()


def test_news_of_a_release_are_shown_with_a_link_and_never_as_markup(qtbot: QtBot) -> None:
    page = HealthPage()
    qtbot.addWidget(page)
    link = 'https://example.org/x?a=1&b="><b>'
    page.show_snapshot(HubSnapshot(health=(HealthRow("Version", "0.9.0 is there", None, "<h1>Big</h1>", link),)))
    said = next(label for label in labels(page) if "<h1>" in label.text())
    assert said.textFormat() is Qt.TextFormat.PlainText
    clickable = next(label for label in labels(page) if label.openExternalLinks())
    assert clickable.text().startswith('<a href="https://example.org/x?a=1&amp;b=&quot;&gt;&lt;b&gt;">')
