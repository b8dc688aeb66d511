"""The table of what is kept is complete, honest and what the documentation shows."""

from __future__ import annotations

from tests.contract.document import FILE, text
from tests.contract.kinds import KINDS, How, cases, table
from tests.contract.promises import PROMISES
from tests.contract.rig import FIXTURES


def test_the_documentation_shows_the_table() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run: python -m tests.contract.document"


def test_every_kind_of_the_suite_is_in_the_table() -> None:
    assert set(table()) == set(KINDS)


def test_what_an_agent_does_not_do_by_itself_is_explained() -> None:
    unexplained = [
        (kind, name)
        for kind, kept in table().items()
        for name, entry in kept.items()
        if (entry.how is How.IN_PROTOCOL) == bool(entry.why)
    ]
    assert unexplained == []


def test_every_promise_says_what_it_promises() -> None:
    assert [promise.name for promise in PROMISES.values() if not promise.text] == []


def test_every_recording_belongs_to_a_promise_that_is_run() -> None:
    recorded = {(file.parent.name, file.stem) for file in FIXTURES.glob("*/*.jsonl")}
    assert recorded == {(kind.name, promise.name) for kind, promise in cases(is_live=False)}
