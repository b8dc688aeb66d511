"""The tray icon: state at a glance, and a menu that holds every action (many desktops open only the menu).

The menu is filled when it is about to show and on every change, because hosts that read it over D-Bus never tell.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.health import HubView
from app.ui.icons import light_icon
from app.ui.label import as_said
from bridge.texts import tr


class Tray(QObject):
    """Shows a HubView; says what the person wants by signals. Owns no engine."""

    open_wanted = Signal()
    approvals_wanted = Signal()
    login_toggled = Signal(bool)
    pause_wanted = Signal(bool)
    lock_wanted = Signal()
    quit_wanted = Signal()
    bubble_clicked = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view = HubView()
        self._menu = QMenu()
        self._state = QAction(self)
        self._open = QAction(self)
        self._pause = QAction(self)
        self._lock = QAction(self)
        self._login = QAction(self)
        self._login.setCheckable(True)
        self._waits: list[QAction] = []
        self._quit = QAction(self)
        self._menu.addAction(self._state)
        self._menu.addSeparator()
        self._menu.addAction(self._open)
        self._menu.addAction(self._pause)
        self._menu.addAction(self._lock)
        self._menu.addAction(self._login)
        self._menu.addSeparator()
        self._menu.addAction(self._quit)
        self._state.triggered.connect(lambda _checked=False: self.open_wanted.emit())
        self._open.triggered.connect(lambda _checked=False: self.open_wanted.emit())
        self._pause.triggered.connect(lambda _checked=False: self.pause_wanted.emit(not self._view.is_paused))
        self._lock.triggered.connect(lambda _checked=False: self._lock_chosen())
        self._login.triggered.connect(lambda on=False: self.login_toggled.emit(on))
        self._quit.triggered.connect(lambda _checked=False: self.quit_wanted.emit())
        self._icon = QSystemTrayIcon(self)
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._activated)
        self._icon.messageClicked.connect(self.bubble_clicked)
        self.show_view(self._view)

    def show(self) -> None:
        self._icon.show()

    def hide(self) -> None:
        """Take the icon away; on Windows a ghost stays behind otherwise."""
        self._icon.hide()

    def show_view(self, view: HubView) -> None:
        self._view = view
        self._icon.setIcon(light_icon(view.light, for_menu_bar=True))
        self._icon.setToolTip(f"agent-hub: {view.sentence}")
        self._state.setText(as_said(view.sentence))
        self._show_waits(view.waits)
        self._open.setText(tr("Open agent-hub"))
        self._login.setText(tr("Open at login"))
        self._pause.setText(tr("Resume") if view.is_paused else tr("Pause"))
        self._lock.setText(tr("Unlock in the window…") if view.is_locked else tr("Lock now"))
        self._lock.setVisible(view.has_lock)
        self._quit.setText(tr("Quit"))

    def show_login(self, is_on: bool) -> None:
        """What the system really does at login."""
        self._login.setChecked(is_on)

    def _show_waits(self, waits: tuple[str, ...]) -> None:
        """One entry per open request, under the state; a click opens the Approvals page."""
        waits = tuple(map(as_said, waits))
        if tuple(action.text() for action in self._waits) == waits:
            return
        for action in self._waits:
            self._menu.removeAction(action)
            action.deleteLater()
        first = self._menu.actions()[1]
        self._waits = []
        for text in waits:
            action = QAction(text, self)
            action.triggered.connect(lambda _checked=False: self.approvals_wanted.emit())
            self._menu.insertAction(first, action)
            self._waits.append(action)

    def notify(self, title: str, text: str) -> None:
        """A desktop notification; a click on it is ``bubble_clicked``."""
        self._icon.showMessage(title, text, light_icon(self._view.light))

    def menu_texts(self) -> list[str]:
        """What the menu says now, top to bottom."""
        return [action.text() for action in self._menu.actions() if not action.isSeparator() and action.isVisible()]

    def _lock_chosen(self) -> None:
        """Locking is done here; opening only in the window, since a program on the session bus can choose an entry."""
        (self.open_wanted if self._view.is_locked else self.lock_wanted).emit()

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in {QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick}:
            self.open_wanted.emit()
