"""The demo with tray and window where a display exists, and the phone page in the person's own browser."""

from __future__ import annotations

import sys

from PySide6.QtCore import QProcess, QTimer, QUrl
from PySide6.QtGui import QDesktopServices

from app.console import say
from app.demo import DemoHost, DemoOptions
from app.ui.desktop import Desktop, listen_to_signals
from app.ui.program import make_application
from app.ui.qt_texts import speak
from bridge.texts import set_language


def run_demo_window(options: DemoOptions) -> int:
    """Run until quit; the demo's folder is gone afterwards."""
    application = make_application()
    set_language(options.language)
    speak(options.language)
    host = DemoHost(options)
    desktop = Desktop(host, application.quit)

    def opened(address: str) -> None:
        say(f"The phone: {address}")
        QDesktopServices.openUrl(QUrl(address))

    desktop.calls.go(host.address(), opened, desktop.complain)
    timer = listen_to_signals(lambda: desktop.quit(asks=False))
    QTimer.singleShot(0, lambda: desktop.start(show_window=True))
    code = application.exec()
    timer.stop()
    desktop.close()
    return int(code)


def open_demo_beside(language: str) -> bool:
    """Start the demo as a program of its own, which outlives this one; False when it could not be started."""
    module = [] if getattr(sys, "frozen", False) else ["-m", "app"]
    return bool(QProcess.startDetached(sys.executable, [*module, "demo", "--language", language])[0])
