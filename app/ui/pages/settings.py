"""Settings: one form made from the model; checked field by field, saved only when all is right."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QEvent, QLocale, QObject, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.facade import HubSnapshot
from app.settings import Settings
from app.settings_fields import NEEDS_RESTART, FieldKind, SettingField, current, fields, problem_with
from app.ui.pages.page import Page
from bridge.texts import tr

WHOLE = re.compile(r"-?[0-9]+")
LANGUAGES = {"en": "English", "ru": "Русский"}


class KeepsWheel(QObject):
    """Lets the wheel scroll the page: over a number or a list it would change a setting that nobody looks at."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


class Number(QDoubleSpinBox):
    """Shows no decimals that say nothing, and a point in every language, as the file does."""

    def __init__(self, *, is_whole: bool) -> None:
        super().__init__()
        self.setLocale(QLocale.c())
        self.setRange(0, 1e12)
        self.setDecimals(0 if is_whole else 2)
        self.setMaximumWidth(160)

    def textFromValue(self, value: float) -> str:
        return f"{value:.2f}".rstrip("0").rstrip(".")


def choice_text(field: SettingField, word: str) -> str:
    """What a list offers for a word of the file."""
    if field.name == "hub.language":
        return LANGUAGES.get(word, word)
    return tr(word) if word else tr("as usual")


class Editor(QWidget):
    """One field: its editor, its description, and what is wrong with it."""

    edited = Signal()

    def __init__(self, field: SettingField) -> None:
        super().__init__()
        self.field = field
        self.widget = self._make()
        if isinstance(self.widget, QComboBox | QDoubleSpinBox):
            self.widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not by the wheel either
            self.widget.installEventFilter(KeepsWheel(self))
        self.widget.setAccessibleName(tr(field.label))
        self.widget.setAccessibleDescription(tr(field.description))
        self.problem = QLabel()
        self.problem.setForegroundRole(self.palette().ColorRole.BrightText)
        self.problem.setWordWrap(True)
        self.problem.hide()
        note = QLabel(tr(field.description))
        note.setWordWrap(True)
        note.setForegroundRole(self.palette().ColorRole.PlaceholderText)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 10)
        layout.setSpacing(3)
        for widget in (self.widget, note, self.problem):
            layout.addWidget(widget)

    def _make(self) -> QWidget:
        match self.field.kind:
            case FieldKind.SWITCH:
                box = QCheckBox(tr("on"))
                box.toggled.connect(lambda _on: self._changed())
                return box
            case FieldKind.NUMBER:
                spin = Number(is_whole=self.field.is_whole)
                spin.valueChanged.connect(lambda _value: self._changed())
                return spin
            case FieldKind.CHOICE:
                combo = QComboBox()
                for word in self.field.choices:
                    combo.addItem(choice_text(self.field, word), word)
                combo.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
                combo.currentTextChanged.connect(lambda _text: self._changed())
                return combo
            case FieldKind.LINES:
                lines = QPlainTextEdit()
                lines.setFixedHeight(70)
                lines.setTabChangesFocus(True)
                lines.textChanged.connect(self._changed)
                return lines
            case _:
                line = QLineEdit()
                line.textChanged.connect(lambda _text: self._changed())
                return line

    def set_value(self, value: Any) -> None:
        match self.widget:
            case QCheckBox():
                self.widget.setChecked(bool(value))
            case QDoubleSpinBox():
                self.widget.setValue(float(value))
            case QComboBox():
                self.widget.setCurrentIndex(max(0, self.widget.findData(str(value))))
            case QPlainTextEdit():
                rows = (
                    [f"{key} = {role}" for key, role in value.items()] if isinstance(value, dict) else map(str, value)
                )
                self.widget.setPlainText("\n".join(rows))
            case QLineEdit():
                self.widget.setText(str(value))

    def value(self) -> Any:
        match self.widget:
            case QCheckBox():
                return self.widget.isChecked()
            case QDoubleSpinBox():
                number = self.widget.value()
                return int(number) if number.is_integer() else number
            case QComboBox():
                return self.widget.currentData()
            case QPlainTextEdit():
                return self._lines(self.widget.toPlainText())
        return self.widget.text().strip()

    def _lines(self, text: str) -> Any:
        rows = [row.strip() for row in text.splitlines() if row.strip()]
        if isinstance(self.field.default, dict):
            return {key.strip(): role.strip() or "owner" for key, _, role in (row.partition("=") for row in rows)}
        return [int(row) if WHOLE.fullmatch(row) else row for row in rows]

    def check(self) -> bool:
        """Show what is wrong; True when nothing is."""
        problem = problem_with(self.field.name, self.value())
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        return not problem

    def _changed(self) -> None:
        self.check()
        self.edited.emit()


