"""A table over frozen rows: cheap for thousands of rows, keeps selection and scroll place when rows change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

Index = QModelIndex | QPersistentModelIndex
WIDEST = 220
PRECISION = 50
"""Rows that are measured for a column's width."""
SORT_ROLE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class Column:
    """``text`` shows a row's cell; ``sort`` gives what it is ordered by (default: the text)."""

    title: str
    text: Callable[[Any], str]
    sort: Callable[[Any], Any] | None = None
    stretches: bool = False


def as_tip(text: str) -> str:
    """A tooltip that shows a text as it is: Qt would take an agent's words in angle brackets for markup."""
    return f"<p>{escape(text)}</p>" if text else ""


class RowsModel(QAbstractTableModel):
    """Rows with an identity: ``key`` tells which row of the new set is which of the old."""

    def __init__(self, columns: Sequence[Column], key: Callable[[Any], str]) -> None:
        super().__init__()
        self._columns = tuple(columns)
        self._key = key
        self.rows: tuple[Any, ...] = ()

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows; when they are the same ones in the same order only their cells are repainted."""
        new = tuple(rows)
        if new == self.rows:
            return
        if [self._key(row) for row in new] == [self._key(row) for row in self.rows]:
            self.rows = new
            self.dataChanged.emit(self.index(0, 0), self.index(len(new) - 1, len(self._columns) - 1))
            return
        self.beginResetModel()
        self.rows = new
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == SORT_ROLE:
            return column.sort(row) if column.sort else column.text(row).casefold()
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(column.text(row))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self._columns[section].title
        return None


class RowsTable(QTableView):
    """A sortable, read-only view of a RowsModel."""

    def __init__(
        self, columns: Sequence[Column], key: Callable[[Any], str], name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._key = key
        self._model = RowsModel(columns, key)
        self._proxy = QSortFilterProxyModel(self)
        self._proxy.setSourceModel(self._model)
        self._proxy.setSortRole(SORT_ROLE)
        self._proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._proxy.setFilterKeyColumn(-1)
        self.setModel(self._proxy)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # as the rows come, until a heading is clicked
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        header = self.horizontalHeader()
        for place, column in enumerate(columns):
            mode = QHeaderView.ResizeMode.Stretch if column.stretches else QHeaderView.ResizeMode.Interactive
            header.setSectionResizeMode(place, mode)
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(PRECISION)
        self._fitted = [place for place, column in enumerate(columns) if not column.stretches]

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Show these rows; the selected one stays selected when it is still there."""
        chosen, was_empty = self.selected(), not self._model.rows
        self._model.set_rows(rows)
        self.viewport().update()  # rows that are the same grow older: "5 minutes" is worked out as it is painted
        if was_empty and self._model.rows:
            self._fit_columns()
        if chosen is not None and self.selected() is None:
            self.select(self._key(chosen))

    def _fit_columns(self) -> None:
        """Wide enough for what came first; afterwards the person's own widths stay."""
        for place in self._fitted:
            self.resizeColumnToContents(place)
            self.setColumnWidth(place, min(self.columnWidth(place) + 8, WIDEST))

    @property
    def rows(self) -> tuple[Any, ...]:
        """What is shown, in the order it came."""
        return self._model.rows

    def set_filter(self, text: str) -> None:
        self._proxy.setFilterFixedString(text)

    def shown(self) -> int:
        return self._proxy.rowCount()

    def selected(self) -> Any | None:
        indexes = self.selectionModel().selectedRows()
        return self._model.rows[self._proxy.mapToSource(indexes[0]).row()] if indexes else None

    def select(self, key: str) -> None:
        for place, row in enumerate(self._model.rows):
            if self._key(row) == key:
                self.selectRow(self._proxy.mapFromSource(self._model.index(place, 0)).row())
                return
