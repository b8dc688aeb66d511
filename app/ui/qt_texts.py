"""The words of Qt's own parts (Yes and No, Copy and Paste, the folder chooser) in the language of the rest.

They come with Qt (``qtbase_<language>.qm``). Main thread.
"""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QTranslator
from PySide6.QtWidgets import QApplication


def speak(language: str) -> bool:
    """Use this language from now on; False where Qt brings no words of it and goes on in English."""
    application = QApplication.instance()
    if application is None:
        return False
    for former in application.findChildren(QTranslator):
        application.removeTranslator(former)
        former.deleteLater()
    words = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    return words.load(f"qtbase_{language}", folder) and application.installTranslator(words)
