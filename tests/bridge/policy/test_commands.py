"""The class of commands: nothing destructive is taken for less, and few harmless ones are taken for destructive."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.contract import AskId, PermissionRequest, ToolKind
from bridge.policy.classes import Assessment, PolicySettings, RiskClass
from bridge.policy.judge import Judge
from tests.bridge.policy import command_table as table
from tests.bridge.policy import tricks_table as tricks

FOLDER = Path("/home/anna/shop")
GUARDED = (Path("/home/anna/.config/agent-hub"), Path("/home/anna/.local/share/agent-hub"))


@pytest.fixture(autouse=True)
def _annas_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("USERPROFILE", "/home/anna")


def judged(command: str, tool: str = "Bash") -> Assessment:
    judge = Judge(PolicySettings(guarded=GUARDED))
    ask = PermissionRequest(AskId("x"), tool, ToolKind.EXECUTE, "", command, FOLDER)
    return judge.assess(ask, FOLDER)


@pytest.mark.parametrize("command", table.DESTRUCTIVE)
def test_a_destructive_command_is_destructive_and_says_why(command: str) -> None:
    assessment = judged(command)
    assert assessment.risk is RiskClass.DESTRUCTIVE
    assert assessment.needs_second_step
    assert assessment.reasons


@pytest.mark.parametrize(
    ("command", "risk"),
    [(command, RiskClass.EXECUTE) for command in table.EXECUTE]
    + [(command, RiskClass.NETWORK) for command in table.NETWORK]
    + [(command, RiskClass.EDIT) for command in table.EDIT]
    + [(command, RiskClass.READ) for command in table.READ],
)
def test_a_command_has_its_class(command: str, risk: RiskClass) -> None:
    assert judged(command).risk is risk


def test_the_table_is_large_enough_to_mean_something() -> None:
    rows = [*table.DESTRUCTIVE, *table.EXECUTE, *table.NETWORK, *table.EDIT, *table.READ]
    assert len(set(rows)) >= 150
    assert len(set(table.HARMLESS)) >= 100


def test_at_most_one_in_ten_harmless_commands_is_a_false_alarm(capsys: pytest.CaptureFixture[str]) -> None:
    alarms = [command for command in table.HARMLESS if judged(command).risk is RiskClass.DESTRUCTIVE]
    share = len(alarms) / len(table.HARMLESS)
    with capsys.disabled():
        print(f"\nfalse alarms: {len(alarms)} of {len(table.HARMLESS)} harmless commands ({share:.0%}) {alarms}")
    assert share <= 0.10


@pytest.mark.parametrize(
    ("tool", "command"), [(tool, command) for tool, commands in tricks.DESTRUCTIVE.items() for command in commands]
)
def test_what_hides_that_it_destroys_is_destructive(tool: str, command: str) -> None:
    assessment = judged(command, tool)
    assert assessment.risk is RiskClass.DESTRUCTIVE
    assert assessment.reasons


def test_what_only_looks_like_a_trick_is_rarely_a_false_alarm() -> None:
    rows = [(tool, command) for tool, commands in tricks.HARMLESS.items() for command in commands]
    alarms = [command for tool, command in rows if judged(command, tool).risk is RiskClass.DESTRUCTIVE]
    assert len(alarms) <= len(rows) // 50, alarms


@pytest.mark.parametrize(
    "command", ["man -P 'rm -rf x' ls", "sort --compress-program='rm -rf x' f", "git ls-remote --upload-pack='x' y"]
)
def test_a_program_that_only_looks_does_not_pass_as_a_look_when_it_starts_another(command: str) -> None:
    assert judged(command).risk not in (RiskClass.READ, RiskClass.NETWORK, RiskClass.EDIT)
