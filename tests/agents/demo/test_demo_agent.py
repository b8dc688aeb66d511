"""The demo agent as a real process behind the ACP layer: what a newcomer sees, and each kind of trouble."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from agents.contract import (
    AgentLaunch,
    AgentSession,
    AssistantText,
    FailureKind,
    Plan,
    ProcessExited,
    Prompt,
    SessionNotFoundError,
    SessionSpec,
    SessionStarted,
    TextDelta,
    Thought,
    ToolFinished,
    ToolKind,
    ToolStatus,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UnknownEvent,
)
from agents.contract.ids import SessionId
from agents.demo.backend import DemoBackend
from agents.demo.wording import SCENES, TOUR, scene_of
from tests.agents.channel import DENY, Listener, Person, eventually, first_choice
from tests.agents.installed import SYSTEM_PATH, finder


@dataclass
class Stand:
    backend: DemoBackend
    session: AgentSession
    person: Person
    heard: Listener
    cwd: Path

    async def turn(self, text: str) -> object:
        since = len(self.heard.events)
        await self.session.prompt(Prompt(text))
        return await self.heard.turn_end(since=since)

    async def answer(self, text: str) -> str:
        end = await self.turn(text)
        assert isinstance(end, TurnFinished), end
        return end.text


def backend_in(tmp_path: Path) -> DemoBackend:
    env = {"DEMO_AGENT_HOME": str(tmp_path / "sessions"), "DEMO_AGENT_PACE": "0"}
    return DemoBackend(AgentLaunch(env=env), finder(tmp_path / "home", SYSTEM_PATH))


@asynccontextmanager
async def stand(tmp_path: Path, *, resume: str | None = None) -> AsyncIterator[Stand]:
    cwd = tmp_path / "work"
    cwd.mkdir(exist_ok=True)
    backend, person = backend_in(tmp_path), Person(answer=first_choice)
    spec = SessionSpec(cwd, "t1", resume=SessionId(resume) if resume else None)
    session = await backend.open(spec, person)
    try:
        yield Stand(backend, session, person, Listener(session), cwd)
    finally:
        await backend.close()


def test_every_word_of_the_tour_leads_to_a_scene() -> None:
    for russian, text in TOUR.items():
        words = text.split("**")[1::2]
        assert len(words) >= 15, russian
        assert [word for word in words if scene_of(word) == "tour"] == []


def test_no_scene_is_out_of_reach_of_its_own_words() -> None:
    for words in SCENES:
        assert words.scene in {scene_of(one) for one in words.beginnings}, words.scene


def test_a_quoted_command_does_not_choose_the_scene() -> None:
    assert scene_of("run `cat crash.log`") == "run"


@pytest.mark.asyncio
async def test_an_unknown_prompt_gets_the_tour_in_the_language_of_the_prompt(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        assert "demo agent" in await s.answer("hello")
        assert "демо-агент" in await s.answer("привет")


@pytest.mark.asyncio
async def test_an_allowed_command_really_runs_and_its_output_comes_back(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        answer = await s.answer("run `echo $((40 + 2)) > made.txt; cat made.txt`")
        assert "42" in answer
        assert (s.cwd / "made.txt").read_text() == "42\n"
        ask = s.person.requests[0]
        assert (ask.kind, ask.subject) == (ToolKind.EXECUTE, "echo $((40 + 2)) > made.txt; cat made.txt")
        assert s.person.told_of == [(ask.id, True)]
        finished = next(event for event in s.heard.events if isinstance(event, ToolFinished))
        assert (finished.status, finished.output, finished.exit_code) == (ToolStatus.OK, "42\n", 0)


@pytest.mark.asyncio
async def test_a_denied_command_does_not_run(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        s.person.decision = DENY
        assert "**not**" in await s.answer("run `touch made.txt`")
        assert not (s.cwd / "made.txt").exists()
        finished = next(event for event in s.heard.events if isinstance(event, ToolFinished))
        assert finished.status is ToolStatus.DENIED
        assert "the disk is full" in await s.answer("the disk is full")


@pytest.mark.asyncio
async def test_an_edit_shows_its_difference_before_and_after(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.answer("edit")
        assert "+- The demo agent was here" in s.person.requests[0].diff
        assert "was here" in (s.cwd / "demo-notes.md").read_text()
        finished = next(event for event in s.heard.events if isinstance(event, ToolFinished))
        assert "+- The demo agent was here" in finished.diff


@pytest.mark.asyncio
async def test_questions_go_through_the_hubs_tool_and_back(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        answer = await s.answer("анкета")
        assert "Зелёная" in answer
        assert "my own words" in answer
        asked = s.person.questions[0].questions
        assert [len(one.choices) for one in asked] == [3, 3, 0]
        assert [one.is_multiple for one in asked] == [False, True, False]
        assert s.person.requests == []


@pytest.mark.asyncio
async def test_a_file_goes_through_the_hubs_tool(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        assert "The user has it." in await s.answer("send me a file")
        assert [str(file.path) for file in s.person.files] == ["demo-report.md"]


@pytest.mark.asyncio
async def test_plan_and_thought_are_told_apart_from_text(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.answer("plan")
        await s.answer("think")
        plans = [event for event in s.heard.events if isinstance(event, Plan)]
        assert [step.is_done for step in plans[-1].steps] == [True, True, True]
        assert any(isinstance(event, Thought) for event in s.heard.events)


@pytest.mark.asyncio
async def test_an_interrupt_in_the_text_keeps_what_was_said_and_the_session_goes_on(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.session.prompt(Prompt("slow"))
        await s.heard.until(lambda event: isinstance(event, TextDelta) and "1 " in event.text)
        await s.session.interrupt()
        end = await s.heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.outcome is TurnOutcome.INTERRUPTED
        assert "count slowly" in end.text
        assert "demo agent" in await s.answer("hello")


@pytest.mark.asyncio
async def test_an_interrupt_in_a_command_ends_the_command(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.session.prompt(Prompt("run `echo $$ > pid; sleep 60`"))
        await eventually(lambda: (s.cwd / "pid").exists() and (s.cwd / "pid").read_text().strip() != "")
        await s.session.interrupt()
        end = await s.heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.outcome is TurnOutcome.INTERRUPTED
        assert not psutil.pid_exists(int((s.cwd / "pid").read_text()))


@pytest.mark.asyncio
async def test_an_interrupt_withdraws_an_open_permission_and_nothing_runs(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        s.person.decision = None
        await s.session.prompt(Prompt("run `touch made.txt`"))
        await s.person.asked.wait()
        await s.session.interrupt()
        end = await s.heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.outcome is TurnOutcome.INTERRUPTED
        assert s.person.withdrawn_asks == [s.person.requests[0].id]
        assert s.person.told_of == []
        assert not (s.cwd / "made.txt").exists()


@pytest.mark.asyncio
async def test_an_interrupt_withdraws_an_open_question(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        s.person.answer = None
        await s.session.prompt(Prompt("ask"))
        await s.person.asked.wait()
        await s.session.interrupt()
        await s.heard.turn_end()
        assert s.person.withdrawn_asks == [s.person.questions[0].id]


@pytest.mark.asyncio
async def test_a_crash_ends_the_session_and_a_resume_knows_what_was_said(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.answer("say something")
        end = await s.turn("crash")
        assert isinstance(end, ProcessExited)
        assert (end.exit_code, end.was_expected) == (9, False)
        session_id = s.session.session_id
        assert session_id is not None
    async with stand(tmp_path, resume=session_id) as s:
        assert "say something" in await s.answer("before")
        told = next(event for event in s.heard.events if isinstance(event, AssistantText))
        assert told.text.startswith("You told me")


@pytest.mark.asyncio
async def test_a_session_that_does_not_exist_can_not_be_resumed(tmp_path: Path) -> None:
    cwd = tmp_path / "work"
    cwd.mkdir()
    backend = backend_in(tmp_path)
    with pytest.raises(SessionNotFoundError):
        await backend.open(SessionSpec(cwd, "t1", resume=SessionId("nobody")), Person())
    await backend.close()


@pytest.mark.asyncio
async def test_stray_text_unknown_updates_and_three_megabytes_in_a_line_harm_nothing(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        assert "still here" in await s.answer("garbage")
        assert "still here" in await s.answer("unknown")
        assert len(await s.answer("huge")) > 3 * 1024 * 1024
        names = [event.name for event in s.heard.events if isinstance(event, UnknownEvent)]
        assert names == ["hologram", "agent_message_chunk content", "demo/notice"]


@pytest.mark.asyncio
async def test_a_failed_turn_says_why_and_the_session_goes_on(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        end = await s.turn("fail")
        assert isinstance(end, TurnFailed)
        assert end.kind is FailureKind.OVERLOADED
        assert "429" in end.detail
        assert "demo agent" in await s.answer("hello")


@pytest.mark.asyncio
async def test_what_the_agent_says_by_itself_is_an_unsolicited_turn(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.answer("background")
        since = len(s.heard.events)
        await s.heard.until(lambda event: event == TurnStarted(is_unsolicited=True), since=since)
        end = await s.heard.turn_end(since=since)
        assert isinstance(end, TurnFinished)
        assert end.text.startswith("Here I am again")


@pytest.mark.asyncio
async def test_mode_model_and_effort_can_be_changed_and_are_told(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.session.set_mode("Edits")
        await s.session.set_model("demo-large")
        await s.session.set_effort("high")
        s.person.decision = DENY
        await s.answer("edit")
        assert s.person.requests == []
        started = [event for event in s.heard.events if isinstance(event, SessionStarted)][-1]
        assert (started.mode, started.model) == ("edits", "demo-large")
        assert {command.name for command in started.commands} == {"tour", "about", "forget"}


@pytest.mark.asyncio
async def test_closing_leaves_no_process_and_the_events_end(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.answer("ask")
        pid = s.session.pid
        assert pid is not None
        tree = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        assert len(tree) == 2
        await s.session.close()
        events = await s.heard.ended()
        assert events[-1] == ProcessExited(None, was_expected=True)
        assert [one for one in tree if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.asyncio
async def test_a_saved_session_can_be_restored_in_another_folder(tmp_path: Path) -> None:
    async with stand(tmp_path) as s:
        await s.answer("say the first thing")
        assert s.session.session_id is not None
        snapshot = await s.backend.archive.export(s.session.session_id, s.cwd, tmp_path / "saved")
        await s.answer("say the second thing")
        other = tmp_path / "other"
        other.mkdir()
        restored = await s.backend.archive.restore(snapshot, other)
        session = await s.backend.open(SessionSpec(other, "t2", resume=restored), s.person)
        heard = Listener(session)
        await session.prompt(Prompt("before"))
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert "first thing" in end.text
        assert "second thing" not in end.text
        assert {one.id for one in await s.backend.archive.list(other)} == {restored}
