"""What the soak's ledger calls a repeat: one message taken twice without the mark, and nothing else."""

from __future__ import annotations

from tests.soak.ledger import MARK, Sent, unmarked_repeats

ANSWER = Sent(1, "7", "echo k000001k", "")


def again(sent: Sent, text: str = "") -> Sent:
    return Sent(sent.message_id + 1, sent.topic, text or sent.text, sent.buttons)


def test_a_task_answered_twice_is_a_repeat() -> None:
    assert unmarked_repeats([ANSWER, again(ANSWER)]) == [again(ANSWER)]


def test_a_card_posted_twice_is_a_repeat() -> None:
    card = Sent(1, "7", "Run a command", '[["allow:1"]]')
    assert unmarked_repeats([card, again(card)]) == [again(card)]


def test_marked_repeats_are_told_as_such_however_many_they_are() -> None:
    marked = again(ANSWER, f"{ANSWER.text} {MARK}")
    assert unmarked_repeats([ANSWER, marked, marked]) == []


def test_the_same_words_about_something_else_are_no_repeat() -> None:
    notice = Sent(1, "7", "The hub was restarted.", "")
    assert unmarked_repeats([notice, again(notice), Sent(3, "8", ANSWER.text, ""), ANSWER]) == []
