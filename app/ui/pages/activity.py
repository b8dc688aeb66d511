"""Activity: the log with filter and search, and what was rejected with buttons to let that chat or person in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QFontDatabase, QGuiApplication, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.facade import HubSnapshot
from app.ui.log_model import LEVELS, LogModel
from app.ui.pages.approvals import moment
from app.ui.pages.page import OrEmpty, Page
from app.ui.rows_table import Column, RowsTable
from bridge.texts import tr


class ActivityPage(Page):
    """``allow_chat_wanted`` and ``allow_user_wanted`` carry ids of the selected rejected update."""

    allow_chat_wanted = Signal(int)
    allow_user_wanted = Signal(int)

    def __init__(self) -> None:
        self.title = tr("Activity")
        super().__init__()
        self.tabs = QTabWidget()
        self.content.addWidget(self.tabs)
        self.tabs.addTab(self._make_log(), tr("Log"))
        self.tabs.addTab(self._make_rejected(), tr("Rejected"))
        self._copy = self.add_button(tr("Copy selected lines"), self._copy_lines)
        self._chat = self.add_button(tr("Allow this group…"), lambda: self._allow(self.allow_chat_wanted, "chat_id"))
        self._user = self.add_button(tr("Allow this person…"), lambda: self._allow(self.allow_user_wanted, "user_id"))
        self.end_buttons()
        self.tabs.currentChanged.connect(lambda _place: self._enable())
        self.lines.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self.rejected.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self._lines_or_empty.show_content(False)
        self._was_shown = False
        self._enable()

    def showEvent(self, event: QShowEvent) -> None:
        """The newest lines first: a list that was never shown does not know its height."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self.lines.scrollToBottom()

    def _make_log(self) -> QWidget:
        self.model = LogModel()
        self.lines = QListView()
        self.lines.setModel(self.model)
        self.lines.setUniformItemSizes(True)
        self.lines.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.lines.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.lines.setAccessibleName(tr("Log"))
        self.level = QComboBox()
        self.level.addItems(LEVELS)
        self.level.setCurrentText("INFO")
        self.level.setAccessibleName(tr("Least level"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName(tr("Search in the log"))
        copy = QAction(self.lines)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(lambda _checked=False: self._copy_lines())
        self.lines.addAction(copy)
        self.level.currentTextChanged.connect(lambda _text: self._refilter())
        self.search.textChanged.connect(lambda _text: self._refilter())
        row = QHBoxLayout()
        row.addWidget(self.level)
        row.addWidget(self.search, 1)
        holder = QWidget()
        layout = QVBoxLayout(holder)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addLayout(row)
        self._lines_or_empty = OrEmpty(self.lines, tr("No lines to show."))
        layout.addWidget(self._lines_or_empty)
        return holder

    def _make_rejected(self) -> QWidget:
        columns = [
            Column(tr("When"), lambda row: moment(row.at), sort=lambda row: -row.at),
            Column(tr("Who"), lambda row: f"{row.name} ({row.user_id})", stretches=True),
            Column(tr("Group"), lambda row: str(row.chat_id)),
            Column(tr("Why"), lambda row: row.reason, stretches=True),
        ]
        self.rejected = RowsTable(columns, lambda row: row.key, tr("Rejected updates"))
        self._rejected_or_empty = OrEmpty(self.rejected, tr("Nothing was rejected."))
        return self._rejected_or_empty

    def lines_so_far(self) -> list[str]:
        """Everything the log holds, for a window that takes this one's place."""
        return self.model.lines()

    def append_log(self, lines: Sequence[str]) -> None:
        """Add lines; stays at the end when it was at the end."""
        bar = self.lines.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - 2
        self.model.append(lines)
        self._lines_or_empty.show_content(self.model.rowCount() > 0)
        if follows:
            self.lines.scrollToBottom()

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        self.rejected.set_rows(snapshot.rejected)
        self._rejected_or_empty.show_content(bool(snapshot.rejected))
        self._enable()

    def _refilter(self) -> None:
        self.model.choose(self.level.currentText(), self.search.text())
        self._enable()
        self.lines.scrollToBottom()
        self._lines_or_empty.show_content(self.model.rowCount() > 0)

    def _copy_lines(self) -> None:
        rows = sorted(self.lines.selectionModel().selectedIndexes(), key=lambda index: index.row())
        if not rows:
            return  # what somebody copied elsewhere stays
        QGuiApplication.clipboard().setText("\n".join(str(index.data()) for index in rows))

    def _allow(self, signal: Signal, name: str) -> None:
        row = self.rejected.selected()
        if row is not None:
            signal.emit(getattr(row, name))

    def _enable(self) -> None:
        is_log = self.tabs.currentIndex() == 0
        self._copy.setVisible(is_log)
        self._copy.setEnabled(self.lines.selectionModel().hasSelection())
        for button in (self._chat, self._user):
            button.setVisible(not is_log)
            button.setEnabled(self.rejected.selected() is not None)
