"""Open requests and ended turns as desktop notifications, shown while the window is not in front.

Allow and Deny stand on the notification where the desktop has buttons; a destructive request has none of them,
because it needs its second step in the window. What was decided anywhere is taken away. Without a notifier the
tray's bubble says it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal

from app.facade import AskRow, SessionRow, SessionState
from app.notifications import OPEN, Notice, connect
from bridge.texts import tr

ALLOW, DENY = "allow", "deny"
TURN = "turn:"
"""Before a session's key: the notice of its ended turn."""
BUSY = {SessionState.WORKING, SessionState.WAITING}
AT_REST = {SessionState.IDLE, SessionState.ASLEEP}


def notice_of(row: AskRow) -> Notice:
    """What a notification says about a request."""
    plain = row.is_permission and not row.is_destructive
    actions = ((ALLOW, tr("Allow once")), (DENY, tr("Deny"))) if plain else ()
    head = ": ".join(part for part in (row.topic or row.agent, row.title) if part)
    text = "\n".join(part for part in (row.subject[:300], row.risk) if part)
    return Notice(row.id, head, text, actions, is_urgent=True)


def ended_notice(row: SessionRow) -> Notice:
    """What a notification says about a turn that is over."""
    return Notice(TURN + row.key, row.topic, tr("{agent} is done. The answer is in the topic.", agent=row.agent))


class Notices(QObject):
    """``decided`` carries request id and allow; ``ask_opened`` and ``turn_opened`` what was clicked, by id or key."""

    decided = Signal(str, bool)
    ask_opened = Signal(str)
    turn_opened = Signal(str)
    _acted = Signal(str, str)

    def __init__(self, bubble: Callable[[str, str], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bubble = bubble
        self._notifier = connect(self._acted.emit)
        self._known: set[str] = set()
        self._busy: set[str] = set()
        self._last = ""
        self.is_on = True
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

    def show_ended(self, rows: Sequence[SessionRow], *, is_seen: bool) -> None:
        """Tell of every session that was busy when last looked at and rests now."""
        for row in rows:
            if row.key in self._busy and row.state in AT_REST and not is_seen:
                self._tell(ended_notice(row))
        self._busy = {row.key for row in rows if row.state in BUSY}

    def open_last(self) -> None:
        """The tray's bubble was clicked; it says only what was told last."""
        self._act(self._last, OPEN)

    def close(self) -> None:
        if self._notifier is not None:
            self._notifier.close()
            self._notifier = None

    def _tell(self, notice: Notice) -> None:
        if not self.is_on:
            return
        self._last = notice.key
        if self._notifier is not None:
            self._notifier.show(notice)
        else:
            self._bubble(notice.title, notice.text)

    def _act(self, key: str, action: str) -> None:
        if action in {ALLOW, DENY}:
            self.decided.emit(key, action == ALLOW)
        elif action == OPEN and key.startswith(TURN):
            self.turn_opened.emit(key.removeprefix(TURN))
        elif action == OPEN:
            self.ask_opened.emit(key)
