"""What only Codex has, with the real program: sandbox and trust, helpers, three ways to ask, one process for all."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import psutil
import pytest

from agents.codex.backend import CodexBackend
from agents.contract import (
    AgentError,
    AgentLaunch,
    Answer,
    Answers,
    AssistantText,
    BackgroundTasks,
    Decision,
    InputConsumed,
    ProcessExited,
    Prompt,
    QuestionRequest,
    SessionId,
    SessionSpec,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UserChannel,
    Verdict,
)
from agents.finding import Finder
from agents.known_agents import KNOWN
from agents.login_shell import LoginShell
from tests.contract.person import Person
from tests.contract.talk import Talk
from tests.models.responses import MODEL, Native, ResponsesWire, codex_home, codex_tools
from tests.models.script import Ask, ProposePlan, Run, Say, Script, ScriptedModel, Write
from tests.models.server import LoopbackServer
from tests.parts import require_program

pytestmark = pytest.mark.live
CODE_MODE = "gpt-6.2-sol"
"""Today's default model: it writes JavaScript that calls the tools, and has helpers and questions aside."""
MCP_SERVER = Path(__file__).with_name("mcp_server.py")
SCRIPTS: Mapping[str, Script] = {
    "hello": ((Say("Hello."),),),
    "run": ((Run("touch made.txt"),), (Say("finished"),)),
    "slow": ((Say("word " * 200, chunks=100, delay=0.05),),),
    "sleep": ((Run("sleep 97.53"),), (Say("slept"),)),
    "stay": ((Run("sleep 98.54", in_background=True),), (Say("left it running"),)),
    "plan": ((ProposePlan("# Plan\n- look\n- do"),),),
    "ask": ((Ask("Which library?", ("httpx", "requests")),), (Say("thanks"),)),
    "write": ((Write("new.txt", "one\n"),), (Say("written"),)),
    "spawn": (
        (
            Native(
                "spawn_agent",
                {"message": "play:helper", "task_name": "bob", "fork_turns": "none"},
                "collaboration",
            ),
        ),
        (Native("wait_agent", {"timeout_ms": 10000}, "collaboration"),),
        (Say("root is done"),),
    ),
    "helper": (
        (Native("exec", 'text(await tools.exec_command({cmd: "touch made-by-bob.txt"}));'),),
        (Say("bob's result"),),
    ),
    "aside": (
        (
            Native(
                "request_user_input_async",
                {"questions": [{"title": "Red or blue?", "options": ["Red", "Blue"]}]},
            ),
        ),
        (Say("going on " * 20, chunks=20, delay=0.05),),
        (Say("heard it"),),
    ),
    "danger": ((Native("exec", "text(await tools.mcp__lab__danger({x: 1}));"),), (Say("called"),)),
    "elicit": ((Native("exec", "text(await tools.mcp__lab__ask_colour({}));"),), (Say("asked"),)),
}


class Lab:
    """One backend on a scripted model, with a CODEX_HOME of its own."""

    def __init__(self, folder: Path, url: str, model: ScriptedModel, name: str) -> None:
        self.model = model
        self.folder = folder / "project"
        self.folder.mkdir()
        self.home = folder / "codex"
        server = f"[mcp_servers.lab]\ncommand = {str(sys.executable)!r}\nargs = [{str(MCP_SERVER)!r}]\n"
        self.env = codex_home(self.home, url, model=name, extra=server if name == CODE_MODE else "")
        self.backend = self.make()

    def make(self, mode: str | None = None) -> CodexBackend:
        shell = LoginShell({"PATH": os.environ.get("PATH", os.defpath), "SHELL": "/bin/sh"})
        launch = AgentLaunch(command=str(require_program("codex")), env=self.env, mode=mode)
        return CodexBackend(launch, Finder(shell, home=self.home))

    @contextlib.asynccontextmanager
    async def talk(
        self, person: UserChannel | None = None, resume: SessionId | None = None, mode: str | None = None
    ) -> AsyncIterator[Talk]:
        spec = SessionSpec(self.folder, "topic1", resume=resume, mode=mode)
        talk = Talk(await self.backend.open(spec, person or Person()))
        try:
            yield talk
        finally:
            await talk.close()


