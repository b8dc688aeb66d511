"""Light and dark colours with every role set: a half-set palette is unreadable, and many desktops give Qt none."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

Role = QPalette.ColorRole

LIGHT = {
    Role.Window: "#f5f7fa",
    Role.WindowText: "#1b2430",
    Role.Base: "#ffffff",
    Role.AlternateBase: "#f0f3f7",
    Role.Text: "#1b2430",
    Role.PlaceholderText: "#5f6b7a",
    Role.Button: "#e9edf2",
    Role.ButtonText: "#1b2430",
    Role.BrightText: "#c62828",
    Role.Highlight: "#2a6fbf",
    Role.HighlightedText: "#ffffff",
    Role.Link: "#1f6fc4",
    Role.LinkVisited: "#6a4fb3",
    Role.ToolTipBase: "#1b2430",
    Role.ToolTipText: "#ffffff",
    Role.Light: "#ffffff",
    Role.Midlight: "#eef1f5",
    Role.Mid: "#c9d1db",
    Role.Dark: "#9aa6b5",
    Role.Shadow: "#5c6878",
    Role.Accent: "#2a6fbf",
}
DARK = {
    Role.Window: "#17212b",
    Role.WindowText: "#e6edf5",
    Role.Base: "#1e2b38",
    Role.AlternateBase: "#233242",
    Role.Text: "#e6edf5",
    Role.PlaceholderText: "#9fb0c2",
    Role.Button: "#2a3b4c",
    Role.ButtonText: "#e6edf5",
    Role.BrightText: "#ff7b72",
    Role.Highlight: "#2f74c0",
    Role.HighlightedText: "#ffffff",
    Role.Link: "#6ab3f3",
    Role.LinkVisited: "#b39ddb",
    Role.ToolTipBase: "#34485c",
    Role.ToolTipText: "#e6edf5",
    Role.Light: "#3d5368",
    Role.Midlight: "#34485c",
    Role.Mid: "#43586d",
    Role.Dark: "#0b1118",
    Role.Shadow: "#05080c",
    Role.Accent: "#2f74c0",
}
DARK_BOX = "#5b6f84"
EDGES = {False: "#b3bcc8", True: "#9bb4cc"}
"""By dark: the style draws the edge of a field 1.4 times darker than the field's window colour, in the dark too."""
FIELDS = ("QLineEdit", "QPlainTextEdit", "QComboBox", "QAbstractSpinBox")


def palette(*, dark: bool) -> QPalette:
    """All roles for all groups; what is disabled is dimmed."""
    made = QPalette()
    for role, colour in (DARK if dark else LIGHT).items():
        made.setColor(role, QColor(colour))
    dim = QColor("#7c8ea1" if dark else "#9aa6b5")
    for role in (Role.WindowText, Role.Text, Role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, dim)
    return made


def wants_dark() -> bool:
    """What the platform says; unknown means light."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def dress(application: QApplication, *, dark: bool | None = None) -> None:
    """Give the application its style and colours, and follow the platform when it changes its mind."""
    application.setStyle("Fusion")
    paint(application, dark=wants_dark() if dark is None else dark)
    if dark is None:
        application.styleHints().colorSchemeChanged.connect(lambda _scheme: paint(application, dark=wants_dark()))


def paint(application: QApplication, *, dark: bool) -> None:
    """Colours for everything; boxes to tick are lighter in the dark, where the style gives them hardly an outline.

    Fields get an edge that can be seen (WCAG 2.1: 3 to 1).
    """
    application.setPalette(palette(dark=dark))
    edged = palette(dark=dark)
    edged.setColor(Role.Window, QColor(EDGES[dark]))
    for kind in FIELDS:
        application.setPalette(edged, kind)
    boxes = palette(dark=dark)
    if dark:
        boxes.setColor(Role.Base, QColor(DARK_BOX))
    for kind in ("QCheckBox", "QRadioButton"):
        application.setPalette(boxes, kind)
