"""What a person is shown of a tool call is what the call really is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.claude.tools import change_of, describe, patch_text, plain
from agents.contract import ToolKind


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "subject"),
    [
        ("Bash", {"command": "rm -r build", "description": "Tidy up"}, ToolKind.EXECUTE, "rm -r build"),
        ("Read", {"file_path": "/etc/hostname"}, ToolKind.READ, "/etc/hostname"),
        ("Glob", {"pattern": "/etc/**"}, ToolKind.READ, "/etc/**"),
        ("Glob", {"pattern": "*.py", "path": "/src"}, ToolKind.READ, "/src/*.py"),
        ("Grep", {"pattern": "x", "path": "/src"}, ToolKind.READ, "/src"),
        ("Write", {"file_path": "/p/a.txt", "content": "x"}, ToolKind.EDIT, "/p/a.txt"),
        ("NotebookEdit", {"notebook_path": "/p/a.ipynb"}, ToolKind.EDIT, "/p/a.ipynb"),
        ("WebFetch", {"url": "http://127.0.0.1/"}, ToolKind.NETWORK, "http://127.0.0.1/"),
        ("mcp__db__query", {"path": "/p", "sql": "drop table"}, ToolKind.OTHER, ""),
    ],
)
def test_kind_and_subject_come_from_the_input(
    tool: str, arguments: dict[str, object], kind: ToolKind, subject: str
) -> None:
    call = describe(tool, arguments)
    assert (call.kind, call.subject) == (kind, subject)


def test_an_input_too_many_can_not_stand_in_front_of_the_real_one() -> None:
    call = describe("Read", {"command": "notes.txt", "path": "notes.txt", "file_path": "/etc/shadow"})
    assert call.subject == "/etc/shadow"
    assert "notes.txt" in call.arguments


def test_what_the_subject_does_not_say_is_in_the_arguments() -> None:
    assert (
        "dangerouslyDisableSandbox" in describe("Bash", {"command": "x", "dangerouslyDisableSandbox": True}).arguments
    )
    assert "drop table" in describe("mcp__db__query", {"sql": "drop table"}).arguments
    assert describe("Bash", {"command": "x", "description": "y"}).arguments == ""


def test_titles_carry_no_terminal_escapes() -> None:
    assert describe("Bash", {"command": "x", "description": "\x1b[31mRed\x1b[0m\x07"}).title == "Red"
    assert plain("\x1b]0;title\x07text") == "text"


def test_a_write_is_shown_against_the_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    diff = change_of("Write", {"file_path": str(tmp_path / "a.txt"), "content": "one\nthree\n"}, tmp_path)
    assert "-two\n+three" in diff


def test_several_edits_are_shown_together_and_in_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3"}]
    diff = change_of("MultiEdit", {"file_path": "a.txt", "edits": edits}, tmp_path)
    assert "-one\n+1" in diff
    assert "-three\n+3" in diff


def test_an_edit_of_a_text_that_is_not_there_still_shows_what_is_wanted(tmp_path: Path) -> None:
    diff = change_of("Edit", {"file_path": "gone.txt", "old_string": "a", "new_string": "b"}, tmp_path)
    assert "-a\n+b" in diff


def test_no_diff_is_read_from_what_is_no_file(tmp_path: Path) -> None:
    assert "+x" in change_of("Write", {"file_path": "/dev/zero", "content": "x"}, tmp_path)


def test_a_finished_edit_keeps_its_hunks() -> None:
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
    assert patch_text("a.txt", [hunk]) == "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n"
    assert patch_text("a.txt", []) == ""
