"""Open requests as desktop notifications: shown while the window is not in front, gone when decided anywhere.

Allow and Deny stand on the notification where the desktop has buttons; a destructive request has none of them,
because it needs its second step in the window. Without a notifier the tray's bubble says it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal

from app.facade import AskRow
from app.notifications import OPEN, Notice, connect
from bridge.texts import tr

ALLOW, DENY = "allow", "deny"


def notice_of(row: AskRow) -> Notice:
    """What a notification says about a request."""
    plain = row.is_permission and not row.is_destructive
    actions = ((ALLOW, tr("Allow once")), (DENY, tr("Deny"))) if plain else ()
    head = ": ".join(part for part in (row.topic or row.agent, row.title) if part)
    text = "\n".join(part for part in (row.subject[:300], row.risk) if part)
    return Notice(row.id, head, text, actions, is_urgent=True)


class AskNotices(QObject):
    """``decided`` carries request id and allow; ``opened`` asks for the Approvals page."""

    decided = Signal(str, bool)
    opened = Signal()
    _acted = Signal(str, str)

    def __init__(self, bubble: Callable[[str, str], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bubble = bubble
        self._notifier = connect(self._acted.emit)
        self._known: set[str] = set()
        self._acted.connect(self._act, Qt.ConnectionType.QueuedConnection)

    def show(self, rows: Sequence[AskRow], *, is_seen: bool) -> None:
        """Bring the notifications in line with what is open; ``is_seen``: the window shows it anyway."""
        open_ids = {row.id for row in rows}
        for gone in self._known - open_ids:
            if self._notifier is not None:
                self._notifier.withdraw(gone)
        for row in rows:
            if row.id not in self._known and not is_seen:
                self._tell(notice_of(row))
        self._known = open_ids

    def close(self) -> None:
        if self._notifier is not None:
            self._notifier.close()
            self._notifier = None

    def _tell(self, notice: Notice) -> None:
        if self._notifier is not None:
            self._notifier.show(notice)
        else:
            self._bubble(notice.title, notice.text)

    def _act(self, key: str, action: str) -> None:
        if action in {ALLOW, DENY}:
            self.decided.emit(key, action == ALLOW)
        elif action == OPEN:
            self.opened.emit()