@contextlib.asynccontextmanager
async def laboratory(folder: Path, name: str = MODEL) -> AsyncIterator[Lab]:
    model = ScriptedModel(SCRIPTS)
    with LoopbackServer(ResponsesWire(model, codex_tools)) as server:
        lab = Lab(folder, server.url, model, name)
        try:
            yield lab
        finally:
            await lab.backend.close()


def running(command: str) -> list[int]:
    return [
        process.pid for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == command.split(" ")
    ]


async def appears(command: str, seconds: float = 20) -> bool:
    """A shell needs a while for its start files before the command itself runs."""
    for _ in range(int(seconds / 0.1)):
        if running(command):
            return True
        await asyncio.sleep(0.1)
    return False


async def gone(command: str, seconds: float = 10) -> bool:
    for _ in range(int(seconds / 0.1)):
        if not running(command):
            return True
        await asyncio.sleep(0.1)
    return False


@pytest.mark.asyncio
async def test_the_persons_own_configuration_is_not_touched(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        command = ["git", "init", "-q", str(lab.folder)]
        await asyncio.to_thread(subprocess.run, command, check=True, timeout=20)
        before = (lab.home / "config.toml").read_text(encoding="utf-8")
        async with lab.talk() as talk:
            await talk.turn("run")
            await talk.turn("write")
        assert (lab.home / "config.toml").read_text(encoding="utf-8") == before
        assert not (lab.home / "rules").exists()


@pytest.mark.asyncio
async def test_a_resumed_session_asks_as_before_though_codex_forgets_it(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        async with lab.talk() as talk:
            await talk.turn("hello")
            session_id = talk.session.session_id
        await lab.backend.close()
        person = Person(lambda _: Decision(Verdict.DENY))
        async with lab.talk(person, resume=session_id) as talk:
            await talk.turn("run")
        assert [request.subject for request in person.requests] == ["touch made.txt"]
        assert not (lab.folder / "made.txt").exists()


@pytest.mark.asyncio
async def test_two_sessions_share_one_process_and_keep_apart(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab, lab.talk() as one, lab.talk() as two:
        assert one.session.pid == two.session.pid
        await asyncio.gather(one.turn("hello", "first"), two.turn("run", "second"))
        assert one.all(ToolStarted) == []
        assert [text.text for text in two.all(AssistantText)] == ["finished"]


@pytest.mark.asyncio
async def test_the_death_of_the_shared_process_hurts_every_session_and_ends_none(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        async with lab.talk() as one, lab.talk() as two:
            await one.turn("hello")
            await two.turn("hello")
            await one.say("slow")
            await one.until(TurnStarted)
            assert one.session.pid is not None
            os.kill(one.session.pid, 9)
            assert not (await one.until(ProcessExited)).was_expected
            assert not (await two.until(ProcessExited)).was_expected
            ids = one.session.session_id, two.session.session_id
        for session_id in ids:
            async with lab.talk(resume=session_id) as talk:
                assert (await talk.turn("hello")).text == "Hello."


@pytest.mark.asyncio
async def test_the_last_session_that_closes_ends_the_process(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        async with lab.talk() as one:
            pid = one.session.pid
            assert pid is not None
            async with lab.talk():
                pass
            assert psutil.pid_exists(pid)
        assert not psutil.pid_exists(pid)


@pytest.mark.asyncio
async def test_a_stop_ends_the_command_itself(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab, lab.talk() as talk:
        await talk.say("sleep")
        await talk.until(ToolStarted)
        assert await appears("sleep 97.53")
        await talk.session.interrupt()
        await talk.end()
        assert await gone("sleep 97.53")


@pytest.mark.asyncio
async def test_background_work_is_told_survives_a_later_stop_and_ends_on_demand(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab, lab.talk() as talk:
        await talk.turn("stay")
        told = [task.title for event in talk.all(BackgroundTasks) for task in event.tasks]
        assert [title for title in told if "sleep 98.54" in title]
        assert await appears("sleep 98.54")
        await talk.say("slow")
        await talk.until(TurnStarted)
        await talk.session.interrupt()
        await talk.end()
        assert running("sleep 98.54")
        await talk.session.stop_background()
        assert await gone("sleep 98.54")
        await talk.until(BackgroundTasks, lambda event: event.tasks == ())


@pytest.mark.asyncio
async def test_closing_ends_what_runs_in_the_background_and_was_told(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        async with lab.talk() as talk:
            await talk.turn("stay")
            assert await appears("sleep 98.54")
        told = [task.title for event in talk.all(BackgroundTasks) for task in event.tasks]
        assert [title for title in told if "sleep 98.54" in title]
        assert await gone("sleep 98.54")


@pytest.mark.asyncio
async def test_planning_gives_a_plan_and_touches_nothing(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab, lab.talk(mode="plan") as talk:
        assert (await talk.turn("plan")).text.strip() == "# Plan\n- look\n- do"
        await talk.session.set_mode("untrusted")
        await talk.turn("run")
        assert (lab.folder / "made.txt").exists()


@pytest.mark.asyncio
async def test_questions_with_buttons_work_while_planning_too(tmp_path: Path) -> None:
    person = Person()
    async with laboratory(tmp_path) as lab, lab.talk(person, mode="plan") as talk:
        await talk.turn("ask")
        assert lab.model.was_told("httpx")
    assert len(person.questions) == 1


@pytest.mark.asyncio
async def test_a_helpers_request_reaches_the_person_of_its_session(tmp_path: Path) -> None:
    person = Person()
    async with laboratory(tmp_path, CODE_MODE) as lab, lab.talk(person) as talk:
        ended = await talk.turn("spawn")
        assert ended.text == "root is done"
        assert [request.sub_agent for request in person.requests] == ["bob"]
        assert (lab.folder / "made-by-bob.txt").exists()
        assert "bob's result" not in [text.text for text in talk.all(AssistantText)]


class Slow(Person):
    """Answers a question only when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = asyncio.Event()

    async def ask(self, ask: QuestionRequest) -> Answers:
        self.questions.append(ask)
        self._news.set()
        await self.may_answer.wait()
        return Answers((Answer("0", ("Blue",)),))


@pytest.mark.asyncio
async def test_a_question_aside_is_answered_into_the_running_turn(tmp_path: Path) -> None:
    person = Slow()
    async with laboratory(tmp_path, CODE_MODE) as lab, lab.talk(person) as talk:
        await talk.say("aside")
        await person.until(lambda: bool(person.questions))
        person.may_answer.set()
        await talk.end()
        assert lab.model.was_told("Blue")
        assert [choice.label for choice in person.questions[0].questions[0].choices] == ["Red", "Blue"]
        assert talk.all(InputConsumed) == []


@pytest.mark.asyncio
async def test_a_question_aside_answered_after_the_turn_begins_a_new_one(tmp_path: Path) -> None:
    person = Slow()
    async with laboratory(tmp_path, CODE_MODE) as lab, lab.talk(person) as talk:
        await talk.turn("aside")
        person.may_answer.set()
        await talk.until(TurnStarted, lambda turn: turn.is_unsolicited)
        assert isinstance(await talk.end(), TurnFinished)
        assert lab.model.was_told("Blue")


@pytest.mark.asyncio
async def test_a_tool_of_an_mcp_server_asks_each_time_and_can_be_denied(tmp_path: Path) -> None:
    verdicts = [Verdict.ALLOW, Verdict.DENY]
    person = Person(lambda _: Decision(verdicts.pop(0)))
    async with laboratory(tmp_path, CODE_MODE) as lab, lab.talk(person) as talk:
        await talk.turn("danger")
        await talk.turn("danger", "again")
        assert [request.tool for request in person.requests] == ["lab.danger", "lab.danger"]
        assert '"x": 1' in person.requests[0].arguments
        outcomes = [event.output for event in talk.all(ToolFinished)]
        assert outcomes[0] == "it ran"
        assert "it ran" not in outcomes[1]


@pytest.mark.asyncio
async def test_a_form_of_an_mcp_server_is_filled_in(tmp_path: Path) -> None:
    person = Person(answer="Red")
    async with laboratory(tmp_path, CODE_MODE) as lab, lab.talk(person) as talk:
        await talk.turn("elicit")
        assert [choice.label for choice in person.questions[0].questions[0].choices] == ["Red", "Blue"]
        assert '"colour": "red"' in talk.all(ToolFinished)[-1].output


@pytest.mark.asyncio
async def test_a_session_is_saved_and_goes_on_elsewhere_with_its_past(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        async with lab.talk() as talk:
            await talk.turn("hello", "the word is heron")
            session_id = talk.session.session_id
            assert session_id is not None
        archive = lab.backend.archive
        assert archive is not None
        snapshot = await archive.export(session_id, lab.folder, tmp_path / "saved")
        assert [file.name for file in snapshot.folder.iterdir()] == ["rollout.jsonl"]
        for history in (lab.home / "sessions").rglob("*.jsonl"):
            history.unlink()
        restored = await archive.restore(snapshot, lab.folder)
        assert restored != session_id
        async with lab.talk(resume=restored) as talk:
            await talk.turn("hello", "which word")
        assert lab.model.heard[-1].body.count("the word is heron") == 1


@pytest.mark.asyncio
async def test_saved_sessions_are_listed_by_folder_with_their_first_words(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        async with lab.talk() as talk:
            await talk.turn("hello", "list me")
            session_id = talk.session.session_id
            archive = lab.backend.archive
            assert archive is not None
            (live,) = await archive.list(lab.folder)
            assert (live.id, live.is_live) == (session_id, True)
            assert "list me" in live.title
        assert list(await archive.list(tmp_path)) == []
        assert archive.resume_command(live.id, lab.folder)[:2] == ("codex", "resume")


@pytest.mark.asyncio
async def test_a_session_of_a_terminal_can_be_saved_and_restored_too(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        command = [str(require_program("codex")), "exec", "--skip-git-repo-check", "play:hello from a terminal"]
        await asyncio.to_thread(
            subprocess.run,
            command,
            cwd=lab.folder,
            env={**os.environ, **lab.env},
            check=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        (history,) = (lab.home / "sessions").rglob("*.jsonl")
        archive = lab.backend.archive
        assert archive is not None
        terminal = SessionId("-".join(history.stem.split("-")[-5:]))
        snapshot = await archive.export(terminal, lab.folder, tmp_path / "saved")
        restored = await archive.restore(snapshot, lab.folder)
        assert restored != terminal
        async with lab.talk(resume=restored) as talk:
            await talk.turn("hello", "go on")
        assert "from a terminal" in lab.model.heard[-1].body


@pytest.mark.asyncio
async def test_a_session_that_never_began_can_not_be_saved_and_says_so(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab, lab.talk() as talk:
        archive = lab.backend.archive
        assert archive is not None
        assert talk.session.session_id is not None
        with pytest.raises(AgentError) as caught:
            await archive.export(talk.session.session_id, lab.folder, tmp_path / "saved")
        assert caught.value.hint


@pytest.mark.asyncio
async def test_a_broken_configuration_is_named_with_its_place(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        (lab.home / "config.toml").write_text("model = [\n", encoding="utf-8")
        with pytest.raises(AgentError) as caught:
            await lab.backend.open(SessionSpec(lab.folder, "topic1"), Person())
        assert "config.toml" in caught.value.title + caught.value.hint + caught.value.detail


@pytest.mark.asyncio
async def test_the_health_tells_program_and_version(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab:
        health = await lab.backend.probe()
        assert health.is_usable
        assert health.version == str(KNOWN["codex"].tested)


@pytest.mark.asyncio
async def test_a_text_is_sent_as_it_is(tmp_path: Path) -> None:
    async with laboratory(tmp_path) as lab, lab.talk() as talk:
        await talk.session.prompt(Prompt("--help & del * %PATH% $HOME"))
        await talk.end()
        assert lab.model.was_told("--help & del * %PATH% $HOME")
