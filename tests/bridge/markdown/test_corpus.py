"""The corpus: our inputs, the examples of CommonMark and GFM, and real files that lie on this computer."""

from __future__ import annotations

import pytest

from bridge.markdown import grammar, render
from bridge.markdown.grammar import tokens_of
from tests.markdown.documents import Document, installed_documents, own_documents
from tests.markdown.judge import Score, judge
from tests.markdown.reference import bare_parser
from tests.parts import missing, require_module

SHARES = {"bold": 1.0, "italic": 1.0, "strike": 1.0, "pre": 1.0, "language": 1.0, "code": 0.999, "link": 0.999}


def corpus() -> list[Document]:
    installed = installed_documents()
    if sum(document.kind == "commonmark" for document in installed) < 600:
        missing(
            "needs the examples of CommonMark (AGENT_HUB_TEST_MARKDOWN: unpacked sources of markdown-it-py, mistune)"
        )
    return [*own_documents(), *installed]


@pytest.fixture(scope="module")
def score() -> Score:
    require_module("tdjson")
    return judge(corpus(), render)


@pytest.mark.parametrize("failure", ["refused", "over_limit", "empty", "over_entities"])
def test_no_message_of_the_corpus_fails(score: Score, failure: str) -> None:
    assert getattr(score, failure) == 0


def test_the_corpus_loses_at_most_twenty_letters(score: Score) -> None:
    assert score.letters > 100_000
    assert score.lost_letters <= 20, score.lossy


@pytest.mark.parametrize("style", SHARES)
def test_the_corpus_keeps_its_styles(score: Score, style: str) -> None:
    assert score.wanted[style] > 0
    assert score.share(style) >= SHARES[style], score.lossy


def test_the_fences_of_the_corpus_arrive_exactly(score: Score) -> None:
    assert score.exact_share >= 0.999, score.lossy


def test_our_own_inputs_are_all_accepted() -> None:
    require_module("tdjson")
    own = judge(own_documents(), render)
    assert own.messages > len(own_documents())
    assert (own.refused, own.over_limit, own.empty, own.over_entities) == (0, 0, 0, 0)


def test_the_fast_parser_finds_what_the_bare_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = bare_parser()
    monkeypatch.setattr(grammar, "whole_rows", lambda source, begin: source)  # cells that the bare one drops
    monkeypatch.setattr(bare, "validateLink", lambda url: True)
    monkeypatch.setattr(bare, "normalizeLink", lambda url: url)
    documents = [
        document
        for document in [*own_documents(), *installed_documents()]
        if "]:" not in document.text and len(document.text) < 20_000  # definitions are judged more strictly
    ]
    differing = [
        document.id
        for document in documents
        if [token.as_dict() for token in bare.parse(document.text)]
        != [token.as_dict() for token in tokens_of(document.text)]
    ]
    assert len(documents) > 80
    assert differing == []
