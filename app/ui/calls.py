"""Work in the engine's loop whose answer comes back into the main thread as a Qt call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from agents.contract import HubError
from app.loop_thread import LoopThread
from bridge.texts import tr

log = logging.getLogger(__name__)

Then = Callable[[Any], None] | None
Failed = Callable[[HubError], None] | None
Parcel = tuple[Future[Any], Then, Failed]


class Calls(QObject):
    """Start work with ``go``; ``then`` gets its result, ``failed`` its error, both in the main thread."""

    _arrived = Signal(object)

    def __init__(self, loop: LoopThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loop = loop
        self._running: set[Future[Any]] = set()
        self._noted = ""
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def go(
        self,
        work: Coroutine[Any, Any, Any],
        then: Then = None,
        failed: Failed = None,
    ) -> Future[Any]:
        future = self._loop.call(work)
        self._running.add(future)
        future.add_done_callback(lambda done: self._arrived.emit((done, then, failed)))
        return future

    def cancel_all(self) -> None:
        """End what runs; nothing of it is delivered any more, not even what has its result already."""
        running, self._running = self._running, set()
        for future in running:
            future.cancel()

    def _note(self, error: Exception) -> None:
        """A fault of ours goes to the log; the same one again and again (a look each second) only once."""
        told = f"{type(error).__name__}: {error}"
        if told != self._noted:
            self._noted = told
            log.error("what the window asked for failed", exc_info=error)

    def _deliver(self, parcel: Parcel) -> None:
        future, then, failed = parcel
        if future not in self._running:
            return
        self._running.remove(future)
        try:
            result = future.result()
        except CancelledError:
            return
        except HubError as error:
            if failed is not None:
                failed(error)
            return
        except Exception as error:  # noqa: BLE001 - the window's outermost edge: the person hears of it
            self._note(error)
            if failed is not None:
                failed(HubError(tr("Something went wrong."), detail=f"{type(error).__name__}: {error}"))
            return
        if then is not None:
            then(result)
