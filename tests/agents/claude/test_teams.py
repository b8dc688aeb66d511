"""Teams by their files: who is in them, how a message is put into an inbox, and what other writers can do to it."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agents.claude.teams import ClaudeTeams
from agents.contract import AgentError
from agents.contract.teams import MemberState, TeamReply, TellState

NOW = 1_790_000_000.0
LEAD_SESSION = "12345678-941e-482b-a82e-7ff1151fe180"


class World:
    """One team's folder; ``on_sleep`` is what others do while the hub waits."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.folder = config / "teams" / "session-12345678"
        self.inboxes = self.folder / "inboxes"
        self.inboxes.mkdir(parents=True)
        self.on_sleep = lambda: None
        self.slept: list[float] = []
        self.write_config([{"name": "mate1", "model": "large", "cwd": "/home/anna/project"}, {"name": "mate2"}])

    def write_config(self, members: list[dict[str, Any]], pid: int | None = None) -> None:
        lead = {"name": "team-lead", "agentId": "team-lead@session-12345678"}
        content = {
            "leadAgentId": "team-lead@session-12345678",
            "leadSessionId": LEAD_SESSION,
            "leadProcess": {"pid": os.getpid() if pid is None else pid},
            "members": [lead, *members],
        }
        (self.folder / "config.json").write_text(json.dumps(content), encoding="utf-8")

    def put(self, name: str, *entries: dict[str, Any], age: float = 0.0) -> Path:
        file = self.inboxes / f"{name}.json"
        file.write_text(json.dumps(entries), encoding="utf-8")
        os.utime(file, (NOW - age, NOW - age))
        return file

    def work(self, name: str, age: float) -> Path:
        """The member's own history was written so long ago."""
        folder = self.config / "projects" / "-home-anna-project" / LEAD_SESSION / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        about = {"name": name, "teamName": self.folder.name}
        (folder / f"agent-a{name}.meta.json").write_text(json.dumps(about), encoding="utf-8")
        history = folder / f"agent-a{name}.jsonl"
        history.write_text("{}\n", encoding="utf-8")
        os.utime(history, (NOW - age, NOW - age))
        return history

    def read(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.inboxes / f"{name}.json").read_text(encoding="utf-8"))
        return found

    @property
    def teams(self) -> ClaudeTeams:
        async def config() -> Path:
            return self.config

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            await asyncio.to_thread(self.on_sleep)

        return ClaudeTeams(config, lambda: "message-1", now=lambda: NOW, sleep=sleep)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "claude")


TEAM = "session-12345678"


@pytest.mark.asyncio
async def test_members_are_listed_without_the_lead(world: World) -> None:
    (team,) = await world.teams.list()
    assert (team.name, team.is_running) == (TEAM, True)
    assert [(one.name, one.model) for one in team.members] == [("mate1", "large"), ("mate2", "")]


@pytest.mark.asyncio
async def test_a_member_heard_of_within_five_minutes_is_active_and_later_idle(world: World) -> None:
    world.work("mate1", age=200)
    world.work("mate2", age=400)
    (team,) = await world.teams.list()
    assert [one.state for one in team.members] == [MemberState.ACTIVE, MemberState.IDLE]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"type":"shutdown_response","approve":true}', MemberState.ENDED),
        ('{"type":"shutdown_response","approve":false}', MemberState.ACTIVE),
        ('{"type":"shutdown_request"}', MemberState.ACTIVE),
        ("I would approve a shutdown_response", MemberState.ACTIVE),
    ],
)
async def test_only_an_approved_shutdown_ends_a_member(text: str, state: MemberState, world: World) -> None:
    world.work("mate1", age=10)
    world.put("team-lead", {"from": "mate1", "text": text, "timestamp": "2026-09-21T13:00:00.000Z"})
    (team,) = await world.teams.list()
    assert team.members[0].state is state


@pytest.mark.asyncio
async def test_a_message_lies_in_the_members_inbox_behind_what_was_there(world: World) -> None:
    world.put("mate1", {"from": "mate2", "text": "hi", "read": False})
    assert await world.teams.tell(TEAM, "mate1", "mend the\ndoor") is TellState.WAITING
    first, ours = world.read("mate1")
    assert first["from"] == "mate2"
    assert ours == {
        "from": "user",
        "text": "mend the\ndoor",
        "timestamp": "2026-09-21T14:13:20.000Z",
        "read": False,
        "summary": "mend the door",
        "messageId": "message-1",
    }
    assert sorted(path.name for path in world.inboxes.iterdir()) == ["mate1.json"]


@pytest.mark.asyncio
async def test_an_inbox_emptied_by_its_reader_means_read(world: World) -> None:
    world.on_sleep = lambda: world.put("mate1") and None
    assert await world.teams.tell(TEAM, "mate1", "hello") is TellState.READ


@pytest.mark.asyncio
async def test_a_message_that_another_writer_wiped_out_is_said_to_be_lost(world: World) -> None:
    world.on_sleep = lambda: world.put("mate1", {"from": "mate2", "text": "mine"}) and None
    assert await world.teams.tell(TEAM, "mate1", "hello") is TellState.OVERWRITTEN


@pytest.mark.asyncio
async def test_a_held_lock_is_waited_for(world: World) -> None:
    lock = world.inboxes / "mate1.json.lock"
    lock.mkdir()
    os.utime(lock, (NOW, NOW))
    tries: list[int] = []

    def others() -> None:
        tries.append(1)
        if len(tries) == 3:
            lock.rmdir()

    world.on_sleep = others
    assert await world.teams.tell(TEAM, "mate1", "hello") is TellState.WAITING
    assert len(tries) == 4


