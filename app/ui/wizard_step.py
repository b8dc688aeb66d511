"""What every page of the wizard has: a place for what happens, and whether it may be left by Next."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget, QWizard, QWizardPage

from agents.contract import HubError
from app.setup_steps import SetUp
from app.ui.calls import Calls
from app.ui.label import wrapped
from bridge.texts import told, tr


class Step(QWizardPage):
    """A page that is complete when ``done`` was called; ``say`` shows what happens or went wrong."""

    def __init__(self, set_up: SetUp, calls: Calls) -> None:
        super().__init__()
        self.set_up, self.calls = set_up, calls
        self._is_done = False
        self.first: QWidget | None = None
        """What has the keyboard when the page comes; None: what Qt takes."""
        self._focus = QTimer(self, singleShot=True, interval=0, timeout=self._focus_first)
        self.box = QVBoxLayout(self)
        self.box.setSpacing(10)
        self.note = wrapped()
        self.note.setAccessibleName(tr("What happened"))

    def close_box(self) -> None:
        self.box.addWidget(self.note)
        self.box.addStretch(1)

    def say(self, text: str) -> None:
        self.note.setText(text)

    def complain(self, error: HubError) -> None:
        self.note.setText("✗ " + " ".join(told(part) for part in (error.title, error.hint) if part))

    def done(self, is_done: bool = True) -> None:
        self._is_done = is_done
        self.completeChanged.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """The wizard gives the keyboard to the topmost part after this; ours comes later."""
        super().showEvent(event)
        if not event.spontaneous():
            self._focus.start()

    def _focus_first(self) -> None:
        if self.first is not None and self.isVisible() and (not self._is_done or self.nextId() < 0):
            self.first.setFocus()

    def offer_next(self) -> None:
        """What this page wanted is there: Enter goes on."""
        wizard = self.wizard()
        if wizard is not None and self.isVisible():
            last = QWizard.WizardButton.FinishButton if self.isFinalPage() or self.nextId() < 0 else None
            wizard.button(last or QWizard.WizardButton.NextButton).setFocus()

    def isComplete(self) -> bool:
        return self._is_done
