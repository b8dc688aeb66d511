"""Qwen Code's own ways over ACP, against an agent in memory that speaks them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.contract import (
    AgentError,
    AgentSession,
    Answer,
    Answers,
    AssistantText,
    InputConsumed,
    InputReturned,
    ModeChanged,
    Prompt,
    SessionId,
    SessionSpec,
    SessionStarted,
    SpentSoFar,
    ToolFinished,
    ToolStatus,
    TurnFinished,
    TurnStarted,
)
from agents.qwen.dialect import QwenDialect
from tests.agents.acp.scripted import ScriptedAgent, Stage
from tests.agents.channel import DENY, Listener, Person

MODES = [{"id": name, "name": name.title()} for name in ("plan", "default", "auto-edit", "auto", "yolo")]
OPENED = {"sessionId": "s1", "modes": {"currentModeId": "auto", "availableModes": MODES}}
QUESTION = {
    "question": "Which extras?",
    "header": "Extras",
    "options": [{"label": "Logs", "description": "files"}, {"label": "Metrics", "description": "numbers"}],
    "multiSelect": True,
}
ASKED = {
    "toolCallId": "q",
    "title": "Ask user 1 question",
    "kind": "think",
    "rawInput": {"questions": [QUESTION]},
    "_meta": {"toolName": "ask_user_question", "qwenInteractionKind": "user_question", "qwenQuestions": [QUESTION]},
}
SHELL = {"toolCallId": "c", "title": "rm x", "kind": "execute", "rawInput": {"command": "rm x"}}
USUAL = (("proceed_always_project", "allow_always"), ("proceed_once", "allow_once"), ("cancel", "reject_once"))


@asynccontextmanager
async def working(tmp_path: Path) -> AsyncIterator[tuple[AgentSession, ScriptedAgent, Person, Listener]]:
    agent = ScriptedAgent({"session/new": OPENED, "session/set_mode": {}})
    stage = Stage(tmp_path, agent, dialect=QwenDialect("qwen"))
    person = Person()
    try:
        session = await stage.backend.open(SessionSpec(tmp_path, "t1"), person)
        heard = Listener(session, limit=5)
        await session.prompt(Prompt("go"))
        yield session, agent, person, heard
    finally:
        await stage.backend.close()


@pytest.mark.asyncio
async def test_a_session_never_stays_in_the_mode_in_which_qwen_opens_it(tmp_path: Path) -> None:
    async with working(tmp_path) as (_, agent, _, _):
        assert agent.last("session/set_mode")["params"]["modeId"] == "default"


@pytest.mark.asyncio
async def test_no_chat_chooses_the_mode_without_questions(tmp_path: Path) -> None:
    async with working(tmp_path) as (session, agent, _, heard):
        started = await heard.until(lambda event: isinstance(event, SessionStarted))
        assert isinstance(started, SessionStarted)
        assert "yolo" not in [mode.id for mode in started.modes]
        for name in ("yolo", "YOLO", "No questions"):
            with pytest.raises(AgentError, match="There is no mode"):
                await session.set_mode(name)
        assert agent.last("session/set_mode")["params"]["modeId"] == "default"


@pytest.mark.asyncio
async def test_a_session_that_was_left_without_questions_asks_again_when_it_comes_back(tmp_path: Path) -> None:
    agent = ScriptedAgent({"session/load": OPENED, "session/set_mode": {}})
    stage = Stage(tmp_path, agent, dialect=QwenDialect("qwen"))
    try:
        session = await stage.backend.open(SessionSpec(tmp_path, "t1", resume=SessionId("s1"), mode="yolo"), Person())
        await Listener(session, limit=5).until(lambda event: event == ModeChanged("default"))
    finally:
        await stage.backend.close()
    assert agent.last("session/set_mode")["params"]["modeId"] == "default"


@pytest.mark.asyncio
async def test_the_settings_file_may_choose_the_mode_without_questions(tmp_path: Path) -> None:
    agent = ScriptedAgent({"session/new": OPENED, "session/set_mode": {}})
    stage = Stage(tmp_path, agent, dialect=QwenDialect("qwen"), mode="yolo")
    try:
        session = await stage.backend.open(SessionSpec(tmp_path, "t1"), Person())
        assert agent.last("session/set_mode")["params"]["modeId"] == "yolo"
        for mode in ("default", "yolo"):
            await session.set_mode(mode)
            assert agent.last("session/set_mode")["params"]["modeId"] == mode
    finally:
        await stage.backend.close()


@pytest.mark.asyncio
async def test_answers_stand_beside_the_outcome_under_the_index_of_their_question(tmp_path: Path) -> None:
    async with working(tmp_path) as (_, agent, person, heard):
        person.answer = lambda ask: Answers((Answer(ask.questions[0].key, ("Logs", "Metrics")),))
        agent.asks(ASKED, (("proceed_once", "allow_once"), ("cancel", "reject_once")))
        answer = await agent.reply_to(0)
        assert answer["result"] == {
            "outcome": {"outcome": "selected", "optionId": "proceed_once"},
            "answers": {"0": "Logs, Metrics"},
        }
        assert person.questions[0].questions[0].is_multiple
        assert person.requests == []
        agent.ends_turn()
        await heard.turn_end()
        assert not [event for event in heard.events if isinstance(event, ToolFinished)]


@pytest.mark.asyncio
async def test_of_two_once_options_the_one_that_switches_the_mode_is_not_chosen(tmp_path: Path) -> None:
    async with working(tmp_path) as (_, agent, _, _):
        agent.asks(SHELL, (("proceed_once_and_switch_to_default", "allow_once"), ("proceed_once", "allow_once")))
        assert (await agent.reply_to(0))["result"]["outcome"]["optionId"] == "proceed_once"


@pytest.mark.asyncio
async def test_leaving_plan_mode_shows_the_plan(tmp_path: Path) -> None:
    plan = {"type": "content", "content": {"type": "text", "text": "1. Do this"}}
    call = {**SHELL, "rawInput": {"plan": "1. Do this"}, "content": [plan], "_meta": {"toolName": "exit_plan_mode"}}
    async with working(tmp_path) as (_, agent, person, _):
        agent.asks(call, (("restore_previous", "allow_once"), *USUAL))
        assert (await agent.reply_to(0))["result"]["outcome"]["optionId"] == "proceed_once"
        assert person.requests[0].plan == "1. Do this"


@pytest.mark.asyncio
async def test_a_denied_call_is_told_as_denied(tmp_path: Path) -> None:
    async with working(tmp_path) as (_, agent, person, heard):
        person.decision = DENY
        agent.asks(SHELL, USUAL)
        assert (await agent.reply_to(0))["result"]["outcome"]["optionId"] == "cancel"
        agent.update("tool_call_update", toolCallId="c", status="failed")
        agent.ends_turn()
        await heard.turn_end()
        assert [event.status for event in heard.events if isinstance(event, ToolFinished)] == [ToolStatus.DENIED]


@pytest.mark.asyncio
async def test_a_command_that_a_signal_ended_is_told_with_the_signal_and_not_with_exit_code_0(tmp_path: Path) -> None:
    raw = {"type": "shell_result", "text": "Command terminated by signal: 1", "output": "", "exitCode": 0, "signal": 1}
    async with working(tmp_path) as (_, agent, _, heard):
        agent.update("tool_call", **SHELL, status="in_progress")
        agent.update("tool_call_update", toolCallId="c", status="failed", rawOutput=raw)
        agent.ends_turn()
        await heard.turn_end()
        (ended,) = [event for event in heard.events if isinstance(event, ToolFinished)]
        assert (ended.output, ended.exit_code) == ("Command terminated by signal: 1", None)


@pytest.mark.asyncio
async def test_a_steered_text_is_fetched_by_the_agent_and_told_as_consumed(tmp_path: Path) -> None:
    async with working(tmp_path) as (session, agent, _, heard):
        input_id = await session.steer(Prompt("and b as well"))
        agent.say({"id": "d1", "method": "craft/drainMidTurnQueue", "params": {"sessionId": "s1"}})
        answer = await agent.reply_to("d1")
        assert answer["result"] == {"messages": ["and b as well"], "hasQueuedPrompt": False}
        await heard.until(lambda event: event == InputConsumed(input_id))  # type: ignore[arg-type]
        agent.say({"id": "d2", "method": "craft/drainMidTurnQueue", "params": {"sessionId": "s1"}})
        assert (await agent.reply_to("d2"))["result"]["messages"] == []


@pytest.mark.asyncio
async def test_a_steered_text_that_nobody_fetched_comes_back(tmp_path: Path) -> None:
    async with working(tmp_path) as (session, agent, _, heard):
        input_id = await session.steer(Prompt("too late"))
        agent.ends_turn()
        await heard.turn_end()
        assert [event.input_id for event in heard.events if isinstance(event, InputReturned)] == [input_id]
        assert await session.steer(Prompt("idle")) is None


@pytest.mark.asyncio
async def test_a_turn_of_qwen_s_own_is_admitted_only_when_the_person_s_is_over(tmp_path: Path) -> None:
    start = {"method": "_qwencode/start_turn", "params": {"sessionId": "s1", "source": "background_notification"}}
    async with working(tmp_path) as (_, agent, _, heard):
        agent.say({"id": 1, **start})
        assert (await agent.reply_to(1))["result"] == {"accepted": False}
        agent.ends_turn()
        await heard.turn_end()
        since = len(heard.events)
        agent.say({"id": 2, **start})
        assert (await agent.reply_to(2))["result"] == {"accepted": True}
        about: dict[str, Any] = {"qwenDiscreteMessage": True, "backgroundTask": {"taskId": "bg"}}
        for source in ("background_task_completed", "background_notification"):
            agent.text("Shell completed.", _meta={"source": source, **about})
        agent.text("All fine.", _meta={"source": "background_notification_response", **about})
        agent.say({"method": "_qwencode/end_turn", "params": {"sessionId": "s1"}})
        await heard.turn_end(since=since)
        told = [
            event for event in heard.events[since:] if isinstance(event, TurnStarted | AssistantText | TurnFinished)
        ]
        assert told[0] == TurnStarted(is_unsolicited=True)
        assert told[1:3] == [AssistantText("Shell completed."), AssistantText("All fine.")]
        assert isinstance(told[3], TurnFinished)


@pytest.mark.asyncio
async def test_the_tokens_of_all_requests_of_a_turn_are_summed(tmp_path: Path) -> None:
    async with working(tmp_path) as (_, agent, _, heard):
        for _ in range(2):
            agent.text("", _meta={"usage": {"inputTokens": 100, "outputTokens": 5}})
        agent.ends_turn()
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.usage is not None
        assert (end.usage.input_tokens, end.usage.output_tokens) == (200, 10)
        told = [event.usage.input_tokens for event in heard.events if isinstance(event, SpentSoFar)]
        assert told == [100, 200]
        await asyncio.sleep(0)
