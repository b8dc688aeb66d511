"""What every page of the wizard has: a place for what happens, and whether it may be left by Next."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWizard, QWizardPage

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

    def offer_next(self) -> None:
        """What this page wanted is there: Enter goes on."""
        wizard = self.wizard()
        if wizard is not None and self.isVisible():
            wizard.button(QWizard.WizardButton.NextButton).setFocus()

    def isComplete(self) -> bool:
        return self._is_done
