"""What every page has: a title, a place for its content, a row of buttons, and an empty state that says what to do."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from app.facade import HubSnapshot


class Page(QWidget):
    """Base of the pages; subclasses fill ``content`` and implement ``show_snapshot``."""

    title = ""

    def __init__(self) -> None:
        super().__init__()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(20, 16, 20, 16)
        outer.setSpacing(12)
        self.heading = QLabel(self.title)
        font = self.heading.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        font.setBold(True)
        self.heading.setFont(font)
        outer.addWidget(self.heading)
        self.content = QVBoxLayout()
        self.content.setSpacing(8)
        outer.addLayout(self.content, 1)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(8)
        outer.addLayout(self.buttons)

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        """Show what is new; called in the main thread at most twice a second."""
        raise NotImplementedError

    def add_button(self, text: str, on_click: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(lambda _checked=False: on_click())
        self.buttons.addWidget(button)
        return button

    def end_buttons(self) -> None:
        self.buttons.addStretch(1)


class OrEmpty(QWidget):
    """A widget, or a sentence in the middle while there is nothing to show."""

    def __init__(self, widget: QWidget, sentence: str) -> None:
        super().__init__()
        self._layout = QStackedLayout(self)
        self._layout.addWidget(widget)
        self.sentence = QLabel(sentence)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence.setWordWrap(True)
        self.sentence.setForegroundRole(self.sentence.palette().ColorRole.PlaceholderText)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._layout.addWidget(self.sentence)

    def show_content(self, has_content: bool) -> None:
        self._layout.setCurrentIndex(0 if has_content else 1)
