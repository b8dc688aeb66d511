"""One hub per data folder, and a way to reach the one that runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.paths import folders
from app.single_instance import SingleInstance


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folders(tmp_path).make()
    return tmp_path


def test_a_second_start_does_not_get_the_lock(place: Path) -> None:
    first, second = SingleInstance(folders(place)), SingleInstance(folders(place))
    assert first.acquire()
    assert not second.acquire()
    first.close()


def test_the_lock_is_free_again_after_the_first_ended(place: Path) -> None:
    first, second = SingleInstance(folders(place)), SingleInstance(folders(place))
    first.acquire()
    first.close()
    assert second.acquire()
    second.close()


def test_a_second_start_reaches_the_first(place: Path) -> None:
    first, second = SingleInstance(folders(place)), SingleInstance(folders(place))
    first.acquire()
    first.listen(lambda word: f"heard {word}")
    assert second.call("show") == "heard show"
    first.close()


def test_nobody_answers_when_no_hub_runs(place: Path) -> None:
    assert SingleInstance(folders(place)).call("show") is None


def test_two_data_folders_run_side_by_side(tmp_path: Path) -> None:
    one, two = folders(tmp_path / "a"), folders(tmp_path / "b")
    one.make()
    two.make()
    first, second = SingleInstance(one), SingleInstance(two)
    assert first.acquire()
    assert second.acquire()
    first.close()
    second.close()


def test_a_caller_without_the_secret_gets_no_answer(place: Path) -> None:
    first = SingleInstance(folders(place))
    first.acquire()
    first.listen(lambda word: "heard")
    address = folders(place).runtime / "agent-hub.address"
    text = address.read_text(encoding="utf-8")
    address.write_text(text.replace('"secret": "', '"secret": "x'), encoding="utf-8")
    assert SingleInstance(folders(place)).call("show") in {None, ""}
    first.close()
