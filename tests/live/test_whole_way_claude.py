"""The main job with the real Claude Code: nothing is faked between the Bot API's wire and the CLI's stdin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.contract import AgentLaunch
from app.demo import DemoOptions, check
from app.demo_check import Script, Task
from tests.models.anthropic import AnthropicWire, claude_tools
from tests.models.script import SCRIPTS, Role, Run, Say, ScriptedModel, SendFile, Write
from tests.models.server import LoopbackServer
from tests.parts import require_program

pytestmark = pytest.mark.live

SCRIPT = Script(
    greet=Task("play:hello", "Hello world"),
    allow=Task("play:run", "finished"),
    deny=Task("play:other", "not now, the disk is full"),
    ask=Task("play:ask", "thanks"),
    choose="httpx",
    send_file=Task("play:report", ""),
    file_name="hub-report",
    slow=Task("play:slow", ""),
    go_on=Task("play:hello", "Hello world"),
    recall=Task("what was my first text?", "echo: what was my first text?"),
)
SCENES = {
    **SCRIPTS,
    "other": ((Run("touch never.txt"),), (Say("I leave it alone."),)),
    "report": (
        (Write("hub-report.txt", "all is well\n"),),
        (SendFile("hub-report.txt", "The report"),),
        (Say("sent"),),
    ),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "hub" / "workspace"


@pytest.fixture
def model(workspace: Path) -> ScriptedModel:
    return ScriptedModel(SCENES)


@pytest.fixture
def options(model: ScriptedModel, workspace: Path, tmp_path: Path) -> Iterator[DemoOptions]:
    """A hub in a folder of its own, with Claude Code pointed to the scripted model."""
    program = require_program("claude")
    with LoopbackServer(AnthropicWire(model, lambda call: claude_tools(call, str(workspace)))) as server:
        variables = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "dummy-key-of-a-scripted-model",
            "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
            "HOME": str(tmp_path),
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        launch = AgentLaunch(command=str(program), env=variables)
        yield DemoOptions(agent="claude", data_dir=tmp_path / "hub", launches=(("claude", launch),))


@pytest.mark.asyncio
async def test_claude_every_step_of_the_main_job_holds(
    options: DemoOptions, model: ScriptedModel, workspace: Path
) -> None:
    steps = await check(options, script=SCRIPT, is_quiet=True)
    assert [f"{step.name}: {step.why}" for step in steps if not step.is_ok] == []
    assert (workspace / "made.txt").exists(), "the allowed command did not run"
    assert not (workspace / "never.txt").exists(), "the denied command ran"
    told = [said.text for said in model.heard[-1].conversation if said.role is not Role.MODEL]
    assert any("not now, the disk is full" in text for text in told), "the denial's reason did not reach the model"
    assert any("play:hello" in text for text in told), "the resumed session forgot its past"
