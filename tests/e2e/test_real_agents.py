"""The main job end to end with real agents: ``agent-hub demo --check --agent NAME`` against a scripted model."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import tomlkit

from app.demo_check import MODEL_SCRIPT
from tests.models.demo_player import DemoPlayer
from tests.models.responses import ResponsesWire, codex_home, codex_tools
from tests.models.server import LoopbackServer
from tests.parts import require_program

pytestmark = pytest.mark.live
ROOT = Path(__file__).resolve().parents[2]
LIMIT = 150.0
"""Seconds for all steps on a busy computer."""
Settings = Mapping[str, object]


@contextlib.contextmanager
def codex(model: DemoPlayer, folder: Path) -> Iterator[Settings]:
    with LoopbackServer(ResponsesWire(model, codex_tools)) as server:
        env = codex_home(folder / "codex", server.url)
        yield {"command": str(require_program("codex")), "env": env}


Serve = Callable[[DemoPlayer, Path], contextlib.AbstractContextManager[Settings]]
AGENTS: Mapping[str, Serve] = {"codex": codex}


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_step_holds_with_a_real_agent(name: str, tmp_path: Path) -> None:
    model = DemoPlayer()
    with AGENTS[name](model, tmp_path) as settings:
        file = tmp_path / "settings.toml"
        file.write_text(tomlkit.dumps({"agents": {name: settings}}), encoding="utf-8")
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
