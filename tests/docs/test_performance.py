"""The page of the benchmarks: found by readers, whole, and honest about what missed its goal."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import BENCHMARKS, known, read
from tests.benchmarks.page import PAGE, TITLES, page
from tests.benchmarks.report import Figure, report
from tests.docs.pages import ROOT, links, text_of

MACHINE = {"cores": 2, "architecture": "x86_64", "memory_gb": 8, "system": "Linux", "python": "3.11.7"}


def shown(**figures: Figure) -> str:
    """The page of one benchmark with these figures."""
    shapes = {key: figure.shape() for key, figure in figures.items()}
    made = {"name": "render", "ok": all(one.holds for one in figures.values()), "figures": shapes, "notes": ""}
    return page({"machine": MACHINE, "quick": False, "benchmarks": [made]})


def test_readme_and_contributing_lead_to_the_page() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "docs/performance.md" in links(ROOT / name), name


def test_the_page_has_every_benchmark() -> None:
    text = text_of(PAGE)
    assert [one.name for one in BENCHMARKS if f"## {TITLES[one.name][0]}\n" not in text] == []


def test_every_benchmark_of_the_list_can_be_run() -> None:
    assert [one.module for one in BENCHMARKS if importlib.util.find_spec(one.module) is None] == []


def test_every_benchmark_of_the_folder_is_on_the_list() -> None:
    folder = ROOT / "tests" / "benchmarks"
    runnable = {file.stem for file in folder.glob("*.py") if 'if __name__ == "__main__":' in text_of(file)}
    assert runnable - {"__main__", "asking_child", "wire_server"} <= {one.name for one in BENCHMARKS}


def test_a_missed_goal_is_bold_and_said() -> None:
    text = shown(good=Figure(1, 2, "ms"), slow=Figure(3, 2, "ms"), small=Figure(0.5, 1, "share", more_is_better=True))
    assert "does not hold" in text
    assert "| `good` | 1 |" in text
    assert "| `slow` | **3** |  | at most 2 | ms |" in text
    assert "| `small` | **0.5** |  | at least 1 | share |" in text


def test_a_figure_that_was_never_measured_is_no_success() -> None:
    assert "| `gone` | **none** |" in shown(gone=Figure(math.nan, 2, "ms"))


def test_what_says_nothing_useful_is_a_failed_benchmark() -> None:
    for said in ("", "Traceback (most recent call last):", "[1]", '{"ok": true}'):
        assert read(BENCHMARKS[0], said, 0)["ok"] is False


def test_a_report_is_read_as_it_was_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code = report("roundtrip", {"request_p50": Figure(1.5, 2, "ms", 1.25)}, "a note")
    printed = capsys.readouterr().out
    assert read(BENCHMARKS[0], f"stray text\n{printed}", code) == json.loads(printed)


def test_a_report_made_earlier_stands_for_its_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report("soak", {"lost_in": Figure(1, 0, "count")}, "by night")
    file = tmp_path / "soak.json"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    found = known([file])
    assert list(found) == ["soak"]
    assert found["soak"]["notes"] == "by night"
    assert found["soak"]["ok"] is False


def test_no_name_of_a_machine_is_on_the_page() -> None:
    line = next(line for line in text_of(PAGE).splitlines() if line.startswith("Machine: "))
    assert line.removeprefix("Machine: ").split(".", 1)[0].count(",") == 3
