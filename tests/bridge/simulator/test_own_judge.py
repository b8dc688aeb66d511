"""Our own strict reader must come to the verdicts of Telegram's parser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.simulator import tdlib
from bridge.simulator.entities import SentText
from bridge.simulator.errors import ApiError
from bridge.simulator.texts import Judge, OwnJudge, TdlibJudge, judge_text

CASES = json.loads((Path(__file__).parent / "html_cases.json").read_text(encoding="utf-8"))


def verdict(judge: Judge, source: str, *, is_caption: bool = False) -> str | SentText:
    try:
        return judge_text(judge, source, "HTML", is_caption=is_caption)
    except ApiError as error:
        return error.description


def source_of(case: dict[str, Any]) -> str:
    repeat = case.get("repeat")
    return repeat["unit"] * repeat["times"] + repeat["tail"] if repeat else case["html"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_own_reader_gives_telegrams_verdict(case: dict[str, Any]) -> None:
    found = verdict(OwnJudge(), source_of(case), is_caption=case.get("caption", False))
    if isinstance(found, str):
        assert found == case["refusal"]
        return
    entities = [[item.type, item.offset, item.length, dict(item.extra)] for item in found.entities]
    if "entities" in case:
        assert (found.text, entities) == (case["text"], case["entities"])
    else:
        assert (len(found.text), len(entities)) == (case["text_length"], case["entity_count"])


TAGS = (
    "b",
    "i",
    "u",
    "s",
    "code",
    "pre",
    "blockquote",
    "tg-spoiler",
    "a href='https://a.io/x'",
    "blockquote expandable",
)
PIECES = st.one_of(
    st.sampled_from(TAGS).map(lambda tag: f"<{tag}>"),
    st.sampled_from(TAGS).map(lambda tag: f"</{tag.split(' ')[0]}>"),
    st.sampled_from(["a", " ", "\n", "😀", "ж", "&lt;", "&amp", "&#65;", "x y", "\t", "\r", "å", "</>", "<", ">"]),
)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tagged = st.tuples(st.sampled_from(TAGS), inner).map(lambda t: f"<{t[0]}>{t[1]}</{t[0].split(' ')[0]}>")
    return st.lists(st.one_of(tagged, inner), min_size=1, max_size=4).map("".join)


WELL_FORMED = st.recursive(st.sampled_from(["a", " ", "\n", "😀", "word ", "&lt;", "\t"]), nested, max_leaves=12)


@pytest.mark.skipif(not tdlib.is_available(), reason="tdjson is not installed")
@settings(max_examples=150, deadline=None)
@given(st.one_of(WELL_FORMED, st.lists(PIECES, max_size=12).map("".join)))
@example("<b>a</b> <b>b</b>")
def test_the_own_reader_agrees_with_tdlib_on_any_nesting(source: str) -> None:
    assert verdict(OwnJudge(), source) == verdict(TdlibJudge(), source)


@pytest.mark.skipif(not tdlib.is_available(), reason="tdjson is not installed")
@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_a_plain_text_is_cleaned_as_tdlib_cleans_it(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    try:
        plain: str | SentText = judge_text(OwnJudge(), text, "")
    except ApiError as error:
        plain = error.description
    assert plain == verdict(TdlibJudge(), escaped)
