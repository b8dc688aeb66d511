"""Settings: one form made from the model; checked field by field, saved only when all is right."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.facade import HubSnapshot
from app.settings import Settings
from app.settings_fields import FieldKind, SettingField, current, fields, problem_with
from app.ui.pages.page import Page
from bridge.texts import tr

INTERRUPTS = {"telegram.base_url", "telegram.base_file_url", "telegram.proxy"}


class Editor(QWidget):
    """One field: its editor, its description, and what is wrong with it."""

    edited = Signal()

    def __init__(self, field: SettingField) -> None:
        super().__init__()
        self.field = field
        self.widget = self._make()
        self.widget.setAccessibleName(field.name)
        self.widget.setAccessibleDescription(field.description)
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
                spin = QDoubleSpinBox()
                spin.setRange(0, 604_800)
                spin.setDecimals(0)
                spin.valueChanged.connect(lambda _value: self._changed())
                return spin
            case FieldKind.CHOICE:
                combo = QComboBox()
                combo.addItems(self.field.choices)
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
                self.widget.setCurrentText(str(value))
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
                return int(self.widget.value())
            case QComboBox():
                return self.widget.currentText()
            case QPlainTextEdit():
                return self._lines(self.widget.toPlainText())
        return self.widget.text().strip()

    def _lines(self, text: str) -> Any:
        rows = [row.strip() for row in text.splitlines() if row.strip()]
        if isinstance(self.field.default, dict):
            return {key.strip(): role.strip() or "owner" for key, _, role in (row.partition("=") for row in rows)}
        return [int(row) if row.lstrip("-").isdigit() else row for row in rows]

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

    def __init__(self) -> None:
        self.title = tr("Settings")
        super().__init__()
        self._settings = Settings()
        self.editors = {field.name: Editor(field) for field in fields()}
        holder = QWidget()
        form = QFormLayout(holder)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        section = ""
        for name, editor in self.editors.items():
            if name.split(".")[0] != section:
                section = name.split(".")[0]
                heading = QLabel(tr(section.capitalize()))
                font = heading.font()
                font.setBold(True)
                heading.setFont(font)
                form.addRow(heading)
            form.addRow(name.split(".")[1].replace("_", " "), editor)
            editor.edited.connect(self._enable)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(holder)
        self.content.addWidget(area)
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
        self.show_settings(self._settings)

    def show_settings(self, settings: Settings) -> None:
        """Show what is in force."""
        self._settings = settings
        for name, editor in self.editors.items():
            editor.set_value(current(settings, name))
            editor.check()
        self._enable()

    def show_snapshot(self, snapshot: HubSnapshot) -> None:
        """Settings change only by the person's hand; what waits in the file is shown as it comes."""
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
        self.note.setText(
            tr("Saving this connects to Telegram anew; running turns go on.") if INTERRUPTS & set(changes) else ""
        )
