"""The end of an answer that is still being written."""

from __future__ import annotations

import pytest

from bridge.markdown import Part, render, render_tail, utf16_length

F = "```"


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("**bold te", "<b>bold te</b>"),
        ("**bold*", "<b>bold</b>"),
        ("a **", "a"),
        ("a `co", "a <code>co</code>"),
        ("a `", "a"),
        ("*it **bo", "<i>it </i><b><i>bo</i></b>"),
        ("~~gone", "<s>gone</s>"),
        ("see [label](https://ex.com/lo", "see label"),
        (f"{F}py\nx = 1", '<pre><code class="language-py">x = 1</code></pre>'),
        (f"{F}py\nx = 1\n``", '<pre><code class="language-py">x = 1</code></pre>'),
        (f"text\n\n{F}p", "text"),
        ("text\n``", "text"),
        ("Things:\n-", "Things:"),
        ("- **one**\n- **tw", "• <b>one</b>\n• <b>tw</b>"),
        ("2 * 3", "2 * 3"),
        ("snake_case_na", "snake_case_na"),
        ("", ""),
    ],
)
def test_what_is_open_is_shown_as_it_will_be(source: str, html: str) -> None:
    shown = render_tail(source, 500).html
    assert shown == html or shown == html.replace("<i>it </i><b><i>bo</i></b>", "<i>it <b>bo</b></i>")


def test_the_tail_starts_at_a_block_or_a_line() -> None:
    source = "\n\n".join(f"Paragraph {number}. " + "word " * 20 for number in range(60))
    tail = render_tail(source, 600)
    assert tail.text.startswith("Paragraph ")
    assert 300 < utf16_length(tail.text) <= 600


def test_the_tail_inside_a_long_fence_is_code_of_that_language() -> None:
    source = f"Intro\n\n{F}rust\n" + "\n".join(f"let x_{number} = {number};" for number in range(2_000))
    tail = render_tail(source, 400)
    assert tail.html.startswith('<pre><code class="language-rust">let x_')
    assert tail.text.endswith("let x_1999 = 1999;")


def test_a_short_answer_is_its_own_tail() -> None:
    source = "# Done\n\n- a\n- b\n"
    assert [render_tail(source, 1_000)] == render(source)


def test_the_tail_of_a_finished_fence_is_not_code() -> None:
    source = f"{F}py\n" + "x = 1\n" * 1_000 + f"{F}\n\n" + "The end is **here**. " * 60
    assert "<pre>" not in render_tail(source, 200).html


def test_nothing_yet_is_an_empty_part() -> None:
    assert render_tail(" \n", 100) == Part("", "")
