"""The main job end to end with real agents: ``agent-hub demo --check --agent NAME`` against a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tomlkit

from agents.known_agents import KNOWN
from agents.processes import spawn
from app.demo_check import MODEL_SCRIPT
from tests.contract.exchange import Ids
from tests.contract.kinds import KINDS
from tests.contract.rig import Fault, Place, make_place
from tests.models.demo_player import DemoPlayer

pytestmark = pytest.mark.live
ROOT = Path(__file__).resolve().parents[2]
LIMIT = 150.0
"""Seconds for all steps on a busy computer."""
NAMES = sorted(name for name in KINDS if name not in {"demo", "opencode"})


def settings_of(name: str, place: Place, url: str) -> dict[str, object]:
    """The settings a person would write for this agent, led to the scripted model; files it needs are made."""
    backend = KINDS[name].make(place, url, Fault.NONE, spawn, Ids())
    launch = backend.launch if hasattr(backend, "launch") else backend._launch
    kind = {} if name in KNOWN else {"kind": "acp"}
    return {**kind, "command": launch.command, "args": list(launch.args), "env": dict(launch.env)}


@pytest.mark.parametrize("name", NAMES)
def test_every_step_holds_with_a_real_agent(name: str, tmp_path: Path) -> None:
    model, place = DemoPlayer(), make_place(tmp_path / "agent")
    with KINDS[name].serve(model, place) as url:
        file = tmp_path / "settings.toml"
        settings = {"agents": {name: settings_of(name, place, url)}}
        file.write_text(tomlkit.dumps(settings), encoding="utf-8")
        report = run_check(name, file, tmp_path)
    assert [step for step in report["steps"] if not step["ok"]] == []
    assert report["ok"]
    assert len(report["steps"]) >= 9
    assert model.was_told(MODEL_SCRIPT.deny.answer), "the reason of the denial did not reach the model"
    assert model.was_told("Green"), "the answer to the question did not reach the model"
    last = model.heard[-1].body
    assert MODEL_SCRIPT.greet.prompt in last, "the session did not go on with its past after the restart"


def run_check(name: str, settings: Path, folder: Path) -> dict[str, object]:
    """The real program in a process of its own."""
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    environment.pop("AGENT_HUB_DATA", None)
    run = subprocess.run(
        [sys.executable, "-m", "app", "--settings", str(settings), "demo", "--check", "--agent", name, "--json"],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert run.stdout, run.stderr[-2000:]
    return json.loads(run.stdout)
