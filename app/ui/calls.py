"""Work in the engine's loop whose answer comes back into the main thread as a Qt call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from agents.contract import HubError
from app.loop_thread import LoopThread
from bridge.texts import tr

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
        for future in tuple(self._running):
            future.cancel()

    def _deliver(
        self, parcel: tuple[Future[Any], Callable[[Any], None] | None, Callable[[HubError], None] | None]
    ) -> None:
        future, then, failed = parcel
        self._running.discard(future)
        try:
            result = future.result()
        except CancelledError:
            return
        except HubError as error:
            if failed is not None:
                failed(error)
            return
        except Exception as error:  # noqa: BLE001 - the window's outermost edge: the person hears of it
            if failed is not None:
                failed(HubError(tr("Something went wrong."), detail=f"{type(error).__name__}: {error}"))
            return
        if then is not None:
            then(result)
