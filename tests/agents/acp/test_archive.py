"""What any ACP agent can do with its past: a saved session is a fork that nobody goes on with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.contract import AgentError, SessionArchive, SessionId, SessionNotFoundError, Snapshot
from tests.agents.acp.scripted import ScriptedAgent, Stage
from tests.agents.test_hostile_histories import CONTENTS

SOURCE = SessionId("s1")


def able(*abilities: str, **answers: Any) -> ScriptedAgent:
    capabilities = {"loadSession": True, "sessionCapabilities": {name: {} for name in abilities}}
    about = {"protocolVersion": 1, "agentCapabilities": capabilities}
    return ScriptedAgent({"initialize": about, **{f"session/{name}": answer for name, answer in answers.items()}})


@asynccontextmanager
async def archive(folder: Path, *agents: ScriptedAgent) -> AsyncIterator[SessionArchive]:
    stage = Stage(folder, *agents)
    try:
        found = stage.backend.archive
        assert found is not None
        yield found
    finally:
        await stage.backend.close()


@pytest.mark.asyncio
async def test_saving_forks_and_restoring_forks_the_fork(tmp_path: Path) -> None:
    first, second = able("fork", fork={"sessionId": "s2"}), able("fork", fork={"sessionId": "s3"})
    async with archive(tmp_path, first, second) as past:
        snapshot = await past.export(SOURCE, tmp_path, tmp_path / "saved")
        assert await past.restore(snapshot, tmp_path) == "s3"
    assert first.last("session/fork")["params"] == {"sessionId": "s1", "cwd": str(tmp_path), "mcpServers": []}
    assert second.last("session/fork")["params"]["sessionId"] == "s2"
    assert first.is_stopped
    assert second.is_stopped


@pytest.mark.asyncio
async def test_an_agent_that_can_not_fork_says_that_it_can_not_save(tmp_path: Path) -> None:
    async with archive(tmp_path, able()) as past:
        with pytest.raises(AgentError, match="no way to save"):
            await past.export(SOURCE, tmp_path, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


@pytest.mark.asyncio
async def test_a_session_that_the_agent_does_not_have_is_named_as_that(tmp_path: Path) -> None:
    gone = {"error": {"code": -32002, "message": "Resource not found"}}
    async with archive(tmp_path, able("fork", fork=gone)) as past:
        with pytest.raises(SessionNotFoundError, match="on this computer"):
            await past.export(SOURCE, tmp_path, tmp_path / "saved")


@pytest.mark.asyncio
async def test_a_fork_that_stays_in_the_folder_of_its_source_is_not_used_in_another_one(tmp_path: Path) -> None:
    listed = {"sessions": [{"sessionId": "s2", "cwd": str(tmp_path / "elsewhere")}]}
    async with archive(tmp_path, able("fork", "list", fork={"sessionId": "s2"}, list=listed)) as past:
        with pytest.raises(AgentError, match="own folder only") as refused:
            await past.export(SOURCE, tmp_path, tmp_path / "saved")
        assert str(tmp_path / "elsewhere") in refused.value.hint


@pytest.mark.asyncio
@pytest.mark.parametrize(("abilities", "word"), [(("delete", "close"), "delete"), (("close",), "close")])
async def test_a_fork_made_in_vain_is_taken_away_as_far_as_the_agent_can(
    tmp_path: Path, abilities: tuple[str, ...], word: str
) -> None:
    listed = {"sessions": [{"sessionId": "s2", "cwd": str(tmp_path / "elsewhere")}]}
    agent = able("fork", "list", *abilities, fork={"sessionId": "s2"}, list=listed, **{word: {}})
    async with archive(tmp_path, agent) as past:
        with pytest.raises(AgentError, match="own folder only"):
            await past.export(SOURCE, tmp_path, tmp_path / "saved")
    assert agent.last(f"session/{word}")["params"] == {"sessionId": "s2"}


@pytest.mark.asyncio
async def test_opencode_makes_no_fork_for_another_folder_at_all(tmp_path: Path) -> None:
    listed = {"sessions": [{"sessionId": "s1", "cwd": str(tmp_path / "elsewhere")}]}
    agent = able("fork", "list", "close", fork={"sessionId": "s2"}, list=listed)
    agent.answers["initialize"]["agentInfo"] = {"name": "OpenCode", "version": "1.18.33"}
    async with archive(tmp_path, agent) as past:
        with pytest.raises(AgentError, match="own folder only"):
            await past.export(SOURCE, tmp_path, tmp_path / "saved")
    assert agent.methods() == ["initialize", "session/list"]


@pytest.mark.asyncio
@pytest.mark.parametrize("content", [b'{"session": 1}', b'{"other": "s2"}', *CONTENTS.values()])
async def test_a_damaged_save_is_refused_before_the_agent_is_asked(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "session.json").write_bytes(content)
    snapshot = Snapshot("acp", SOURCE, "", "x", tmp_path, tmp_path)
    async with archive(tmp_path) as past:
        with pytest.raises(AgentError, match="incomplete"):
            await past.restore(snapshot, tmp_path)