class SettingsPage(Page):
    """``apply_wanted`` carries dotted names with their new values."""

    apply_wanted = Signal(object)
    accept_wanted = Signal()
    lock_wanted = Signal()

    def __init__(self) -> None:
        self.title = tr("Settings")
        super().__init__()
        self._settings = Settings()
        self._editors: dict[str, Editor] = {}
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self.content.addWidget(self._area)
        self.pending = QLabel()
        self.pending.setWordWrap(True)
        self.pending.hide()
        self.content.insertWidget(0, self.pending)
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.content.addWidget(self.note)
        self.save = self.add_button(tr("Save"), self._save)
        self.undo = self.add_button(tr("Discard changes"), lambda: self.show_settings(self._settings))
        self.accept = self.add_button(tr("Yes, use the changes of the file"), self.accept_wanted.emit)
        self.accept.hide()
        self.end_buttons()

    @property
    def editors(self) -> dict[str, Editor]:
        """By dotted name. The form is half of the whole window's cost, so it is made when it is first needed."""
        if not self._editors:
            self._editors = {field.name: Editor(field) for field in fields()}
            self._area.setWidget(self._make_form())
            self.show_settings(self._settings)
        return self._editors

    def showEvent(self, event: QShowEvent) -> None:
        _ = self.editors
        super().showEvent(event)

    def _make_form(self) -> QWidget:
        holder = QWidget()
        form = QFormLayout(holder)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        section = ""
        for name, editor in self._editors.items():
            if name.split(".")[0] != section:
                section = name.split(".")[0]
                heading = QLabel(tr(section.capitalize()))
                font = heading.font()
                font.setBold(True)
                heading.setFont(font)
                form.addRow(heading)
            form.addRow(tr(editor.field.label), editor)
            editor.edited.connect(self._enable)
            if name == "lock.enabled":
                form.addRow("", self._make_lock_button())
        return holder

    def _make_lock_button(self) -> QWidget:
        self.lock = QPushButton(tr("Set up the lock…"))
        self.lock.clicked.connect(lambda _checked=False: self.lock_wanted.emit())
        self.lock.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        return self.lock

    def show_settings(self, settings: Settings) -> None:
        """Show what is in force."""
        self._settings = settings
        for name, editor in self._editors.items():
            editor.blockSignals(True)
            editor.set_value(current(settings, name))
            editor.check()
            editor.blockSignals(False)
        if self._editors:
            self._enable()

    def follow(self, settings: Settings) -> None:
        """They were changed elsewhere: show them, but keep what is being edited here."""
        edited = self.changes() if self._editors else {}
        self.show_settings(settings)
        for name, value in edited.items():
            self._editors[name].set_value(value)

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        """What waits in the file is shown as it comes."""
        self.pending.setVisible(bool(snapshot.pending))
        self.accept.setVisible(bool(snapshot.pending))
        if snapshot.pending:
            head = tr("Changed in the settings file, not in force until you say yes:")
            self.pending.setText("\n".join([head, *snapshot.pending]))

    def changes(self) -> dict[str, Any]:
        return {
            name: editor.value()
            for name, editor in self.editors.items()
            if editor.value() != current(self._settings, name)
        }

    def _save(self) -> None:
        changes = self.changes()
        if changes and all(editor.check() for editor in self.editors.values()):
            self.apply_wanted.emit(changes)

    def _enable(self) -> None:
        changes = self.changes()
        is_right = all(not problem_with(name, value) for name, value in changes.items())
        self.save.setEnabled(bool(changes) and is_right)
        self.undo.setEnabled(bool(changes))
        interrupts = any(name.startswith(NEEDS_RESTART) for name in changes)
        self.note.setText(
            tr("Saving this starts the hub anew: running turns are interrupted and offered with Continue.")
            if interrupts
            else ""
        )
        self.note.setVisible(interrupts)
