"""The Health page shows what comes from outside as plain text, and an address as something to click."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.facade import HealthRow, HubSnapshot
from app.ui.pages.health import HealthPage


def labels(page: HealthPage) -> list[QLabel]:
    return page.findChildren(QLabel)


def test_news_of_a_release_are_shown_with_a_link_and_never_as_markup(qtbot: QtBot) -> None:
    page = HealthPage()
    qtbot.addWidget(page)
    link = 'https://example.org/x?a=1&b="><b>'
    page.show_snapshot(HubSnapshot(health=(HealthRow("Version", "0.9.0 is there", None, "<h1>Big</h1>", link),)))
    said = next(label for label in labels(page) if "<h1>" in label.text())
    assert said.textFormat() is Qt.TextFormat.PlainText
    clickable = next(label for label in labels(page) if label.openExternalLinks())
    assert clickable.text().startswith('<a href="https://example.org/x?a=1&amp;b=&quot;&gt;&lt;b&gt;">')
