"""Health: the engine's own figures and the doctor's checks, each with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QWidget

from app.facade import HealthRow, HubSnapshot
from app.ui.pages.page import Page
from bridge.texts import tr

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
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self.content.addWidget(self._area)
        self._check = self.add_button(tr("Check everything"), self.check_wanted.emit)
        self.end_buttons()
        self._fill()

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        if snapshot.health != self._engine:
            self._engine = snapshot.health
            self._fill()

    def show_doctor(self, rows: Sequence[HealthRow]) -> None:
        self._doctor = tuple(rows)
        self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        """The first look checks everything by itself."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self.check_wanted.emit()

    def rows(self) -> tuple[HealthRow, ...]:
        return self._engine + self._doctor

    def _fill(self) -> None:
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setColumnStretch(2, 1)
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        for place, row in enumerate(self.rows()):
            mark = QLabel(MARKS[row.is_fine])
            mark.setAccessibleName({True: tr("fine"), False: tr("problem"), None: ""}[row.is_fine])
            if row.is_fine is False:
                mark.setForegroundRole(mark.palette().ColorRole.BrightText)
            name, value = (
                QLabel(row.name[:1].upper() + row.name[1:]),
                QLabel(row.value + (f"\n{row.hint}" if row.hint else "")),
            )
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            if row.link:
                grid.addWidget(link_label(row.link), place, 3, Qt.AlignmentFlag.AlignTop)
            for column, label in enumerate((mark, name, value)):
                grid.addWidget(label, place, column, Qt.AlignmentFlag.AlignTop)
        if not self._doctor:
            grid.addWidget(QLabel(tr("Checking…")), len(self.rows()), 1, 1, 3)
        grid.setRowStretch(len(self.rows()) + 1, 1)
        self._area.setWidget(holder)


def link_label(address: str) -> QLabel:
    """An address to click; the text comes from outside, so it is escaped."""
    label = QLabel(f'<a href="{escape(address)}">{escape(tr("What is new"))}</a>')
    label.setOpenExternalLinks(True)
    label.setToolTip(address)
    return label
