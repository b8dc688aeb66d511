"""Tests that share a screen, a browser or an agent never run beside each other, whatever the number of workers."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, text_of
from tests.workers import group_of, rank


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/live/test_promises.py::test_a_real_agent_keeps_its_promise[codex-allows_once]", "live codex"),
        ("tests/live/test_codex.py::test_a_stop_ends_the_command_itself", "live codex"),
        ("tests/live/test_claude_team.py::test_a_member_of_a_real_team", "live claude"),
        ("tests/live/test_hub_killed.py::test_a_killed_hub_leaves_no_agent_behind[opencode]", "live opencode"),
        ("tests/phone/test_phone_page.py::test_two_pages_stay_in_step", "browser"),
        ("tests/app/ui/test_window.py::test_a", "desktop"),
        ("tests/app/test_keyring_system.py::test_a", "desktop"),
        ("tests/bridge/test_cards.py::test_a[codex]", "bridge/test_cards.py"),
    ],
)
def test_what_shares_something_is_one_group(nodeid: str, group: str) -> None:
    assert group_of(nodeid) == group


def test_the_long_ones_come_before_the_short_ones() -> None:
    order = [
        "bridge/pending/test_interleavings.py::test_a[0]",
        "live/test_codex.py::test_a",
        "bridge/test_cards.py::test_a",
    ]
    assert sorted([order[2], order[1], order[0]], key=rank) == order


def test_a_file_whose_tests_need_the_system_stays_with_the_others_that_do() -> None:
    marked = [
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^pytestmark = .*\bsystem\b|^@pytest\.mark\.system", text_of(file), re.MULTILINE)
    ]
    assert marked
    assert [name for name in marked if group_of(f"{name}::test_a") not in {"desktop", "browser"}] == []
