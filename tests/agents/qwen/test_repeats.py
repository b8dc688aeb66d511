"""Text that Qwen Code writes again after a cut stream is shown once; nothing else is swallowed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.qwen.repeats import GAP, RepeatFilter


def told(*tries: list[str], gap: float = 2.0) -> str:
    """What comes through of several tries, pieces 10 ms apart, tries ``gap`` apart."""
    repeats, now, out = RepeatFilter(), 100.0, ""
    for pieces in tries:
        now += gap
        for piece in pieces:
            now += 0.01
            out += repeats.take(piece, now)
    return out


def test_five_tries_of_the_same_text_are_one_text() -> None:
    assert told(*[["half an ans", "wer is here"]] * 5) == "half an answer is here"


def test_a_try_that_gets_further_adds_only_what_is_new() -> None:
    assert told(["half an"], ["half", " an ans", "wer"]) == "half an answer"


def test_a_try_cut_in_other_pieces_is_still_the_same_text() -> None:
    assert told(["ab", "cd"], ["a", "bcd"], ["abcdef"]) == "abcdef"


def test_a_text_that_only_begins_like_a_repetition_is_kept_whole() -> None:
    assert told(["one two "], ["one ", "three"]) == "one two one three"


def test_a_text_that_goes_on_after_a_pause_is_not_touched() -> None:
    assert told(["one "], ["two "], ["three"]) == "one two three"


def test_quick_repetitions_are_the_model_s_own_words() -> None:
    assert told(["ha ", "ha ", "ha "]) == "ha ha ha "


def test_a_text_that_repeats_itself_loses_nothing_in_a_pause() -> None:
    assert told(["x" * 50], ["x" * 50], ["x" * 50]) == "x" * 150
    assert told(["a line\n", "a line\n"], ["a line\n"]) == "a line\n" * 3


def test_after_a_tool_the_same_words_are_new_words() -> None:
    repeats = RepeatFilter()
    assert repeats.take("Checking.", 1.0) == "Checking."
    repeats.reset()
    assert repeats.take("Checking.", 1.0 + 5 * GAP) == "Checking."


@given(st.text("ab", min_size=1, max_size=12), st.text("ab", max_size=12), st.integers(1, 4))
def test_a_try_that_gets_further_never_loses_a_letter(start: str, rest: str, size: int) -> None:
    whole = start + rest
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert told([start], pieces) in {whole, start + whole}
