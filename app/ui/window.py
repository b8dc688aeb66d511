"""The main window: pages at the left, one shown at the right. Shows snapshots; everything it does goes by signals.

Closing hides it when a tray holds the program, else it ends the program: it is never invisible and running.
"""

from __future__ import annotations

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QPalette, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMainWindow,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.facade import HubSnapshot
from app.ui.icons import app_icon, light_icon
from app.ui.pages.activity import ActivityPage
from app.ui.pages.agents import AgentsPage
from app.ui.pages.approvals import ApprovalsPage
from app.ui.pages.health import HealthPage
from app.ui.pages.sessions import SessionsPage
from app.ui.pages.settings import SettingsPage
from bridge.texts import tr


class MainWindow(QMainWindow):
    """``place`` remembers where the window was and which page it showed. ``lock_wanted``: True locks, False opens."""

    pause_wanted = Signal(bool)
    quit_wanted = Signal()
    setup_wanted = Signal()
    lock_wanted = Signal(bool)

    def __init__(self, place: QSettings) -> None:
        super().__init__()
        self._place = place
        self._snapshot = HubSnapshot()
        self.hides_on_close = True
        self.setWindowTitle("agent-hub")
        self.setWindowIcon(app_icon())
        self.sessions, self.approvals, self.activity = SessionsPage(), ApprovalsPage(), ActivityPage()
        self.agents, self.settings, self.health = AgentsPage(), SettingsPage(), HealthPage()
        self.pages = (self.sessions, self.approvals, self.activity, self.agents, self.settings, self.health)
        self.stack = QStackedWidget()
        self.names = QListWidget()
        self.names.setAccessibleName(tr("Pages"))
        self.names.setFixedWidth(180)
        self.names.setFrameShape(QFrame.Shape.NoFrame)
        # The selected state is styled too: a style on ::item alone would drop its background.
        self.names.setStyleSheet(
            "QListWidget::item { padding-left: 12px; }"
            "QListWidget::item:selected { background: palette(highlight); color: palette(highlighted-text); }"
        )
        for number, page in enumerate(self.pages, start=1):
            self.stack.addWidget(page)
            item = QListWidgetItem(page.title)
            item.setSizeHint(QSize(160, 36))
            self.names.addItem(item)
            shortcut = QShortcut(QKeySequence(f"Ctrl+{number}"), self)
            shortcut.activated.connect(lambda row=number - 1: self.names.setCurrentRow(row))
        self.names.currentRowChanged.connect(self.stack.setCurrentIndex)
        self._build()
        self.resize(1000, 640)
        self.setMinimumSize(760, 480)
        if geometry := place.value("geometry"):
            self.restoreGeometry(geometry)
        self.names.setCurrentRow(int(place.value("page", 0)))
        self.show_snapshot(self._snapshot)

    def _build(self) -> None:
        self.light = QLabel()
        self.sentence = QLabel()
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setWordWrap(True)
        self.pause = QPushButton()
        self.pause.clicked.connect(lambda _checked=False: self.pause_wanted.emit(not self._snapshot.view.is_paused))
        self.lock = QPushButton()
        self.lock.clicked.connect(lambda _checked=False: self.lock_wanted.emit(not self._snapshot.view.is_locked))
        setup = QPushButton(tr("Set up…"))
        setup.clicked.connect(lambda _checked=False: self.setup_wanted.emit())
        leave = QPushButton(tr("Quit"))
        leave.clicked.connect(lambda _checked=False: self.quit_wanted.emit())
        top = QHBoxLayout()
        top.setContentsMargins(16, 10, 16, 10)
        top.setSpacing(10)
        top.addWidget(self.light)
        top.addWidget(self.sentence, 1)
        for widget in (self.lock, self.pause, setup, leave):
            top.addWidget(widget)
        line = QFrame()
        line.setFrameStyle(QFrame.Shape.HLine | QFrame.Shadow.Plain)
        line.setForegroundRole(QPalette.ColorRole.Mid)
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self.names)
        body.addWidget(self.stack, 1)
        holder = QWidget()
        layout = QVBoxLayout(holder)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(line)
        layout.addLayout(body, 1)
        self.setCentralWidget(holder)

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        self._snapshot = snapshot
        view = snapshot.view
        self.light.setPixmap(light_icon(view.light).pixmap(24, 24))
        self.light.setAccessibleName(view.light.value)
        self.sentence.setText(view.sentence + (f" {view.hint}" if view.hint else ""))
        self.pause.setText(tr("Resume") if view.is_paused else tr("Pause"))
        self.lock.setVisible(view.has_lock)
        self.lock.setText(tr("Unlock") if view.is_locked else tr("Lock now"))
        for page in self.pages:
            page.show_snapshot(snapshot)
        title = tr("Approvals") + (f" ({len(snapshot.asks)})" if snapshot.asks else "")
        self.names.item(1).setText(title)

    def show_page(self, page: QWidget) -> None:
        """Bring a page to the front, and the window with it."""
        self.names.setCurrentRow(self.stack.indexOf(page))
        self.bring_up()

    def bring_up(self) -> None:
        self.show()
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.raise_()
        self.activateWindow()

    def remember(self) -> None:
        """Write down where the window is and which page it shows."""
        self._place.setValue("geometry", self.saveGeometry())
        self._place.setValue("page", self.names.currentRow())

    def closeEvent(self, event: QCloseEvent) -> None:
        self.remember()
        if self.hides_on_close:
            event.ignore()
            self.hide()
        else:
            event.ignore()
            self.quit_wanted.emit()
