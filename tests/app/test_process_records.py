"""What ran when the hub was last heard of, for the next start."""

from __future__ import annotations

from pathlib import Path

from agents.process_tree import MarkedProcess, ProcessRecord
from app.process_records import ProcessFile


def test_processes_and_their_marks_come_back(tmp_path: Path) -> None:
    kept = MarkedProcess(ProcessRecord(4711, "12.5"), "a1b2")
    ProcessFile(tmp_path / "processes.json").save([kept])
    assert ProcessFile(tmp_path / "processes.json").load() == (kept,)


def test_a_torn_file_means_nothing(tmp_path: Path) -> None:
    file = tmp_path / "processes.json"
    for text in ("", "[{", '[{"pid": 1}]', "[7]"):
        file.write_text(text, encoding="utf-8")
        assert ProcessFile(file).load() == ()
