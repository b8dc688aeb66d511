"""``agent-hub snapshots``: the list, a parcel out, a parcel in; everything said in plain lines."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from app.cli import main
from tests.bridge.snapshots.making import save, shelf_in


def saved_in(data_dir: Path, *names: str, agent: str = "demo") -> None:
    shelf = shelf_in(data_dir / "data" / "snapshots")
    for name in names:
        asyncio.run(save(shelf, name, agent=agent))


def listed(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["--data-dir", str(data_dir), "snapshots", "list", "--json"]) == 0
    return sorted(entry["name"] for entry in json.loads(capsys.readouterr().out))


def test_a_parcel_goes_from_one_computer_to_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved_in(tmp_path / "here", "one", "two")
    parcel = tmp_path / "parcel.zip"
    assert main(["--data-dir", str(tmp_path / "here"), "snapshots", "export", str(parcel)]) == 0
    assert main(["--data-dir", str(tmp_path / "there"), "snapshots", "import", str(parcel)]) == 0
    assert listed(tmp_path / "there", capsys) == ["one", "two"]


def test_only_the_named_one_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved_in(tmp_path / "here", "one", "two")
    parcel = str(tmp_path / "parcel.zip")
    assert main(["--data-dir", str(tmp_path / "here"), "snapshots", "export", parcel, "--name", "two"]) == 0
    assert main(["--data-dir", str(tmp_path / "there"), "snapshots", "import", parcel]) == 0
    assert listed(tmp_path / "there", capsys) == ["two"]


def test_of_hermes_it_is_said_what_is_not_carried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved_in(tmp_path / "here", "one", agent="hermes")
    assert main(["--data-dir", str(tmp_path / "here"), "snapshots", "export", str(tmp_path / "parcel.zip")]) == 0
    assert "its model is not" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export"], "Which file?"),
        (["import", "none.zip"], "There is no file"),
        (["export", "out.zip"], "Nothing is saved."),
        (["export", "out.zip", "--name", "x"], "no such saved session"),
    ],
)
def test_a_wrong_use_is_one_sentence_and_what_to_do(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--data-dir", str(tmp_path / "hub"), "snapshots", *arguments]) == 1
    assert words in capsys.readouterr().err


def test_a_damaged_one_is_named_and_the_exit_code_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved_in(tmp_path / "here", "one")
    (manifest,) = (tmp_path / "here").rglob("manifest.json")
    manifest.chmod(0o600)
    manifest.write_text("{", encoding="utf-8")
    assert main(["--data-dir", str(tmp_path / "here"), "snapshots", "list"]) == 1
    assert manifest.parent.name in capsys.readouterr().err
