"""The computer stays awake while turns run, and only then."""

from __future__ import annotations

import shutil
import stat
import time
from pathlib import Path

import psutil
import pytest

from app.keep_awake import KeepAwake, LogindLock


class CountingLock:
    def __init__(self, works: bool = True) -> None:
        self.works = works
        self.held = 0

    def take(self) -> bool:
        if not self.works:
            raise OSError("no bus")
        self.held += 1
        return True

    def release(self) -> None:
        self.held -= 1


def test_the_lock_is_taken_once_however_often_work_is_reported() -> None:
    lock = CountingLock()
    awake = KeepAwake((lock,))
    awake.set_busy(True)
    awake.set_busy(True)
    assert lock.held == 1


def test_the_lock_is_released_when_nothing_runs() -> None:
    lock = CountingLock()
    awake = KeepAwake((lock,))
    awake.set_busy(True)
    awake.set_busy(False)
    assert lock.held == 0


def test_a_way_that_fails_does_not_stop_the_next_one() -> None:
    good = CountingLock()
    KeepAwake((CountingLock(works=False), good)).set_busy(True)
    assert good.held == 1


@pytest.mark.skipif(shutil.which("cat") is None, reason="needs cat")
def test_the_inhibitor_child_lives_only_while_it_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "fake-inhibit"
    program.write_text("#!/bin/sh\nexec cat\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    lock = LogindLock(str(program))
    before = set(psutil.Process().children())
    if not lock.take():
        pytest.skip("only Linux has logind")
    children = set(psutil.Process().children()) - before
    lock.release()
    deadline = time.monotonic() + 20
    while any(child.is_running() for child in children) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert children
    assert not any(child.is_running() for child in children)
