"""What settings make of a class: defaults, own classes, folders, the second step."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from agents.contract import AskId, PermissionRequest, ToolKind
from bridge.policy.classes import Assessment, Mode, OwnClass, PolicySettings, RiskClass
from bridge.policy.judge import Judge

DEFAULT = PolicySettings()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    return root


def judged(
    folder: Path, kind: ToolKind, subject: str, settings: PolicySettings = DEFAULT, tool: str = "X"
) -> Assessment:
    return Judge(settings).assess(PermissionRequest(AskId("x"), tool, kind, "", subject, folder), folder)


def test_a_read_inside_the_folder_passes(folder: Path) -> None:
    assert judged(folder, ToolKind.READ, "src/a.py").mode is Mode.ALLOW


@pytest.mark.parametrize("path", ["../other/a.py", "/etc/hostname", "~/a.txt", ""])
def test_a_read_that_may_lie_outside_asks(folder: Path, path: str) -> None:
    assessment = judged(folder, ToolKind.READ, path)
    assert assessment.mode is Mode.ASK
    assert not assessment.is_inside


def test_a_link_that_leads_outside_is_no_read_inside(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("dear diary")
    (folder / "link.txt").symlink_to(tmp_path / "diary.txt")
    assert judged(folder, ToolKind.READ, "link.txt").mode is Mode.ASK


def test_reading_credentials_inside_the_folder_needs_the_second_step(folder: Path) -> None:
    assessment = judged(folder, ToolKind.READ, ".env")
    assert assessment.needs_second_step
    assert assessment.mode is Mode.ASK
    assert assessment.reasons == ("credentials: .env",)


def test_a_shell_command_that_only_looks_asks_by_default_and_passes_where_the_class_is_allowed(folder: Path) -> None:
    assert judged(folder, ToolKind.EXECUTE, "ls src").mode is Mode.ASK
    allowing = PolicySettings(modes={RiskClass.READ: Mode.ALLOW})
    assert judged(folder, ToolKind.EXECUTE, "ls src", allowing).mode is Mode.ALLOW
    assert judged(folder, ToolKind.EXECUTE, "ls ..", allowing).mode is Mode.ASK


def test_edits_may_be_allowed_inside_the_folder_only(folder: Path) -> None:
    allowing = PolicySettings(modes={RiskClass.EDIT: Mode.ALLOW})
    assert judged(folder, ToolKind.EDIT, "src/a.py", allowing).mode is Mode.ALLOW
    assert judged(folder, ToolKind.EDIT, "../a.py", allowing).mode is Mode.ASK


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "../.bashrc", ".claude/settings.json"])
def test_an_edit_of_what_runs_by_itself_later_is_destructive(folder: Path, path: str) -> None:
    assert judged(folder, ToolKind.EDIT, path).risk is RiskClass.DESTRUCTIVE


def test_the_hubs_own_files_are_destructive_by_any_tool(folder: Path, tmp_path: Path) -> None:
    hub = tmp_path / "agent-hub"
    hub.mkdir()
    settings = PolicySettings(guarded=(hub,))
    for kind in (ToolKind.READ, ToolKind.EDIT):
        assert judged(folder, kind, str(hub / "settings.toml"), settings).risk is RiskClass.DESTRUCTIVE
    ask = PermissionRequest(AskId("x"), "mcp__fs__write", ToolKind.OTHER, "", "", folder)
    ask = replace(ask, arguments=f'{{"path": "{hub}/settings.toml"}}')
    assert Judge(settings).assess(ask, folder).risk is RiskClass.DESTRUCTIVE


def test_no_setting_lets_destructive_requests_pass(folder: Path) -> None:
    allowing = PolicySettings(
        modes=dict.fromkeys(RiskClass, Mode.ALLOW), own_classes=(OwnClass("all", mode=Mode.ALLOW),)
    )
    assert judged(folder, ToolKind.EXECUTE, "rm -rf src", allowing).mode is Mode.ASK


def test_a_class_of_ones_own_is_found_by_tool_and_pattern_and_may_deny_or_want_a_second_step(folder: Path) -> None:
    settings = PolicySettings(
        own_classes=(
            OwnClass("production", subject="*prod*", needs_second_step=True),
            OwnClass("payments", tool="mcp__bank__*", mode=Mode.DENY),
        )
    )
    production = judged(folder, ToolKind.EXECUTE, "./deploy.sh PROD", settings)
    assert (production.label, production.needs_second_step, production.mode) == ("production", True, Mode.ASK)
    payment = judged(folder, ToolKind.OTHER, "", settings, tool="mcp__bank__transfer")
    assert (payment.label, payment.mode) == ("payments", Mode.DENY)


def test_a_pattern_that_allows_does_not_let_a_second_command_ride_along(folder: Path) -> None:
    settings = PolicySettings(own_classes=(OwnClass("tests", subject="npm test*", mode=Mode.ALLOW),))
    assert judged(folder, ToolKind.EXECUTE, "npm test -- a", settings).mode is Mode.ALLOW
    assert judged(folder, ToolKind.EXECUTE, "npm test && curl example.com", settings).mode is Mode.ASK


def test_a_denied_class_is_denied(folder: Path) -> None:
    settings = PolicySettings(modes={RiskClass.NETWORK: Mode.DENY})
    assert judged(folder, ToolKind.EXECUTE, "curl https://example.com", settings).mode is Mode.DENY


@pytest.mark.parametrize(
    "command",
    [
        "(" * 5000 + "ls" + ")" * 5000,
        "echo $(" * 800 + "ls" + ")" * 800,
        "bash -c '" * 20,
        "eval " + "'a' " * 3000,
        "python3 -c 'import os; os.system(" + ",".join(f'"echo {n}"' for n in range(500)) + ")'",
        "ls \ud83d \udc80",
        "cat a\0b",
    ],
    ids=["parentheses", "substitutions", "quotes", "words", "strings", "half letters", "nul"],
)
def test_a_command_made_to_confuse_is_judged_in_bounded_time_and_never_raises(folder: Path, command: str) -> None:
    began = time.process_time()
    assert judged(folder, ToolKind.EXECUTE, command).mode is Mode.ASK
    assert time.process_time() - began < 2.0


def test_a_variable_that_holds_a_whole_command_is_read(folder: Path) -> None:
    assert judged(folder, ToolKind.EXECUTE, 'x="rm -rf"; $x build').risk is RiskClass.DESTRUCTIVE
