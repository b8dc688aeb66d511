"""The main job end to end, as a newcomer meets it: every step of ``agent-hub demo --check``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_step_of_the_demo_holds_and_nothing_is_left_behind(tmp_path: Path) -> None:
    """One run of the real program in a process of its own: the steps, the exit code, and the children it leaves."""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environment.pop("AGENT_HUB_DATA", None)
    run = subprocess.run(
        [sys.executable, "-m", "app", "demo", "--check", "--json"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    report = json.loads(run.stdout)
    assert [step for step in report["steps"] if not step["ok"]] == []
    assert (report["ok"], run.returncode) == (True, 0)
    assert len(report["steps"]) >= 9
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("agent-hub-demo")] == []
