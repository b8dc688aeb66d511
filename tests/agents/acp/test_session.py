"""The ACP session layer against an agent that does what no real agent does on demand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.acp.dialect import AcpDialect
from agents.acp.session import AcpSession
from agents.contract import (
    AgentError,
    AgentGoneError,
    AgentNotLoggedInError,
    AgentSession,
    AgentVersionError,
    AssistantText,
    FailureKind,
    ImagePart,
    ModeChanged,
    ProcessExited,
    Prompt,
    Retrying,
    SessionSpec,
    SpentSoFar,
    ToolFinished,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UnknownEvent,
)
from agents.contract.ids import SessionId
from tests.agents.acp.scripted import ScriptedAgent, Stage
from tests.agents.channel import ALLOW, DENY, Listener, Person

SHELL = {"toolCallId": "t1", "title": "rm x", "kind": "execute", "rawInput": {"command": "rm x"}}
USUAL = (("always", "allow_always"), ("once", "allow_once"), ("no", "reject_once"))
MODES = {
    "sessionId": "s1",
    "modes": {
        "currentModeId": "auto",
        "availableModes": [{"id": "auto", "name": "Auto"}, {"id": "ask", "name": "Ask"}],
    },
}


class Strict(AcpDialect):
    default_mode = "ask"
    cancel_limit = 0.05


@asynccontextmanager
async def opened(
    tmp_path: Path, *agents: ScriptedAgent, dialect: AcpDialect | None = None, resume: str | None = None
) -> AsyncIterator[tuple[AgentSession, ScriptedAgent, Person, Listener, Stage]]:
    stage = Stage(tmp_path, *agents, dialect=dialect)
    person = Person()
    spec = SessionSpec(tmp_path, "t1", resume=SessionId(resume) if resume else None)
    try:
        session = await stage.backend.open(spec, person)
        yield session, stage.started[0], person, Listener(session, limit=5), stage
    finally:
        await stage.backend.close()


async def kinds(tmp_path: Path, call: dict[str, Any], options: Any, decision: Any = ALLOW) -> tuple[Any, Person]:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, person, _, _):
        person.decision = decision
        await session.prompt(Prompt("go"))
        agent.asks(call, options)
        answer = await agent.reply_to(0)
        agent.ends_turn()
        return answer["result"]["outcome"], person


@pytest.mark.asyncio
async def test_allow_is_answered_with_the_once_option_although_always_stands_first(tmp_path: Path) -> None:
    outcome, person = await kinds(tmp_path, SHELL, USUAL)
    assert outcome == {"outcome": "selected", "optionId": "once"}
    assert person.told_of == [(person.requests[0].id, True)]
    assert [option.id for option in person.requests[0].options] == ["always", "once", "no"]


@pytest.mark.asyncio
async def test_without_a_once_option_the_agent_is_denied_and_the_channel_hears_that_allow_failed(
    tmp_path: Path,
) -> None:
    outcome, person = await kinds(tmp_path, SHELL, (("always", "allow_always"), ("new", "allow_forever")))
    assert outcome == {"outcome": "cancelled"}
    assert person.told_of == [(person.requests[0].id, False)]


@pytest.mark.asyncio
async def test_deny_never_chooses_the_agents_reject_always(tmp_path: Path) -> None:
    outcome, _ = await kinds(tmp_path, SHELL, (("once", "allow_once"), ("never", "reject_always")), DENY)
    assert outcome == {"outcome": "cancelled"}


@pytest.mark.asyncio
async def test_a_read_that_carries_a_command_is_a_command(tmp_path: Path) -> None:
    _, person = await kinds(tmp_path, {**SHELL, "kind": "read"}, USUAL)
    assert person.requests[0].kind is ToolKind.EXECUTE


@pytest.mark.asyncio
async def test_a_command_given_as_words_is_shown_whole(tmp_path: Path) -> None:
    _, person = await kinds(tmp_path, {**SHELL, "rawInput": {"command": ["rm", "-rf", "/"]}}, USUAL)
    assert person.requests[0].subject == "rm -rf /"


@pytest.mark.asyncio
async def test_a_request_for_a_session_nobody_knows_is_cancelled(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (_, agent, person, _, _):
        params = {"sessionId": "other", "toolCall": SHELL, "options": []}
        agent.say({"id": "x", "method": "session/request_permission", "params": params})
        assert (await agent.reply_to("x"))["result"] == {"outcome": {"outcome": "cancelled"}}
        assert person.requests == []


@pytest.mark.asyncio
async def test_a_file_request_of_the_agent_is_answered_as_unknown(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (_, agent, _, _, _):
        agent.say({"id": 5, "method": "fs/read_text_file", "params": {"sessionId": "s1", "path": "/etc/passwd"}})
        assert (await agent.reply_to(5))["error"]["code"] == -32601


@pytest.mark.asyncio
async def test_a_turn_tells_text_tools_and_end_in_the_order_of_the_wire(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        await session.prompt(Prompt("go"))
        agent.text("one ")
        agent.text("two")
        agent.update("tool_call", toolCallId="a", title="Shell", kind="execute", status="pending", rawInput={})
        agent.update("tool_call_update", toolCallId="a", status="in_progress", rawInput={"command": "ls"}, title="ls")
        agent.update("tool_call_update", toolCallId="a", status="failed", rawOutput={"output": "no", "exitCode": 2})
        agent.text("\n\nthree")
        agent.ends_turn(usage={"inputTokens": 3, "outputTokens": 4})
        end = await heard.turn_end()
        told = [event for event in heard.events if isinstance(event, AssistantText | ToolStarted | ToolFinished)]
        assert told == [
            AssistantText("one two"),
            ToolStarted("a", "execute", ToolKind.EXECUTE, "ls", "ls"),  # type: ignore[arg-type]
            ToolFinished("a", ToolStatus.FAILED, "no", 2),  # type: ignore[arg-type]
            AssistantText("three"),
        ]
        assert isinstance(end, TurnFinished)
        assert (end.text, end.usage.output_tokens if end.usage else None) == ("three", 4)


def ends(heard: Listener) -> list[TurnFinished]:
    return [event for event in heard.events if isinstance(event, TurnFinished)]


@pytest.mark.asyncio
async def test_what_a_turn_costs_is_told_while_it_runs_and_is_no_sum_of_the_session(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        for total in (0.25, 1.0):
            before = len(heard.events)
            await session.prompt(Prompt("go"))
            agent.update("usage_update", used=10, size=100, cost={"amount": total, "currency": "USD"})
            agent.ends_turn()
            await heard.turn_end(since=before)
        assert [end.usage.cost_usd for end in ends(heard) if end.usage] == [0.25, 0.75]
        told = [event.usage.cost_usd for event in heard.events if isinstance(event, SpentSoFar)]
        assert told == [0.25, 0.75]


@pytest.mark.asyncio
async def test_an_update_after_the_end_of_a_turn_does_not_belong_to_it(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        await session.prompt(Prompt("go"))
        agent.text("answer")
        agent.ends_turn()
        agent.text("by myself")
        await heard.until(lambda event: event == TurnStarted(is_unsolicited=True))
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.text == "answer"


@pytest.mark.asyncio
async def test_a_tool_call_without_an_end_is_closed_with_its_turn(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        await session.prompt(Prompt("go"))
        agent.update("tool_call", toolCallId="a", title="read x", kind="read")
        agent.ends_turn()
        await heard.turn_end()
        assert ToolFinished("a", ToolStatus.OK) in heard.events  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_output_of_a_tool_is_told_although_the_turn_was_cut_short(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        await session.prompt(Prompt("go"))
        content = [{"type": "content", "content": {"type": "text", "text": "half of it"}}]
        agent.update("tool_call", toolCallId="a", title="make", kind="execute", status="in_progress", content=content)
        await heard.until(lambda event: isinstance(event, ToolStarted))
        agent.end()
        events = await heard.ended()
        finished = next(event for event in events if isinstance(event, ToolFinished))
        assert (finished.status, finished.output) == (ToolStatus.CANCELLED, "half of it")
        assert isinstance(events[-1], ProcessExited)


@pytest.mark.asyncio
async def test_unknown_kinds_are_values(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        await session.prompt(Prompt("go"))
        agent.update("hologram", depth=1)
        agent.update("tool_call", toolCallId="t", title="x", kind="teleport", status="paused")
        agent.say({"method": "vendor/notice", "params": {"sessionId": "s1"}})
        agent.ends_turn("brand_new_reason")
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert [event.name for event in heard.events if isinstance(event, UnknownEvent)] == [
            "hologram",
            "vendor/notice",
        ]


@pytest.mark.asyncio
async def test_interrupt_answers_what_is_open_with_cancelled_after_the_cancel(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, person, heard, _):
        person.decision = None
        await session.prompt(Prompt("go"))
        agent.asks(SHELL, USUAL, key="p")
        await person.asked.wait()
        await session.interrupt()
        answer = await agent.reply_to("p")
        assert answer["result"] == {"outcome": {"outcome": "cancelled"}}
        assert agent.heard.index(agent.last("session/cancel")) < agent.heard.index(answer)
        agent.ends_turn("cancelled")
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.outcome is TurnOutcome.INTERRUPTED
        assert person.withdrawn_asks == [person.requests[0].id]


@pytest.mark.asyncio
async def test_a_cancelled_turn_that_never_ends_is_left_behind_in_its_process(tmp_path: Path) -> None:
    first, second = ScriptedAgent(), ScriptedAgent()
    async with opened(tmp_path, first, second, dialect=Strict("some", "Some")) as (session, _, _, heard, stage):
        await session.prompt(Prompt("go"))
        first.text("half")
        await session.interrupt()
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert (end.outcome, end.text) == (TurnOutcome.INTERRUPTED, "half")
        await session.prompt(Prompt("again"))
        assert first.is_stopped
        assert second.last("session/load")["params"]["sessionId"] == "s1"
        second.text("fine")
        second.ends_turn()
        end = await heard.until(lambda event: isinstance(event, TurnFinished) and event.text == "fine")
        assert len(stage.started) == 2


@pytest.mark.asyncio
async def test_a_session_that_can_not_be_loaded_again_ends_and_says_so(tmp_path: Path) -> None:
    refuses = ScriptedAgent({"session/load": {"error": {"code": -32603, "message": "broken"}}})
    async with opened(tmp_path, ScriptedAgent(), refuses, dialect=Strict("some", "Some")) as (session, _, _, heard, _):
        await session.prompt(Prompt("go"))
        await session.interrupt()
        assert isinstance((await heard.ended())[-1], ProcessExited)
        with pytest.raises(AgentGoneError):
            await session.prompt(Prompt("again"))
        assert refuses.is_stopped


@pytest.mark.asyncio
async def test_silence_of_the_model_is_told_but_not_while_a_person_is_asked(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, person, heard, stage):
        await session.prompt(Prompt("go"))
        await stage.pass_time(61)
        told = await heard.until(lambda event: isinstance(event, Retrying))
        assert isinstance(told, Retrying)
        assert told.reason == "No answer from the model for 61 s"
        person.decision = None
        agent.asks(SHELL, USUAL)
        await person.asked.wait()
        since = len(heard.events)
        await stage.pass_time(600)
        await asyncio.sleep(0.01)
        assert not [event for event in heard.events[since:] if isinstance(event, Retrying)]


@pytest.mark.asyncio
async def test_a_second_prompt_while_a_turn_runs_never_reaches_the_agent(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, _, _):
        await session.prompt(Prompt("one"))
        with pytest.raises(AgentError):
            await session.prompt(Prompt("two"))
        assert agent.methods().count("session/prompt") == 1


@pytest.mark.asyncio
async def test_the_safe_mode_is_set_after_opening_and_after_resuming(tmp_path: Path) -> None:
    dialect = Strict("some", "Some")
    answers = {"session/new": MODES, "session/load": MODES, "session/set_mode": {}}
    async with opened(tmp_path, ScriptedAgent(answers), dialect=dialect) as (_, agent, _, _, _):
        assert agent.last("session/set_mode")["params"] == {"sessionId": "s1", "modeId": "ask"}
    async with opened(tmp_path, ScriptedAgent(answers), dialect=dialect, resume="s1") as (_, agent, _, _, _):
        assert agent.methods()[-2:] == ["session/load", "session/set_mode"]


@pytest.mark.asyncio
async def test_a_mode_that_the_agent_does_not_have_is_refused_with_those_it_has(tmp_path: Path) -> None:
    answers = {"session/new": MODES, "session/set_mode": {}}
    async with opened(tmp_path, ScriptedAgent(answers)) as (session, _, _, heard, _):
        with pytest.raises(AgentError) as caught:
            await session.set_mode("yolo")
        assert "Auto, Ask" in caught.value.hint
        await session.set_mode("ask")
        await heard.until(lambda event: event == ModeChanged("ask"))


@pytest.mark.asyncio
async def test_the_past_that_a_load_replays_is_not_told_again(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    agent.on_message = lambda message: (
        (agent.text("from the past"), agent.say({"id": message["id"], "result": {}}))[0]
        if message.get("method") == "session/load"
        else None
    )
    del agent.answers["session/load"]
    async with opened(tmp_path, agent, resume="s1") as (session, _, _, heard, _):
        assert session.session_id == "s1"
        await session.prompt(Prompt("go"))
        agent.text("now")
        agent.ends_turn()
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.text == "now"
        assert AssistantText("from the past") not in heard.events


@pytest.mark.asyncio
async def test_a_person_s_text_that_looks_like_a_command_is_no_command(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, _, _):
        await session.prompt(Prompt("/clear everything", images=(ImagePart(b"x", "image/png"),)))
        blocks = agent.last("session/prompt")["params"]["prompt"]
        assert blocks[0]["text"].startswith("The person's message, word for word:\n/clear everything")
        assert "takes none" in blocks[0]["text"]
        agent.ends_turn()


@pytest.mark.asyncio
async def test_the_tool_server_s_secret_is_in_no_argument(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, _, _):
        server = agent.last("session/new")["params"]["mcpServers"][0]
        secret = next(item["value"] for item in server["env"] if item["name"] == "AGENT_HUB_TOOLS_SECRET")
        assert len(secret) >= 40
        assert secret not in str([server["command"], *server["args"], server["name"]])
        assert isinstance(session, AcpSession)
        assert secret not in repr(session.spec)


@pytest.mark.asyncio
async def test_the_hubs_own_tools_are_allowed_without_asking_but_not_a_namesake(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, person, _, _):
        await session.prompt(Prompt("go"))
        own = {**SHELL, "rawInput": {"path": "x"}, "_meta": {"toolName": "mcp__hub_t1__send_file"}}
        agent.asks(own, USUAL, key=1)
        assert (await agent.reply_to(1))["result"]["outcome"]["optionId"] == "once"
        assert person.requests == []
        agent.asks({**own, "toolCallId": "t2", "_meta": {"toolName": "mcp__hub_t2__send_file"}}, USUAL, key=2)
        await agent.reply_to(2)
        assert len(person.requests) == 1
        agent.ends_turn()


@pytest.mark.asyncio
async def test_an_agent_without_a_login_says_what_to_do(tmp_path: Path) -> None:
    agent = ScriptedAgent({"session/new": {"error": {"code": -32000, "message": "Authentication required"}}})
    with pytest.raises(AgentNotLoggedInError) as caught:
        async with opened(tmp_path, agent):
            pass
    assert "Log in" in caught.value.hint
    assert agent.is_stopped


@pytest.mark.asyncio
async def test_a_newer_protocol_is_named_and_the_process_ended(tmp_path: Path) -> None:
    agent = ScriptedAgent({"initialize": {"protocolVersion": 2}})
    with pytest.raises(AgentVersionError):
        async with opened(tmp_path, agent):
            pass
    assert agent.is_stopped


@pytest.mark.asyncio
async def test_an_error_answer_is_a_failed_turn_with_its_cause(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        await session.prompt(Prompt("go"))
        error = {"code": -32603, "message": "Internal error", "data": {"details": "401 invalid key"}}
        agent.say({"id": agent.last("session/prompt")["id"], "error": error})
        end = await heard.turn_end()
        assert isinstance(end, TurnFailed)
        assert end.kind is FailureKind.LOGIN
        assert "401 invalid key" in end.detail


@pytest.mark.asyncio
async def test_what_the_agent_asks_after_the_stop_is_cancelled_without_asking_the_person(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, person, _, _):
        await session.prompt(Prompt("go"))
        await session.interrupt()
        agent.asks(SHELL, USUAL)
        assert (await agent.reply_to(0))["result"] == {"outcome": {"outcome": "cancelled"}}
        assert person.requests == []
        agent.ends_turn("cancelled")


@pytest.mark.asyncio
async def test_a_prompt_to_a_dead_agent_fails_each_time_and_leaves_no_turn_behind(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, _, heard, _):
        agent.end()
        await heard.ended()
        for _ in range(2):
            with pytest.raises(AgentGoneError):
                await session.prompt(Prompt("go"))
        await session.close()


@pytest.mark.asyncio
async def test_a_session_closed_while_it_starts_anew_leaves_no_process(tmp_path: Path) -> None:
    slow = ScriptedAgent()
    del slow.answers["session/load"]
    async with opened(tmp_path, ScriptedAgent(), slow, dialect=Strict("some", "Some")) as (session, _, _, heard, _):
        await session.prompt(Prompt("go"))
        await session.interrupt()
        await heard.turn_end()
        await slow.next(lambda message: message.get("method") == "session/load")
        await session.close()
        assert slow.is_stopped
        assert isinstance((await heard.ended())[-1], ProcessExited)


@pytest.mark.asyncio
async def test_a_deaf_agent_is_ended_even_when_nobody_waits_for_the_end_of_the_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.acp.asking._CANCEL_LIMIT", 0.05)
    async with opened(tmp_path, ScriptedAgent()) as (session, agent, person, heard, _):
        person.decision = None
        await session.prompt(Prompt("go"))
        agent.asks(SHELL, USUAL)
        await person.asked.wait()
        agent.send = never  # type: ignore[method-assign]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.close(), 0.05)
        assert agent.is_stopped
        assert person.withdrawn_asks
        assert isinstance((await heard.ended())[-1], ProcessExited)


@pytest.mark.asyncio
async def test_a_stop_that_the_agent_does_not_even_read_ends_the_turn(tmp_path: Path) -> None:
    dialect = Strict("some", "Some")
    dialect.default_mode = ""
    fresh = ScriptedAgent()
    async with opened(tmp_path, ScriptedAgent(), fresh, dialect=dialect) as (session, agent, _, heard, _):
        await session.prompt(Prompt("go"))
        agent.send = never  # type: ignore[method-assign]
        stopping = asyncio.create_task(session.interrupt())
        ended = await heard.turn_end()
        stopping.cancel()
        assert isinstance(ended, TurnFinished)
        assert ended.outcome is TurnOutcome.INTERRUPTED


@pytest.mark.asyncio
async def test_an_answer_that_comes_after_the_opening_was_given_up_moves_nobody_in(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    del agent.answers["session/new"]
    pipe_asked = asyncio.Event()
    agent.on_message = lambda message: pipe_asked.set() if message.get("method") == "session/new" else None
    stage = Stage(tmp_path, agent)
    connection = await stage.backend.connection(SessionSpec(tmp_path, "t1"))
    session = stage.backend.session(SessionSpec(tmp_path, "t1"), Person())
    try:
        opening = asyncio.create_task(session._settle_in(connection, None))
        await pipe_asked.wait()
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        agent.say({"id": agent.last("session/new")["id"], "result": {"sessionId": "s1"}})
        agent.say({"id": 77, "method": "session/request_permission", "params": {"sessionId": "s1"}})
        await agent.reply_to(77)
        assert connection.tenants == 0
    finally:
        await session.close()
        await stage.backend.close()


@pytest.mark.asyncio
async def test_a_session_that_can_not_be_ended_in_order_leaves_no_process_of_another_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = ScriptedAgent(), ScriptedAgent()
    async with opened(tmp_path, one, other) as (session, _, _, _, stage):
        await stage.backend.open(SessionSpec(tmp_path, "t2"), Person())

        async def fail() -> None:
            raise RuntimeError("no such process table")

        session.close = fail  # type: ignore[method-assign]
        await stage.backend.close()
        assert one.is_stopped
        assert other.is_stopped
    assert "did not end in order" in caplog.text


async def never(line: bytes) -> None:
    """A pipe that nobody reads."""
    del line
    await asyncio.Event().wait()
