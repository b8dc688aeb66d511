"""What holds for every text: judged by TDLib, searched by hypothesis."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bridge.markdown import Part, render, render_tail, utf16_length
from bridge.markdown.clean import clean
from bridge.markdown.telegram_html import escape
from bridge.simulator import tdlib
from bridge.simulator.tdlib import Sent
from tests.markdown.judge import letters_of, slice_of
from tests.markdown.reference import reference_of
from tests.markdown.strategies import ANYTHING, BLOCKS, FENCES, LONG, MARKDOWN, WELL_FORMED
from tests.parts import IN_CI, require_module

CASES = settings(
    max_examples=2_000 if IN_CI else 100,
    deadline=None,
    derandomize=IN_CI,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.fixture(autouse=True, scope="module")
def _oracle() -> None:
    require_module("tdjson")


def sent(source: str) -> list[Sent]:
    return [tdlib.send(part.html) for part in render(source)]


@CASES
@given(MARKDOWN)
def test_every_message_is_accepted_within_all_limits_and_shows_its_plain_text(source: str) -> None:
    for part in render(source):
        message = tdlib.send(part.html)
        urls = sum(len(str(entity.extra.get("url", "")).encode()) for entity in message.entities)
        assert message.text == part.text
        assert utf16_length(part.text) <= 4096
        assert message.dropped == ()
        assert len(message.entities) <= 98
        assert urls <= 8_100  # Telegram adds a slash to a bare host
        assert len(part.html.encode()) <= 32_768


@CASES
@given(MARKDOWN)
def test_the_plain_fallback_is_accepted_too_and_the_same_every_time(source: str) -> None:
    parts = render(source)
    assert render(source) == parts
    for part in parts:
        assert tdlib.send(escape(part.text)).text == part.text.lstrip(" \n")


@CASES
@given(st.text(alphabet=" \n\t\r\x00\u200b\u2060\ufeff\u3000\u00a0\u202e", max_size=60))
def test_what_nobody_can_see_gives_no_message(source: str) -> None:
    for part in render(source):
        tdlib.send(part.html)


@CASES
@given(st.one_of(BLOCKS, LONG))
def test_every_letter_arrives_in_order(source: str) -> None:
    reference = reference_of(clean(source))
    arrived = iter(letters_of("".join(part.text for part in render(source))))
    missing = [letter for letter in reference.letters if letter not in arrived]
    assert missing == []


@CASES
@given(WELL_FORMED)
def test_every_letter_of_a_table_arrives(source: str) -> None:
    reference = reference_of(clean(source))
    arrived = Counter(letters_of("".join(part.text for part in render(source))))
    assert Counter(reference.letters) - arrived == Counter()


@CASES
@given(st.lists(FENCES, min_size=1, max_size=3), st.integers(1, 60))
def test_code_arrives_exactly_with_its_language(fences: list[str], times: int) -> None:
    source = "\n\n".join(fences)
    first = fences[0].split("\n")
    long_fence = "\n".join([first[0], *(first[1:-1] * times), first[-1]])
    for text in (source, long_fence):
        reference = reference_of(clean(text))
        blocks = [
            (str(entity.extra.get("language", "")), slice_of(message.text, entity))
            for message in sent(text)
            for entity in message.entities
            if entity.type == "pre"
        ]
        for language, content in reference.fences:
            expected = content.expandtabs(4).rstrip()
            matching = [block for lang, block in blocks if lang == language]
            assert expected in matching or _joined([expected]) in _joined(matching)


def _joined(blocks: list[str]) -> str:
    """Line ends and the blanks before them may go at a cut; everything else stays."""
    return re.sub(r"[ \n]*\n", "\n", "\n".join(blocks)).replace("\n", "")


@CASES
@given(st.one_of(WELL_FORMED, LONG))
def test_every_styled_letter_keeps_its_style(source: str) -> None:
    reference = reference_of(clean(source))
    styles: dict[str, Counter[str]] = {}
    for message in sent(source):
        for entity in message.entities:
            styles.setdefault(entity.type, Counter()).update(letters_of(slice_of(message.text, entity)))
    mono = styles.get("code", Counter()) + styles.get("pre", Counter())
    assert reference.styles["bold"] - styles.get("bold", Counter()) == Counter()
    assert reference.styles["italic"] - styles.get("italic", Counter()) == Counter()
    assert reference.styles["strike"] - styles.get("strikethrough", Counter()) == Counter()
    assert reference.styles["code"] + reference.styles["pre"] - mono == Counter()


TARGETS = st.lists(
    st.sampled_from(
        [
            "https://ex.com/",
            "http://",
            "a.b",
            "localhost",
            "src/x.py",
            "#",
            "?q=1&r=2",
            ":80",
            "é",
            "%20",
            "javascript:x",
            "file:///",
        ]
    ),
    min_size=1,
    max_size=4,
)


@CASES
@given(TARGETS.map("".join))
def test_each_link_is_a_link_or_its_target_can_be_read(target: str) -> None:
    (message,) = sent(f"[label]({target}) end")
    links = [entity for entity in message.entities if entity.type == "text_link"]
    assert links or target in message.text


@CASES
@given(st.text(alphabet="ab.:/@?#[]%-_1é\\&\"' ", max_size=24))
def test_no_link_is_made_that_telegram_would_drop(rest: str) -> None:
    assume("<" not in rest)
    for message in sent(f"[label](<http://{rest.strip()}>) end"):
        is_shown = "(http://" in message.text or message.text.startswith("[label")
        assert is_shown or any(entity.type == "text_link" for entity in message.entities)


@CASES
@given(
    st.lists(
        st.sampled_from(["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "1️⃣", "e\u0327\u0323", "é", "x", "東", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]),
        min_size=1,
        max_size=9,
    ),
    st.integers(400, 900),
)
def test_no_visible_character_is_torn(clusters: list[str], times: int) -> None:
    whole = "".join(clusters)
    parts = render("z" * (times % 7) + whole * times)
    assert "".join(part.text for part in parts) == "z" * (times % 7) + unicodedata.normalize("NFC", whole) * times
    for part in parts[1:]:
        assert any(part.text.startswith(unicodedata.normalize("NFC", cluster)) for cluster in clusters)


@CASES
@given(st.lists(BLOCKS, min_size=1, max_size=4), st.integers(5, 15))
def test_a_finished_message_does_not_change_while_the_answer_grows(blocks: list[str], times: int) -> None:
    source = "\n\n".join(blocks * times)
    assume(not re.search(r"\]:", source))
    whole = blocks * times
    shorter = render("\n\n".join(whole[: len(whole) * 2 // 3]))
    assert shorter[:-1] == render("\n\n".join(whole))[: len(shorter[:-1])]


@CASES
@given(st.one_of(WELL_FORMED, LONG, ANYTHING), st.integers(1, 1500))
def test_the_tail_of_a_growing_answer_is_always_sendable(source: str, units: int) -> None:
    tail = render_tail(source[: len(source) * 2 // 3], units)
    assert utf16_length(tail.text) <= units
    assert tail == Part("", "") or tdlib.send(tail.html).text == tail.text
