"""The label that most texts of wizard and dialogs stand in, and how others' words stand on buttons."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel


def as_said(text: str) -> str:
    """A text that others wrote, for buttons and menus: their "&" is no shortcut."""
    return text.replace("&", "&&")


def wrapped(text: str = "") -> QLabel:
    """Wraps its text and lets a person select it; never reads markup."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
