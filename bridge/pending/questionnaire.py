"""Questions answered one after the other: what is picked, what comes next, and the answers in the end. Pure.

The card shows the current question. Button answers carry the question's number, so that a press on a question that is
already answered changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from agents.contract import Answer, Answers, Question, QuestionKind
from bridge.texts import tr

YES, NO = "yes", "no"


class Questionnaire:
    """The questions of one request and what the person said so far."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        self.index = 0
        self.picked: set[int] = set()
        self._values: list[tuple[str, ...]] = []

    @property
    def current(self) -> Question | None:
        """The question to answer now, None when all are."""
        return self.questions[self.index] if self.index < len(self.questions) else None

    @property
    def is_done(self) -> bool:
        return self.current is None

    @property
    def takes_text(self) -> bool:
        """Whether a typed text answers the current question."""
        question = self.current
        if question is None:
            return False
        if question.kind in (QuestionKind.TEXT, QuestionKind.NUMBER):
            return True
        return question.kind is QuestionKind.CHOICE and question.allows_free_text

    def given(self) -> Sequence[tuple[Question, tuple[str, ...]]]:
        """Questions answered so far with their answers."""
        return tuple(zip(self.questions, self._values, strict=False))

    def answers(self) -> Answers:
        """Everything that was said; call it when done."""
        return Answers(tuple(Answer(question.key, values) for question, values in self.given()))

    def press(self, number: int, answer: str) -> bool:
        """Take a button's answer to question ``number``; False when it fits nothing (any more)."""
        question = self.current
        if question is None or number != self.index:
            return False
        if answer == "skip":
            return self._skip(question)
        if question.kind is QuestionKind.CHOICE:
            return self._choose(question, answer)
        if (question.kind is QuestionKind.CONFIRM and answer in (YES, NO)) or (
            question.kind is QuestionKind.LINK and answer == YES
        ):
            self._next((answer,))
            return True
        return False

    def type(self, text: str) -> str:
        """Take a typed answer; returns what is wrong with it, "" when it was taken. Call only if ``takes_text``."""
        question, text = self.current, text.strip()
        if question is None or not text:
            return tr("The answer is empty. Please write it again.")
        if question.kind is QuestionKind.NUMBER:
            return self._take_number(text)
        if question.kind is QuestionKind.CHOICE:
            self._next((*self._picked_labels(question), self._label_meant(question, text)))
        else:
            self._next((text,))
        return ""

    def fill(self, answers: Answers) -> None:
        """Take all answers at once; a question nobody answered counts as skipped."""
        given = {answer.key: answer.values for answer in answers.answers}
        self._values = [given.get(question.key, ()) for question in self.questions]
        self.index = len(self.questions)

    # --- inside

    def _next(self, values: tuple[str, ...]) -> None:
        self._values.append(values)
        self.picked = set()
        self.index += 1

    def _skip(self, question: Question) -> bool:
        if question.is_required:
            return False
        self._next(())
        return True

    def _choose(self, question: Question, answer: str) -> bool:
        if answer == "done" and question.is_multiple:
            if question.is_required and not self.picked:
                return False
            self._next(self._picked_labels(question))
            return True
        if not answer.isdecimal() or int(answer) >= len(question.choices):
            return False
        if question.is_multiple:
            self.picked ^= {int(answer)}
        else:
            self._next((question.choices[int(answer)].label,))
        return True

    def _picked_labels(self, question: Question) -> tuple[str, ...]:
        return tuple(question.choices[option].label for option in sorted(self.picked))

    @staticmethod
    def _label_meant(question: Question, text: str) -> str:
        """A typed label or the number before it means that option; anything else is the person's own answer."""
        labels = [choice.label for choice in question.choices]
        same = [label for label in labels if label.casefold() == text.casefold()]
        if same:
            return same[0]
        numbers_are_free = not any(label.strip().isdecimal() for label in labels)
        if numbers_are_free and text.isdecimal() and 1 <= int(text) <= len(labels):
            return labels[int(text) - 1]
        return text

    def _take_number(self, text: str) -> str:
        plain = text.replace(" ", "").replace(",", ".")
        try:
            number = float(plain)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            return tr("That is not a number. Please send one, like 42 or 3.5.")
        self._next((plain,))
        return ""
