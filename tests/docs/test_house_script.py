"""The script that shows the state of the house counts what is really there."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.docs.pages import ROOT


def test_the_state_of_the_house_names_every_package_and_counts_its_modules() -> None:
    ran = subprocess.run(
        [sys.executable, "packaging/house.py", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    state = json.loads(ran.stdout)
    counted = sum(row["modules"] for row in state["sizes"])
    assert counted == sum(len(list((ROOT / package).rglob("*.py"))) for package in ("agents", "bridge", "app"))
    assert state["imports"]["agents/contract"] == {}
    assert state["tests"]["tests/docs"] >= 10
