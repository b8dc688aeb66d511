"""The log's lines as a list for the window: the newest 100,000, those of at least a level that hold the words.

Filtering is done here over plain lists: a proxy model asks Python for every line by itself, which took two seconds.
A line without a level (a traceback) belongs to the line above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

KEPT_LINES = 100_000
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
"""What a person chooses from; CRITICAL counts as an error."""
RANKS = {**{level: rank for rank, level in enumerate(LEVELS)}, "CRITICAL": len(LEVELS) - 1}


def rank_of(line: str, before: int) -> int:
    """The level among the first words of a line ("2026-11-30 12:00:00,001 INFO ..."), else that of the line before."""
    for word in line.split(" ", 3)[:3]:
        if word in RANKS:
            return RANKS[word]
    return before


class LogModel(QAbstractListModel):
    """Appending is one insert for a whole batch."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._ranks: list[int] = []
        self._shown: list[str] = []
        self._least = RANKS["INFO"]
        self._words = ""

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        return self._shown[index.row()] if role == Qt.ItemDataRole.DisplayRole else None

    def lines(self) -> list[str]:
        """Everything that is kept, shown or not."""
        return list(self._lines)

    def choose(self, level: str, words: str) -> None:
        """Show lines of at least this level that hold the words, in any case."""
        self.beginResetModel()
        self._least, self._words = RANKS[level], words.casefold()
        self._shown = self._fitting(self._lines, self._ranks)
        self.endResetModel()

    def append(self, lines: Sequence[str]) -> None:
        ranks, rank = [], self._ranks[-1] if self._ranks else RANKS["INFO"]
        for line in lines:
            rank = rank_of(line, rank)
            ranks.append(rank)
        self._lines += lines
        self._ranks += ranks
        fitting = self._fitting(lines, ranks)
        if fitting:
            start = len(self._shown)
            self.beginInsertRows(QModelIndex(), start, start + len(fitting) - 1)
            self._shown += fitting
            self.endInsertRows()
        self._drop_oldest()

    def _fitting(self, lines: Sequence[str], ranks: Sequence[int]) -> list[str]:
        least, words = self._least, self._words
        return [
            line
            for line, rank in zip(lines, ranks, strict=True)
            if rank >= least and (not words or words in line.casefold())
        ]

    def _drop_oldest(self) -> None:
        surplus = len(self._lines) - KEPT_LINES
        if surplus <= 0:
            return
        gone = len(self._fitting(self._lines[:surplus], self._ranks[:surplus]))
        del self._lines[:surplus], self._ranks[:surplus]
        if gone:
            self.beginRemoveRows(QModelIndex(), 0, gone - 1)
            del self._shown[:gone]
            self.endRemoveRows()
