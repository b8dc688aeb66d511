"""The bundle's way in: each helper under its module's word, and nothing heavy before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agents import hub_tools_program, reaper
from agents.demo import program
from app import doctor, frozen


def test_every_helper_stands_under_the_word_that_its_module_uses() -> None:
    words = {reaper.FLAG, hub_tools_program.FLAG, program.FLAG, doctor.QT_TRIAL_FLAG}
    assert set(frozen.HELPERS) == words


def test_a_helper_runs_and_its_word_is_taken_off_the_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["agent-hub", reaper.FLAG, "more"])
    monkeypatch.setattr(reaper, "main", lambda: seen.append(list(sys.argv)))
    assert frozen.main() == 0
    assert seen == [["agent-hub", "more"]]


def test_any_other_argument_reaches_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["agent-hub", "--version"])
    with pytest.raises(SystemExit) as end:
        frozen.main()
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("agent-hub ")


@pytest.mark.parametrize("argument", ["--version", reaper.FLAG])
def test_neither_the_version_nor_the_reaper_pays_for_the_hub(argument: str) -> None:
    """Measured as what was imported when the program ended."""
    look = (
        "import atexit, sys\n"
        "heavy = ('pydantic', 'telegram', 'PySide6', 'bridge')\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules]))\n"
        "from app.frozen import main\n"
        "main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", look, argument],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"
