"""What the command line says of decisions and open requests, and that it can do no more than say it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agents.contract import HubError
from app.cli import main, parser
from app.paths import folders
from app.records_report import moment
from bridge.store import Database
from tests.bridge.clocks import HandClock
from tests.bridge.pending.stage import (
    TOPIC,
    RememberingDelivery,
    Stage,
    agent,
    command,
    configuration,
    pressed,
    settle,
)


async def record(data: Path) -> None:
    """One allowed, one open request in the database of an instance."""
    clock = HandClock()
    database = Database.open(folders(data).database_file, clock)
    scene = Stage(database, RememberingDelivery(), clock, configuration())
    desk = scene.new_desk()
    first = asyncio.ensure_future(agent(desk, command("npm test", ask_id="1")))
    await settle()
    await pressed(desk, scene.press_of("Allow"))
    await first
    second = asyncio.ensure_future(agent(desk, command("make", ask_id="2")))
    await settle()
    assert desk.has_open_permission(TOPIC)
    second.cancel()
    database.close()
    await asyncio.gather(second, return_exceptions=True)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    folders(tmp_path / "hub").make()
    return tmp_path / "hub"


def test_the_audit_is_printed_as_json_with_who_and_whether_it_was_delivered(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(record(data))
    assert main(["--data-dir", str(data), "audit", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["event"], first["by_name"], first["subject"], first["delivered"]) == (
        "allowed",
        "Anna",
        "npm test",
        True,
    )


def test_the_audit_can_begin_at_a_time(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(record(data))
    assert main(["--data-dir", str(data), "audit", "--since", "2099-01-01"]) == 0
    assert capsys.readouterr().out == "Nothing was decided in this time.\n"


def test_open_requests_are_listed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(record(data))
    assert main(["--data-dir", str(data), "approvals", "list", "--json"]) == 0
    assert [ask["subject"] for ask in json.loads(capsys.readouterr().out)] == ["make"]


def test_without_a_database_it_says_what_to_do(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data-dir", str(data), "audit"]) == 1
    assert "There is no record yet." in capsys.readouterr().err


def test_nothing_on_the_command_line_can_allow() -> None:
    for verb in ("approve", "allow", "decide", "unlock"):
        with pytest.raises(SystemExit):
            parser().parse_args([verb])
        with pytest.raises(SystemExit):
            parser().parse_args(["approvals", verb])


@pytest.mark.parametrize("text", ["yesterday", "2x", ""])
def test_a_time_that_is_none_is_refused_with_examples(text: str) -> None:
    with pytest.raises(HubError):
        moment(text)
