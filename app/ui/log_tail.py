"""Carries log lines to the window in batches: one signal every half second, however much is logged."""

from __future__ import annotations

import logging
from collections import deque

from PySide6.QtCore import QObject, QTimer, Signal

from app.logs import redactor

KEPT = 5000
EVERY_MS = 500


class LogTail(QObject):
    """Attach once; emits lines in the main thread. Lines between two beats beyond KEPT are dropped, oldest first."""

    lines_came = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[str] = deque(maxlen=KEPT)
        self._handler = _QueueHandler(self._waiting)
        logging.getLogger().addHandler(self._handler)
        self._timer = QTimer(self, interval=EVERY_MS, timeout=self._flush)
        self._timer.start()

    def close(self) -> None:
        logging.getLogger().removeHandler(self._handler)
        self._timer.stop()

    def _flush(self) -> None:
        lines = []
        while self._waiting:
            lines.append(self._waiting.popleft())
        if lines:
            self.lines_came.emit(lines)


class _QueueHandler(logging.Handler):
    """Any thread may log; a deque's append is atomic."""

    def __init__(self, waiting: deque[str]) -> None:
        super().__init__()
        self._waiting = waiting
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self.addFilter(redactor)

    def emit(self, record: logging.LogRecord) -> None:
        self._waiting.extend(self.format(record).splitlines())
