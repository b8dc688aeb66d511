"""Health: the engine's own figures and the doctor's checks, each with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QWidget

from app.facade import HealthRow, HubSnapshot
from app.ui.label import wrapped
from app.ui.pages.page import Page
from bridge.texts import tr

Role = QPalette.ColorRole
MARKS = {True: "✓", False: "✗", None: "•"}


class HealthPage(Page):
    """``check_wanted`` asks for a new round of the doctor."""

    check_wanted = Signal()

    def __init__(self) -> None:
        self.title = tr("Health")
        super().__init__()
        self._engine: tuple[HealthRow, ...] = ()
        self._doctor: tuple[HealthRow, ...] = ()
        self._was_shown = False
        self._shape: list[tuple[str, str]] = []
        self._labels: list[tuple[QLabel, QLabel]] = []
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self.content.addWidget(self._area)
        self._check = self.add_button(tr("Check everything"), self._check_everything)
        self.end_buttons()
        self._fill()

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        if snapshot.health != self._engine:
            self._engine = snapshot.health
            self._fill()

    def show_doctor(self, rows: Sequence[HealthRow]) -> None:
        self.show_not_checked()
        self._doctor = tuple(rows)
        self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        """The first look checks everything by itself."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self._check_everything()

    def _check_everything(self) -> None:
        """It takes seconds, and once is enough."""
        self._check.setEnabled(False)
        self._check.setText(tr("Checking…"))
        self.check_wanted.emit()

    def show_not_checked(self) -> None:
        """The check could not be made; the reason is told elsewhere."""
        self._check.setEnabled(True)
        self._check.setText(tr("Check everything"))

    def rows(self) -> tuple[HealthRow, ...]:
        return self._engine + self._doctor

    def _fill(self) -> None:
        """The same rows as before only change their words: place and selection stay, it happens each second."""
        rows = self.rows()
        shape = [(row.name, row.link) for row in rows] + [("", str(bool(self._doctor)))]
        if shape != self._shape:
            self._shape = shape
            self._make_rows(rows)
        for (mark, value), row in zip(self._labels, rows, strict=True):
            say(mark, MARKS[row.is_fine])
            mark.setAccessibleName({True: tr("fine"), False: tr("problem"), None: ""}[row.is_fine])
            mark.setForegroundRole(Role.BrightText if row.is_fine is False else Role.WindowText)
            say(value, row.value + (f"\n{row.hint}" if row.hint else ""))

    def _make_rows(self, rows: Sequence[HealthRow]) -> None:
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setColumnStretch(2, 1)
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        self._labels = []
        for place, row in enumerate(rows):
            mark, name, value = QLabel(), QLabel(row.name[:1].upper() + row.name[1:]), wrapped()
            if row.link:
                grid.addWidget(link_label(row.link), place, 3, Qt.AlignmentFlag.AlignTop)
            for column, label in enumerate((mark, name, value)):
                grid.addWidget(label, place, column, Qt.AlignmentFlag.AlignTop)
            self._labels.append((mark, value))
        if not self._doctor:
            grid.addWidget(QLabel(tr("Checking…")), len(rows), 1, 1, 3)
        grid.setRowStretch(len(rows) + 1, 1)
        place = self._area.verticalScrollBar().value()
        self._area.setWidget(holder)
        self._area.verticalScrollBar().setValue(place)


def say(label: QLabel, text: str) -> None:
    """A label that is told its own words again loses what was selected in it."""
    if label.text() != text:
        label.setText(text)


def link_label(address: str) -> QLabel:
    """An address to click; the text comes from outside, so it is escaped."""
    words = tr("What is new")
    label = QLabel(f'<a href="{escape(address)}">{escape(words)}</a>')
    label.setOpenExternalLinks(True)
    label.setToolTip(address)
    return label
