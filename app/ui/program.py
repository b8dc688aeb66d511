"""``agent-hub run`` with a window: one Qt application, the wizard first when something is missing, then the desktop."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication

from app.host import ThreadedHost
from app.loop_thread import LoopThread
from app.paths import Folders
from app.settings import Settings, SettingsError, load
from app.setup_steps import SetUp, progress
from app.single_instance import SingleInstance
from app.ui.calls import Calls
from app.ui.desktop import Desktop, listen_to_signals
from app.ui.icons import app_icon
from app.ui.palette import dress
from app.ui.qt_texts import speak
from app.ui.wizard import SetUpWizard
from bridge.texts import set_language, tr


def make_application() -> QApplication:
    """The one QApplication, dressed."""
    if sys.platform == "win32":
        import ctypes

        # Without an id of its own the window is grouped under Python in the task bar.
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID("agent-hub")
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    application.setApplicationName("agent-hub")
    application.setDesktopFileName("agent-hub")
    application.setWindowIcon(app_icon())
    application.setQuitOnLastWindowClosed(False)
    dress(application)
    return application


def settings_or_default(file: Path) -> Settings:
    """A broken file must not keep the window away; the host says what is wrong with it."""
    try:
        return load(file)
    except SettingsError:
        return Settings()


class Program(QObject):
    """Switches between wizard and desktop; both are never open together, since both would poll the bot."""

    _show_wanted = Signal()

    def __init__(
        self,
        application: QApplication,
        place: Folders,
        settings_file: Path | None,
        data_dir: Path | None,
        instance: SingleInstance,
    ) -> None:
        super().__init__()
        self.application = application
        self._show_wanted.connect(self._show, Qt.ConnectionType.QueuedConnection)
        self.place, self.data_dir = place, data_dir
        self.file = settings_file or place.settings_file
        self.instance = instance
        self.wizard: SetUpWizard | None = None
        self.desktop: Desktop | None = None
        self._wants_set_up = False
        self._loop: LoopThread | None = None

    def begin(self) -> None:
        settings = settings_or_default(self.file)
        set_language(settings.hub.language)
        speak(settings.hub.language)
        self.instance.listen(self._called)
        if progress(settings).is_complete:
            self.open_desktop(show_window=False)
        else:
            self.open_wizard()

    def open_wizard(self) -> None:
        try:
            load(self.file)
        except SettingsError:
            self.open_desktop(show_window=True)  # nothing can be set up in a broken file; the window says what is wrong
            return
        self._loop = LoopThread("set-up")
        self.wizard = SetUpWizard(SetUp(self.place, self.file), Calls(self._loop))
        # Queued: the wizard is let go there, and must not be while it closes itself.
        self.wizard.finished.connect(self._wizard_closed, Qt.ConnectionType.QueuedConnection)
        self.wizard.demo_wanted.connect(self._try_demo)
        self.wizard.show()

    def _wizard_closed(self, _result: int) -> None:
        self._end_set_up()
        self.open_desktop(show_window=True)

    def _end_set_up(self) -> None:
        """Close the wizard's connection and its thread."""
        wizard, self.wizard = self.wizard, None
        loop, self._loop = self._loop, None
        if wizard is None or loop is None:
            return
        wizard.calls.cancel_all()
        with contextlib.suppress(TimeoutError):
            loop.call(wizard.set_up.close()).result(timeout=5)
        loop.close()
        wizard.deleteLater()

    def _try_demo(self) -> None:
        from app.ui.demo_desktop import open_demo_beside

        if self.wizard is None:
            return
        if open_demo_beside(settings_or_default(self.file).hub.language):
            self.wizard.language.say(tr("The demo opens in a window of its own and in your browser."))
        else:
            self.wizard.language.say(tr("The demo could not be started. Run it in a terminal: agent-hub demo"))

    def open_desktop(self, *, show_window: bool) -> None:
        host = ThreadedHost(self.place, self.file, self.data_dir)
        host.settings = settings_or_default(self.file)
        self.desktop = Desktop(host, self._left)
        self.desktop.set_up_wanted.connect(self._set_up_again)
        self.desktop.start(show_window=show_window)

    def _called(self, word: str) -> str:
        """A second start, in the doorbell's thread."""
        if word == "show":
            self._show_wanted.emit()
        return ""

    def _show(self) -> None:
        """Bring to the front what is open: wizard or window."""
        if self.wizard is not None:
            self.wizard.show()
            self.wizard.raise_()
            self.wizard.activateWindow()
        elif self.desktop is not None:
            self.desktop.window.bring_up()

    def _set_up_again(self) -> None:
        self._wants_set_up = True
        if self.desktop is not None:
            self.desktop.quit()

    def _left(self) -> None:
        desktop, self.desktop = self.desktop, None
        if desktop is not None:
            desktop.close()
        if self._wants_set_up:
            self._wants_set_up = False
            QTimer.singleShot(0, self.open_wizard)
        else:
            self.application.quit()

    def quit(self) -> None:
        """SIGINT, SIGTERM."""
        if self.desktop is not None:
            self.desktop.quit(asks=False)
        else:
            self._end_set_up()
            self.application.quit()


def run_with_window(place: Folders, settings_file: Path | None, data_dir: Path | None, instance: SingleInstance) -> int:
    """Run until quit; returns Qt's exit code."""
    application = make_application()
    program = Program(application, place, settings_file, data_dir, instance)
    timer = listen_to_signals(program.quit)
    QTimer.singleShot(0, program.begin)
    code = application.exec()
    timer.stop()
    return int(code)
