"""The command that mends an agent: for a terminal, not a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.contract import AgentHealth, LoginState
from app import agents_report
from app.agents_report import command_for

CODEX = Path("/opt/my tools/codex")


@pytest.mark.parametrize(
    ("health", "command"),
    [
        (AgentHealth("codex", "Codex"), "npm install -g @openai/codex"),
        (AgentHealth("codex", "Codex", CODEX, "0.1", LoginState.LOGGED_IN), "npm install -g @openai/codex"),
        (AgentHealth("codex", "Codex", CODEX, "0.171.0", LoginState.LOGGED_IN, is_usable=True), ""),
        (AgentHealth("qwen", "Qwen Code", Path("/usr/bin/qwen"), "0.24.4", LoginState.LOGGED_OUT), "qwen"),
        (AgentHealth("mine", "An ACP entry"), ""),
    ],
    ids=["not found", "too old", "ready", "login with a remark", "not known"],
)
def test_the_command_fits_what_is_missing(health: AgentHealth, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents_report.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert command_for(health) == command


def test_a_program_that_is_not_on_the_path_is_called_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents_report.shutil, "which", lambda _name: None)
    health = AgentHealth("codex", "Codex", CODEX, "0.171.0", LoginState.LOGGED_OUT)
    assert command_for(health) == "'/opt/my tools/codex' login"
