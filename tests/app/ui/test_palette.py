"""Both sets of colours against the contrast that WCAG 2.1 AA asks of text (4.5) and of the edges of fields (3)."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.ui.palette import paint, palette

Role = QPalette.ColorRole
PAIRS = [
    (Role.WindowText, Role.Window),
    (Role.Text, Role.Base),
    (Role.Text, Role.AlternateBase),
    (Role.ButtonText, Role.Button),
    (Role.PlaceholderText, Role.Base),
    (Role.PlaceholderText, Role.Window),
    (Role.BrightText, Role.Window),
    (Role.HighlightedText, Role.Highlight),
    (Role.ToolTipText, Role.ToolTipBase),
    (Role.Link, Role.Window),
    (Role.LinkVisited, Role.Window),
]
"""What stands on what."""


def luminance(colour: QColor) -> float:
    """Relative luminance as WCAG 2.1 defines it."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_has_the_contrast_of_the_standard() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)


@pytest.mark.parametrize(("text", "ground"), PAIRS, ids=lambda role: role.name)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("group", [QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive], ids=lambda one: one.name)
def test_text_can_be_read_on_its_background(text: Role, ground: Role, dark: bool, group: QPalette.ColorGroup) -> None:
    colours = palette(dark=dark)
    assert contrast(colours.color(group, text), colours.color(group, ground)) >= 4.5


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_edge_of_a_field_can_be_seen(qtbot: QtBot, qapp: QApplication, dark: bool) -> None:
    qapp.setStyle("Fusion")
    paint(qapp, dark=dark)
    try:
        field = QLineEdit()
        qtbot.addWidget(field)
        field.resize(200, 30)
        picture = field.grab().toImage()
        column = [picture.pixelColor(100, y) for y in range(4)]
        edge = max(contrast(colour, palette(dark=dark).color(Role.Base)) for colour in column)
        assert edge >= 3
    finally:
        paint(qapp, dark=False)
