"""Opening sessions on an app-server in memory: who holds it, what is said when it can't be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.codex.backend import FLAGS, CodexBackend, check_version
from agents.contract import (
    AgentBackend,
    AgentError,
    AgentGoneError,
    AgentLaunch,
    AgentNotLoggedInError,
    AgentVersionError,
    SessionId,
    SessionNotFoundError,
    SessionSpec,
)
from tests.agents.codex.stage import StagedPipe
from tests.agents.installed import SYSTEM_PATH, finder, program
from tests.contract.person import Person

AGENT = "agent_hub/0.171.0 (x)"


class Desk:
    """A backend whose processes are staged."""

    def __init__(
        self, folder: Path, *, user_agent: str = AGENT, terminal: dict[str, str] | None = None, **answers: Any
    ) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.pipes: list[StagedPipe] = []
        self.commands: list[tuple[str, ...]] = []
        self.answers = {
            "initialize": {"userAgent": user_agent, "codexHome": str(folder)},
            "account/read": {"account": None, "requiresOpenaiAuth": False},
            "thread/start": {"thread": {"id": "thread-1"}, "model": "gpt-5.5"},
            "thread/resume": {"thread": {"id": "thread-1"}, "model": "gpt-5.5"},
            **{name.replace("_", "/"): answer for name, answer in answers.items()},
        }
        native = program(folder / "bin" / "codex")
        found = finder(folder / "home", f"{native.parent}:{SYSTEM_PATH}", **(terminal or {}))
        self.backend = CodexBackend(AgentLaunch(args=("--extra",)), found, spawn=self._spawn)

    async def _spawn(self, command: Any, cwd: Path, env: Any) -> StagedPipe:
        self.commands.append(tuple(command))
        self.env = dict(env)
        pipe = StagedPipe()
        pipe.answers |= self.answers
        self.pipes.append(pipe)
        return pipe

    async def open(self, **spec: Any) -> Any:
        return await self.backend.open(SessionSpec(spec.pop("cwd", self.folder), "topic", **spec), Person())


@pytest.mark.asyncio
async def test_the_backend_is_one_of_the_contract(tmp_path: Path) -> None:
    backend: AgentBackend = Desk(tmp_path).backend
    assert backend.kind == "codex"
    assert backend.traits.is_process_shared


@pytest.mark.asyncio
async def test_flags_are_given_so_that_an_unknown_one_does_no_harm(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.open()
    (command,) = desk.commands
    assert command[-1] == "app-server"
    assert "--extra" in command
    assert [command[at + 1] for at, part in enumerate(command) if part == "-c"] == list(FLAGS)
    await desk.backend.close()


@pytest.mark.asyncio
async def test_sessions_share_a_process_and_a_dead_one_is_replaced(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.open()
    await desk.open(resume=SessionId("thread-2"))
    assert len(desk.pipes) == 1
    desk.pipes[0].die()
    await desk.pipes[0].until(lambda: desk.pipes[0].pid is None)
    async for _ in (await desk.open()).events:
        break
    assert len(desk.pipes) == 2
    await desk.backend.close()


@pytest.mark.asyncio
async def test_no_account_is_said_before_the_first_turn_with_the_command(tmp_path: Path) -> None:
    desk = Desk(tmp_path, account_read={"account": None, "requiresOpenaiAuth": True})
    with pytest.raises(AgentNotLoggedInError) as caught:
        await desk.open()
    assert "codex login" in caught.value.hint


@pytest.mark.asyncio
async def test_a_session_that_is_gone_is_an_error_of_its_own(tmp_path: Path) -> None:
    gone = {"error": {"code": -32600, "message": "no rollout found for thread id x"}}
    desk = Desk(tmp_path, thread_resume=gone)
    with pytest.raises(SessionNotFoundError):
        await desk.open(resume=SessionId("x"))


@pytest.mark.asyncio
async def test_a_session_open_in_a_terminal_is_named_as_such(tmp_path: Path) -> None:
    busy = {"error": {"code": -32600, "message": "thread x already has an active writer"}}
    desk = Desk(tmp_path, thread_resume=busy)
    with pytest.raises(AgentError) as caught:
        await desk.open(resume=SessionId("x"))
    assert "terminal" in caught.value.title
    assert not isinstance(caught.value, SessionNotFoundError)


@pytest.mark.asyncio
async def test_a_folder_that_is_gone_is_said_because_codex_would_not(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as caught:
        await Desk(tmp_path).open(cwd=tmp_path / "gone")
    assert str(tmp_path / "gone") in caught.value.detail


@pytest.mark.asyncio
async def test_a_mode_nobody_knows_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as caught:
        await Desk(tmp_path).open(mode="yolo")
    assert "untrusted" in caught.value.hint


@pytest.mark.asyncio
async def test_full_access_asked_for_by_a_topic_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError):
        await Desk(tmp_path).open(mode="full-access")


@pytest.mark.asyncio
async def test_a_version_that_is_too_old_is_refused_and_its_process_ended(tmp_path: Path) -> None:
    desk = Desk(tmp_path, user_agent="agent_hub/0.99.0 (x)")
    with pytest.raises(AgentVersionError) as caught:
        await desk.open()
    assert "npm install -g @openai/codex" in caught.value.hint


def test_a_version_that_can_not_be_told_is_let_through() -> None:
    assert check_version({"userAgent": "agent_hub/dev"}) == "dev"


@pytest.mark.asyncio
async def test_a_process_that_ends_at_once_leaves_its_last_words(tmp_path: Path) -> None:
    desk = Desk(tmp_path, initialize=lambda _: desk.pipes[0].die())
    with pytest.raises(AgentGoneError) as caught:
        await desk.open()
    assert caught.value.detail == "last words"


@pytest.mark.asyncio
async def test_the_key_of_the_chosen_provider_goes_along_and_no_other(tmp_path: Path) -> None:
    desk = Desk(tmp_path, terminal={"MY_KEY": "k", "OTHER_KEY": "o"})
    config = tmp_path / "home" / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model_provider = "x"\n[model_providers.x]\nenv_key = "MY_KEY"\n', encoding="utf-8")
    await desk.open()
    assert desk.env["MY_KEY"] == "k"
    assert "OTHER_KEY" not in desk.env
    await desk.backend.close()
