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
    Role.PlaceholderText: "#7a8696",
    Role.Button: "#e9edf2",
    Role.ButtonText: "#1b2430",
    Role.BrightText: "#c62828",
    Role.Highlight: "#2f7fd6",
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
    Role.Accent: "#2f7fd6",
}
DARK = {
    Role.Window: "#17212b",
    Role.WindowText: "#e6edf5",
    Role.Base: "#0f1720",
    Role.AlternateBase: "#15202b",
    Role.Text: "#e6edf5",
    Role.PlaceholderText: "#8493a5",
    Role.Button: "#223140",
    Role.ButtonText: "#e6edf5",
    Role.BrightText: "#ff7b72",
    Role.Highlight: "#3d8fe0",
    Role.HighlightedText: "#ffffff",
    Role.Link: "#6ab3f3",
    Role.LinkVisited: "#b39ddb",
    Role.ToolTipBase: "#2b3b4c",
    Role.ToolTipText: "#e6edf5",
    Role.Light: "#33475b",
    Role.Midlight: "#2a3b4c",
    Role.Mid: "#3a4c5f",
    Role.Dark: "#0b1118",
    Role.Shadow: "#05080c",
    Role.Accent: "#3d8fe0",
}


def palette(*, dark: bool) -> QPalette:
    """All roles for all groups; what is disabled is dimmed."""
    made = QPalette()
    for role, colour in (DARK if dark else LIGHT).items():
        made.setColor(role, QColor(colour))
    dim = QColor("#66788a" if dark else "#9aa6b5")
    for role in (Role.WindowText, Role.Text, Role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, dim)
    return made


def wants_dark() -> bool:
    """What the platform says; unknown means light."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def dress(application: QApplication, *, dark: bool | None = None) -> None:
    """Give the application its style and colours, and follow the platform when it changes its mind."""
    application.setStyle("Fusion")
    if dark is not None:
        application.setPalette(palette(dark=dark))
        return
    application.setPalette(palette(dark=wants_dark()))
    hints = application.styleHints()
    hints.colorSchemeChanged.connect(lambda _scheme: application.setPalette(palette(dark=wants_dark())))
