"""What counts as a command: the spellings of people in a hurry, and what only looks like one."""

from __future__ import annotations

import pytest

from bridge.commands.parsing import Command, parse_command


@pytest.mark.parametrize(
    "text",
    ["/stop", "/STOP", "/stop!", "/Stop!!!", "/stop.", "/stop,", "/stop…", "/stop\u200b", "\u200b/stop", "/stop\n"],
)
def test_a_stop_in_a_hurry_is_a_stop(text: str) -> None:
    assert parse_command(text) == Command("stop", "")


@pytest.mark.parametrize(
    "text", ["/etc/hosts", "/usr", "//stop", "/ stop", "/", "stop", "/a,b/c", "see /stop", "/стоп"]
)
def test_a_path_or_a_word_is_no_command_of_the_hub(text: str) -> None:
    found = parse_command(text)
    assert found is None or found.name == "usr"


def test_what_stands_behind_the_name_is_its_argument() -> None:
    assert parse_command("/deny, because it is late") == Command("deny", "because it is late")
    assert parse_command("/new@Our_Bot codex ~/code") == Command("new", "codex ~/code", "our_bot")
    assert parse_command("/plugin:review.fast now") == Command("plugin:review.fast", "now")
