"""The pictures of the window can be made: they are looked at by people, so nobody else would notice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.parts import missing, qt_trouble

ROOT = Path(__file__).resolve().parents[2]


def test_every_picture_of_one_kind_is_made_and_the_program_ends_well(tmp_path: Path) -> None:
    if trouble := qt_trouble():
        missing(trouble)
    words = ["--scale", "1", "--language", "ru", "--theme", "dark"]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.screenshots.window", str(tmp_path), *words],
        cwd=ROOT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "AGENT_HUB_DATA": str(tmp_path / "hub")},
        text=True, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    files = [Path(line) for line in done.stdout.splitlines()]
    assert len(files) >= 28
    assert all(file.stat().st_size > 500 for file in files)
