"""Questions and complaints in a box of their own. What an agent or a file says in them is never read as markup."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

Icon, Standard = QMessageBox.Icon, QMessageBox.StandardButton


def made(icon: Icon, text: str, buttons: Standard, parent: QWidget | None) -> QMessageBox:
    box = QMessageBox(icon, "agent-hub", text, buttons, parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    return box


def confirm(parent: QWidget | None, question: str) -> bool:
    """Whether the person says yes; Enter alone says no."""
    box = made(Icon.Question, question, Standard.Yes | Standard.No, parent)
    box.setDefaultButton(Standard.No)
    return box.exec() == Standard.Yes


def warn(parent: QWidget | None, text: str) -> None:
    """Tell, and wait until it was read."""
    made(Icon.Warning, text, Standard.Ok, parent).exec()