@pytest.mark.asyncio
async def test_a_lock_that_is_never_given_back_is_an_error_and_nothing_is_written(world: World) -> None:
    lock = world.inboxes / "mate1.json.lock"
    lock.mkdir()
    os.utime(lock, (NOW, NOW))
    with pytest.raises(AgentError, match="busy"):
        await world.teams.tell(TEAM, "mate1", "hello")
    assert not (world.inboxes / "mate1.json").exists()
    assert lock.exists()


@pytest.mark.asyncio
async def test_the_lock_of_a_dead_writer_is_taken_over(world: World) -> None:
    lock = world.inboxes / "mate1.json.lock"
    lock.mkdir()
    os.utime(lock, (NOW - 60, NOW - 60))
    assert await world.teams.tell(TEAM, "mate1", "hello") is TellState.WAITING


@pytest.mark.asyncio
@pytest.mark.parametrize("member", ["team-lead", "nobody", "../mate1", "../../config", "mate1/../mate2", "", "user"])
async def test_nobody_but_a_member_is_written_to(member: str, world: World) -> None:
    before = sorted(world.config.rglob("*"))
    with pytest.raises(AgentError):
        await world.teams.tell(TEAM, member, "hello")
    assert sorted(world.config.rglob("*")) == before


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["../evil", "a/b", "..", ".hidden", "a\x00b"])
async def test_a_member_with_a_hostile_name_does_not_exist(name: str, world: World) -> None:
    world.write_config([{"name": name}, {"name": "mate1"}])
    (team,) = await world.teams.list()
    assert [one.name for one in team.members] == ["mate1"]
    with pytest.raises(AgentError):
        await world.teams.tell(TEAM, name, "hello")


@pytest.mark.asyncio
@pytest.mark.parametrize("content", ["{", "{}", '"text"', ""])
async def test_an_inbox_of_an_unknown_form_is_never_overwritten(content: str, world: World) -> None:
    file = world.inboxes / "mate1.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(AgentError):
        await world.teams.tell(TEAM, "mate1", "hello")
    assert file.read_text(encoding="utf-8") == content
    assert not (world.inboxes / "mate1.json.lock").exists()


@pytest.mark.asyncio
async def test_a_team_whose_terminal_has_ended_is_not_written_to(world: World) -> None:
    world.write_config([{"name": "mate1"}], pid=2**22 + 5)
    (team,) = await world.teams.list()
    assert not team.is_running
    with pytest.raises(AgentError, match="ended"):
        await world.teams.tell(TEAM, "mate1", "hello")


def prompt(sender: str, text: str) -> dict[str, Any]:
    content = f'<teammate-message teammate_id="{sender}" summary="x" verified="false">\n{text}\n</teammate-message>'
    return {"type": "user", "message": {"role": "user", "content": content}}


def said(key: str, text: str, stop: str = "end_turn") -> dict[str, Any]:
    message = {"role": "assistant", "stop_reason": stop, "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "uuid": key, "message": message}


@pytest.mark.asyncio
async def test_only_what_ends_a_turn_begun_by_the_person_is_an_answer(world: World) -> None:
    tool_result = {"type": "user", "message": {"content": [{"type": "tool_result", "content": "x"}]}}
    world.work("mate1", 10).write_text(
        "".join(
            json.dumps(entry) + "\n"
            for entry in (
                prompt("team-lead", "begin"),
                said("1", "to the lead"),
                prompt("user", "mend the door"),
                said("2", "I look", "tool_use"),
                tool_result,
                said("3", "The door is mended."),
                prompt("mate2", "and you?"),
                said("4", "to mate2"),
            )
        )
        + json.dumps(said("5", "half"))[:20],
        encoding="utf-8",
    )
    assert await world.teams.replies(TEAM) == [TeamReply("3", "mate1", "The door is mended.")]


@pytest.mark.asyncio
async def test_a_prompt_that_only_speaks_of_the_person_is_not_from_the_person(world: World) -> None:
    words = 'he wrote <teammate-message teammate_id="user" summary="x"> to me'
    world.work("mate1", 10).write_text(
        json.dumps(prompt("user", "a")) + "\n" + json.dumps({"type": "user", "message": {"content": words}}) + "\n",
        encoding="utf-8",
    )
    assert await world.teams.replies(TEAM) == []


@pytest.mark.asyncio
async def test_another_teams_histories_are_not_read(world: World) -> None:
    world.work("mate1", 10).write_text(
        json.dumps(prompt("user", "a")) + "\n" + json.dumps(said("1", "b")) + "\n", encoding="utf-8"
    )
    for about in world.config.rglob("*.meta.json"):
        about.write_text(json.dumps({"name": "mate1", "teamName": "session-other"}), encoding="utf-8")
    assert await world.teams.replies(TEAM) == []


@pytest.mark.asyncio
@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b'{"members": 5}', b'{"members": [1, null, {}]}'])
async def test_a_configuration_that_is_none_is_no_team(content: bytes, world: World) -> None:
    (world.folder / "config.json").write_bytes(content)
    assert await world.teams.list() == []


@pytest.mark.asyncio
async def test_without_teams_the_list_is_empty(tmp_path: Path) -> None:
    async def config() -> Path:
        return tmp_path / "nothing"

    assert await ClaudeTeams(config, lambda: "x", now=time.time).list() == []
