"""Activity: the log with filter and search, and what was rejected with buttons to let that chat or person in."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
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
from app.ui.pages.approvals import moment
from app.ui.pages.page import OrEmpty, Page
from app.ui.rows_table import Column, RowsTable
from bridge.texts import tr

KEPT_LINES = 100_000
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class LogModel(QAbstractListModel):
    """The newest lines; appending is one insert for a whole batch."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[str] = deque()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        return self._lines[index.row()] if role == Qt.ItemDataRole.DisplayRole else None

    def lines(self) -> list[str]:
        return list(self._lines)

    def append(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        start = len(self._lines)
        self.beginInsertRows(QModelIndex(), start, start + len(lines) - 1)
        self._lines.extend(lines)
        self.endInsertRows()
        surplus = len(self._lines) - KEPT_LINES
        if surplus > 0:
            self.beginRemoveRows(QModelIndex(), 0, surplus - 1)
            for _ in range(surplus):
                self._lines.popleft()
            self.endRemoveRows()


class LogFilter(QSortFilterProxyModel):
    """Lines of at least a level that hold the words searched for."""

    def __init__(self) -> None:
        super().__init__()
        self._levels: tuple[str, ...] = LEVELS[1:]
        self._words = ""

    def choose(self, level: str, words: str) -> None:
        begin, end = getattr(self, "beginFilterChange", None), getattr(self, "endFilterChange", None)
        if begin:  # Qt 6.9 and newer; the old call is deprecated there
            begin()
        self._levels = LEVELS[LEVELS.index(level) :]
        self._words = words.casefold()
        if end:
            end()
        else:
            self.invalidateFilter()

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:
        line = str(self.sourceModel().data(self.sourceModel().index(row, 0, parent)))
        return any(f" {level} " in line for level in self._levels) and self._words in line.casefold()


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
        self.rejected.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self._enable()

    def _make_log(self) -> QWidget:
        self.model = LogModel()
        self.filter = LogFilter()
        self.filter.setSourceModel(self.model)
        self.lines = QListView()
        self.lines.setModel(self.filter)
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
        self.level.currentTextChanged.connect(lambda _text: self._refilter())
        self.search.textChanged.connect(lambda _text: self._refilter())
        row = QHBoxLayout()
        row.addWidget(self.level)
        row.addWidget(self.search, 1)
        holder = QWidget()
        layout = QVBoxLayout(holder)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addLayout(row)
        layout.addWidget(self.lines)
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
        if follows:
            self.lines.scrollToBottom()

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        self.rejected.set_rows(snapshot.rejected)
        self._rejected_or_empty.show_content(bool(snapshot.rejected))
        self._enable()

    def _refilter(self) -> None:
        self.filter.choose(self.level.currentText(), self.search.text())

    def _copy_lines(self) -> None:
        rows = sorted(self.lines.selectionModel().selectedIndexes(), key=lambda index: index.row())
        QGuiApplication.clipboard().setText("\n".join(str(index.data()) for index in rows))

    def _allow(self, signal: Signal, name: str) -> None:
        row = self.rejected.selected()
        if row is not None:
            signal.emit(getattr(row, name))

    def _enable(self) -> None:
        is_log = self.tabs.currentIndex() == 0
        self._copy.setVisible(is_log)
        for button in (self._chat, self._user):
            button.setVisible(not is_log)
            button.setEnabled(self.rejected.selected() is not None)
