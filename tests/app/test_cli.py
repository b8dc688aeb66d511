"""The command line: one clear sentence with what to do for everything that can go wrong."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main, parser

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_is_told_without_loading_telegram_or_qt() -> None:
    code = "import sys; from app.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass\n" + (
        "print([name for name in ('telegram', 'PySide6', 'pydantic') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, timeout=30)
    first, loaded = ran.stdout.splitlines()
    assert first.startswith("agent-hub ")
    assert loaded == "[]"


def test_a_broken_settings_file_gives_one_sentence_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[hub]\ncolour = 'red'\n", encoding="utf-8")
    assert main(["--settings", str(file), "agents"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["agent-hub: Setting hub.colour: there is no such setting", f"  Mend {file} and save it."]


def test_an_unknown_agent_names_the_known_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--data-dir", str(tmp_path), "demo", "--check", "--agent", "nobody"])
    said = capsys.readouterr().err
    assert code == 1
    assert "nobody" in said
    assert "demo" in said


def test_no_command_can_allow_anything() -> None:
    """An agent with a shell would approve itself."""
    top = parser()
    commands = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    told = top.format_help() + "".join(command.format_help() for command in commands.choices.values())
    assert [word for word in ("allow", "approve", "unlock") if word in told.lower()] == []


def test_a_rendered_file_comes_out_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answer.md"
    file.write_text("# Done\n\n**ok**\n", encoding="utf-8")
    assert main(["render", "--json", str(file)]) == 0
    parts = json.loads(capsys.readouterr().out)
    assert parts == [{"html": "<b>Done</b>\n<b>ok</b>", "text": "Done\nok"}]


def test_a_file_that_is_not_there_is_said_clearly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(tmp_path / "none.md")]) == 1
    assert "none.md" in capsys.readouterr().err


def test_a_hub_without_a_token_says_how_to_set_one(tmp_path: Path) -> None:
    """Headless, real process: it stays alive, because a keyring may be unlocked later."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    child = subprocess.Popen(
        [sys.executable, "-m", "app", "--data-dir", str(tmp_path / "hub"), "run", "--headless"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
    )
    try:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(2)]
        assert "AGENT_HUB_TOKEN" in "".join(lines)
        assert child.poll() is None
    finally:
        child.terminate()
        assert child.wait(20) == 0
        if child.stdout is not None:
            child.stdout.close()
