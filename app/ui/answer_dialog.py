"""An agent's questions answered at the desk: all of a request on one sheet, sent together, as the phone's card does.

What counts as an answer is decided where the phone's answers are decided (``bridge.pending.questionnaire``).
"""

from __future__ import annotations

import textwrap

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from agents.contract import Answer, Answers, Question, QuestionKind
from app.ui.label import as_said, wrapped
from bridge.pending.questionnaire import NO, YES, Questionnaire
from bridge.texts import tr

INDENT = 24
"""Logical pixels: a description stands under the words of its option."""
LINE = 60
"""Letters of an option that stand in one line: a button does not wrap its words by itself."""


def below(text: str) -> QLabel:
    """An option's description or address; it can be copied."""
    label = wrapped(text)
    label.setContentsMargins(INDENT, 0, 0, 4)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


class QuestionSheet(QWidget):
    """One question with what answers it. ``values`` is empty when it is skipped."""

    changed = Signal()

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        self.buttons: list[QAbstractButton] = []
        self.typed: QLineEdit | None = None
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 12)
        heading = wrapped(question.text)
        heading.setStyleSheet("font-weight: bold")
        if question.header:
            box.addWidget(wrapped(question.header))
        box.addWidget(heading)
        group = QButtonGroup(self)
        group.setExclusive(not question.is_multiple)
        for label, description in self._options():
            kind = QCheckBox if question.is_multiple or self._is_link else QRadioButton
            button = kind(as_said("\n".join(textwrap.wrap(label, LINE)) or label))
            button.toggled.connect(lambda _on: self.changed.emit())
            if not self._is_link:
                group.addButton(button)
            self.buttons.append(button)
            box.addWidget(button)
            if description:
                box.addWidget(below(description))
        if Questionnaire((question,)).takes_text:
            self.typed = QLineEdit()
            self.typed.setPlaceholderText(tr("Your own answer") if self.buttons else tr("Your answer"))
            self.typed.setAccessibleName(question.text)
            self.typed.textChanged.connect(lambda _text: self.changed.emit())
            box.addWidget(self.typed)
        self.problem = wrapped()
        self.problem.setForegroundRole(self.palette().ColorRole.BrightText)
        self.problem.hide()
        box.addWidget(self.problem)

    @property
    def _is_link(self) -> bool:
        return self.question.kind is QuestionKind.LINK

    def _options(self) -> list[tuple[str, str]]:
        if self.question.kind is QuestionKind.CONFIRM:
            return [(tr("Yes"), ""), (tr("No"), "")]
        if self._is_link:
            return [(tr("I opened it and went through"), self.question.link)]
        return [(choice.label, choice.description) for choice in self.question.choices]

    def read(self) -> tuple[tuple[str, ...], str]:
        """The answer, and what is wrong with it ("" = nothing)."""
        text = self.typed.text().strip() if self.typed is not None else ""
        picked = {number for number, button in enumerate(self.buttons) if button.isChecked()}
        if not picked and not text:
            return (), tr("This one must be answered.") if self.question.is_required else ""
        one = Questionnaire((self.question,))
        if text:
            one.picked = picked if self.question.is_multiple else set()
            problem = one.type(text)
            return (() if problem else one.answers().answers[0].values), problem
        if self.question.kind is QuestionKind.CHOICE:
            return tuple(self.question.choices[number].label for number in sorted(picked)), ""
        return ((YES if 0 in picked else NO),), ""

    def show_problem(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))


class AnswerDialog(QDialog):
    """``answered`` carries the answers of all questions at once."""

    answered = Signal(object)

    def __init__(self, title: str, questions: tuple[Question, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title or tr("Answer"))
        self.setMinimumWidth(460)
        self.sheets = [QuestionSheet(question) for question in questions]
        inner = QWidget()
        column = QVBoxLayout(inner)
        for sheet in self.sheets:
            sheet.changed.connect(self._look)
            column.addWidget(sheet)
        column.addStretch()
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        row = QDialogButtonBox()
        self.send = row.addButton(tr("Send"), QDialogButtonBox.ButtonRole.AcceptRole)
        row.addButton(tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        row.accepted.connect(self._send)
        row.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(area)
        layout.addWidget(row)
        self.resize(480, min(560, 140 + 120 * len(self.sheets)))
        self._look()

    def _look(self) -> None:
        """Say what is wrong with a typed answer as it is typed; an empty sheet is no answer at all."""
        read = [sheet.read() for sheet in self.sheets]
        for sheet, (_values, problem) in zip(self.sheets, read, strict=True):
            sheet.show_problem(problem if sheet.typed is not None and sheet.typed.text().strip() else "")
        self.send.setEnabled(any(values for values, _ in read) and not any(problem for _, problem in read))

    def _send(self) -> None:
        self.answered.emit(Answers(tuple(Answer(one.question.key, one.read()[0]) for one in self.sheets)))
        self.accept()
