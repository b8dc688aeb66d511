"""Questions answered at the desk: every kind of question, and only what the phone would take."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from agents.contract import Answer, Answers, Choice, Question, QuestionKind
from app.ui.answer_dialog import AnswerDialog

COLOURS = (Choice("Green", "calm"), Choice("Red"))


def dialog_of(qtbot: QtBot, *questions: Question) -> AnswerDialog:
    dialog = AnswerDialog("", questions)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def sent(qtbot: QtBot, dialog: AnswerDialog) -> Answers:
    with qtbot.waitSignal(dialog.answered, timeout=10_000) as caught:
        dialog.send.click()
    answers = caught.args[0]
    assert isinstance(answers, Answers)
    return answers


def test_an_option_is_sent_with_its_own_label(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot, Question("c", "Which colour?", choices=COLOURS))
    dialog.sheets[0].buttons[1].setChecked(True)
    assert sent(qtbot, dialog) == Answers((Answer("c", ("Red",)),))


def test_several_options_are_sent_in_their_order(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot, Question("c", "Which colours?", choices=COLOURS, is_multiple=True))
    for button in reversed(dialog.sheets[0].buttons):
        button.setChecked(True)
    assert sent(qtbot, dialog) == Answers((Answer("c", ("Green", "Red")),))


def test_an_own_answer_replaces_the_option(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot, Question("c", "Which colour?", choices=COLOURS))
    dialog.sheets[0].buttons[0].setChecked(True)
    dialog.sheets[0].typed.setText("Blue")
    assert sent(qtbot, dialog) == Answers((Answer("c", ("Blue",)),))


def test_a_question_left_alone_counts_as_skipped(qtbot: QtBot) -> None:
    text = Question("t", "Name?", kind=QuestionKind.TEXT)
    dialog = dialog_of(qtbot, Question("c", "Which colour?", choices=COLOURS), text)
    dialog.sheets[1].typed.setText("Anna")
    assert sent(qtbot, dialog) == Answers((Answer("c", ()), Answer("t", ("Anna",))))


@pytest.mark.parametrize(
    ("kind", "button", "value"),
    [(QuestionKind.CONFIRM, 0, "yes"), (QuestionKind.CONFIRM, 1, "no"), (QuestionKind.LINK, 0, "yes")],
)
def test_yes_and_no_and_a_visited_link_are_answers(qtbot: QtBot, kind: QuestionKind, button: int, value: str) -> None:
    dialog = dialog_of(qtbot, Question("k", "Sure?", kind=kind, link="https://example.org/x"))
    dialog.sheets[0].buttons[button].setChecked(True)
    assert sent(qtbot, dialog) == Answers((Answer("k", (value,)),))


def test_a_text_that_is_no_number_can_not_be_sent_and_says_why(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot, Question("n", "How many?", kind=QuestionKind.NUMBER))
    dialog.sheets[0].typed.setText("many")
    assert not dialog.send.isEnabled()
    assert "number" in dialog.sheets[0].problem.text()
    dialog.sheets[0].typed.setText("3,5")
    assert sent(qtbot, dialog) == Answers((Answer("n", ("3.5",)),))


def test_an_empty_sheet_and_a_missing_required_answer_can_not_be_sent(qtbot: QtBot) -> None:
    needed = Question("c", "Which colour?", choices=COLOURS, is_required=True)
    dialog = dialog_of(qtbot, needed, Question("t", "Name?", kind=QuestionKind.TEXT))
    assert not dialog.send.isEnabled()
    dialog.sheets[1].typed.setText("Anna")
    assert not dialog.send.isEnabled()
    dialog.sheets[0].buttons[0].setChecked(True)
    assert dialog.send.isEnabled()


def test_the_agents_words_are_shown_as_they_are(qtbot: QtBot) -> None:
    long = "Save & quit, " + "and then go on with the next of the steps of the plan " * 3
    dialog = dialog_of(qtbot, Question("c", "<b>Which?</b>", header="<i>x</i>", choices=(Choice(long), Choice("No"))))
    labels = [label for label in dialog.findChildren(QLabel) if label.text().startswith("<")]
    assert len(labels) == 2
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)
    button = dialog.sheets[0].buttons[0]
    assert button.text().startswith("Save && quit")
    assert button.sizeHint().width() < dialog.width()
    button.setChecked(True)
    assert sent(qtbot, dialog) == Answers((Answer("c", (long,)),))


def test_closing_it_answers_nothing(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot, Question("c", "Which colour?", choices=COLOURS))
    with qtbot.assertNotEmitted(dialog.answered):
        dialog.reject()
