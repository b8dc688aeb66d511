"""/team and /tell in a topic: members by name, what became of a message, answers once each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agents.contract.teams import MemberState, Team, TeamMember, TeamReply, TellState
from tests.bridge.scripted_agent import ScriptedBackend
from tests.bridge.topics.stage import Stage, stage


@dataclass
class PaperTeams:
    """Teams on paper."""

    found: list[Team] = field(default_factory=list)
    told: list[tuple[str, str, str]] = field(default_factory=list)
    state: TellState = TellState.READ
    written: list[TeamReply] = field(default_factory=list)

    async def list(self) -> Sequence[Team]:
        return self.found

    async def tell(self, team: str, member: str, text: str) -> TellState:
        self.told.append((team, member, text))
        return self.state

    async def replies(self, team: str) -> Sequence[TeamReply]:
        return self.written


class TeamBackend(ScriptedBackend):
    """A scripted agent whose kind forms teams."""

    @property
    def teams(self) -> PaperTeams:
        return TEAMS[id(self)]


TEAMS: dict[int, PaperTeams] = {}


@asynccontextmanager
async def with_team(tmp_path: Path) -> AsyncIterator[tuple[Stage, PaperTeams]]:
    async with stage(tmp_path) as hub:
        backend = TeamBackend("claude", hub.clock.monotonic)
        TEAMS[id(backend)] = paper = PaperTeams()
        hub.hub.context.backends = {"claude": backend, "codex": hub.codex}
        members = (TeamMember("mate1", MemberState.ACTIVE, "large", unread=2), TeamMember("mate2", MemberState.IDLE))
        paper.found = [Team("session-1", members, is_running=True)]
        yield hub, paper


@pytest.mark.asyncio
async def test_team_lists_members_and_how_they_do(tmp_path: Path) -> None:
    async with with_team(tmp_path) as (hub, _):
        await hub.say("/team")
        assert "mate1 · 🟢 active · large · 2 messages wait" in hub.last()
        assert "mate2 · 💤 idle" in hub.last()


@pytest.mark.asyncio
async def test_tell_writes_to_that_member_and_says_what_became_of_it(tmp_path: Path) -> None:
    async with with_team(tmp_path) as (hub, paper):
        await hub.say("/tell mate1 mend the door, please")
        assert paper.told == [("session-1", "mate1", "mend the door, please")]
        assert "mate1 has read it." in hub.last()


@pytest.mark.asyncio
async def test_an_overwritten_message_is_offered_again(tmp_path: Path) -> None:
    async with with_team(tmp_path) as (hub, paper):
        paper.state = TellState.OVERWRITTEN
        await hub.say("/tell mate1 hello")
        assert "overwrote" in hub.last()
        paper.state = TellState.WAITING
        await hub.press("Send it again")
        assert paper.told == [("session-1", "mate1", "hello")] * 2
        assert "inbox" in hub.last()


@pytest.mark.asyncio
async def test_an_answer_to_the_person_appears_once_also_after_a_restart(tmp_path: Path) -> None:
    async with with_team(tmp_path) as (hub, paper):
        await hub.say("/tell mate1 hello")
        paper.written = [TeamReply("k1", "mate1", "The door is *mended*.")]
        await hub.pass_time(20)
        await hub.say("/tell mate1 thanks")
        await hub.pass_time(20)
        assert [text for text in hub.texts() if "mended" in text] == ["💬 mate1\nThe door is mended."]
        assert any("mended" in text for text in hub.ringing())


@pytest.mark.asyncio
@pytest.mark.parametrize("text", ["/tell", "/tell mate1", "/tell nobody hello"])
async def test_a_wrong_use_says_how(text: str, tmp_path: Path) -> None:
    async with with_team(tmp_path) as (hub, paper):
        await hub.say(text)
        assert hub.last().startswith("⚠️")
        assert paper.told == []


@pytest.mark.asyncio
async def test_one_name_in_two_teams_is_asked_for_with_its_team(tmp_path: Path) -> None:
    async with with_team(tmp_path) as (hub, paper):
        paper.found.append(Team("session-2", (TeamMember("mate1", MemberState.IDLE),), is_running=True))
        await hub.say("/tell mate1 hello")
        assert "session-2/mate1" in hub.last()
        await hub.say("/tell session-2/mate1 hello")
        assert paper.told == [("session-2", "mate1", "hello")]


@pytest.mark.asyncio
async def test_without_a_team_it_is_said_where_teams_come_from(tmp_path: Path) -> None:
    async with with_team(tmp_path) as (hub, paper):
        paper.found = []
        await hub.say("/team")
        assert "terminal" in hub.last()
