"""Hermes' own ways over ACP, against an agent in memory that speaks them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.contract import (
    AgentSession,
    AssistantText,
    FailureKind,
    InputConsumed,
    InputReturned,
    Prompt,
    SessionId,
    SessionNotFoundError,
    SessionSpec,
    ToolFinished,
    ToolStatus,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
)
from agents.hermes.dialect import HermesDialect
from tests.agents.acp.scripted import ScriptedAgent, Stage
from tests.agents.channel import DENY, Listener, Person

OPENED = {"sessionId": "s1", "modes": {"currentModeId": "default", "availableModes": [{"id": "default", "name": "D"}]}}
HEALED = ("wait", "interrupt", "steer", "manual")
OPTIONS = (("allow_once", "allow_once"), ("allow_session", "allow_always"), ("deny", "reject_once"))
USAGE = {"inputTokens": 100, "outputTokens": 10}


def agent(shim: tuple[str, ...] = HEALED) -> ScriptedAgent:
    about = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "_meta": {"agentHub": list(shim)}}
    return ScriptedAgent({"initialize": about, "session/new": OPENED, "session/load": OPENED})


@asynccontextmanager
async def working(
    tmp_path: Path, *agents: ScriptedAgent
) -> AsyncIterator[tuple[AgentSession, ScriptedAgent, Person, Listener]]:
    stage = Stage(tmp_path, *agents, dialect=HermesDialect("hermes model"))
    person = Person()
    try:
        session = await stage.backend.open(SessionSpec(tmp_path, "t1"), person)
        heard = Listener(session, limit=5)
        await session.prompt(Prompt("go"))
        yield session, stage.started[0], person, heard
    finally:
        await stage.backend.close()


def text_of(words: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": words}}]


def starts(one: ScriptedAgent, id_: str, command: str) -> None:
    title = f"terminal: {command}"
    one.update("tool_call", toolCallId=id_, title=title, kind="execute", content=text_of(f"$ {command}"))


@pytest.mark.asyncio
async def test_a_permission_belongs_to_the_call_it_is_about_although_its_id_is_another(tmp_path: Path) -> None:
    async with working(tmp_path, agent()) as (_, one, person, heard):
        person.decision = DENY
        starts(one, "tc-1", "rm -rf a")
        starts(one, "tc-2", "rm -rf b")
        raw = {"command": "rm -rf b", "description": "recursive delete"}
        one.asks(
            {"toolCallId": "perm-check-1", "title": "recursive delete: rm -rf b", "kind": "execute", "rawInput": raw},
            OPTIONS,
        )
        assert (await one.reply_to(0))["result"]["outcome"]["optionId"] == "deny"
        one.update("tool_call_update", toolCallId="tc-2", status="failed", content=text_of("BLOCKED"))
        one.ends_turn(usage=USAGE)
        await heard.turn_end()
        ask = person.requests[0]
        assert (ask.subject, ask.reason, ask.tool, ask.tool_id) == ("rm -rf b", "recursive delete", "terminal", "tc-2")
        ends = {event.tool_id: event.status for event in heard.events if isinstance(event, ToolFinished)}
        assert ends == {"tc-1": ToolStatus.OK, "tc-2": ToolStatus.DENIED}


@pytest.mark.asyncio
async def test_a_denied_edit_whose_end_is_never_told_is_denied(tmp_path: Path) -> None:
    async with working(tmp_path, agent()) as (_, one, person, heard):
        person.decision = DENY
        path = str(tmp_path / "a.txt")
        one.update("tool_call", toolCallId="tc-1", title=f"write: {path}", kind="edit", locations=[{"path": path}])
        diff = [{"type": "diff", "path": path, "newText": "new\n"}]
        one.asks({"toolCallId": "edit-approval-1", "title": "Approve edit", "kind": "edit", "content": diff}, OPTIONS)
        await one.reply_to(0)
        one.text("\n\nas you like")
        one.ends_turn(usage=USAGE)
        await heard.turn_end()
        assert "+new" in person.requests[0].diff
        assert [event.status for event in heard.events if isinstance(event, ToolFinished)] == [ToolStatus.DENIED]
        assert AssistantText("as you like") in heard.events


@pytest.mark.parametrize(("shim", "limit"), [(HEALED, None), ((), 55.0)])
@pytest.mark.asyncio
async def test_the_time_limit_is_told_when_the_shim_did_not_raise_it(
    tmp_path: Path, shim: tuple[str, ...], limit: float | None
) -> None:
    async with working(tmp_path, agent(shim)) as (_, one, person, _):
        one.asks({"toolCallId": "p", "title": "x", "kind": "execute", "rawInput": {"command": "x"}}, OPTIONS)
        await one.reply_to(0)
        assert person.requests[0].time_limit == limit


@pytest.mark.asyncio
async def test_an_error_that_came_as_text_is_a_failed_turn_and_not_an_answer(tmp_path: Path) -> None:
    async with working(tmp_path, agent()) as (_, one, _, heard):
        one.text("HTTP 401: no key")
        one.ends_turn()
        end = await heard.turn_end()
        assert isinstance(end, TurnFailed)
        assert (end.kind, end.detail) == (FailureKind.LOGIN, "HTTP 401: no key")
        assert not [event for event in heard.events if isinstance(event, AssistantText)]


@pytest.mark.asyncio
async def test_the_same_words_with_usage_are_an_answer(tmp_path: Path) -> None:
    async with working(tmp_path, agent()) as (_, one, _, heard):
        one.text("HTTP 401: means that the key is wrong")
        one.ends_turn(usage=USAGE)
        assert isinstance(await heard.turn_end(), TurnFinished)


@pytest.mark.asyncio
async def test_tokens_are_counted_by_turn_although_hermes_counts_over_the_process(tmp_path: Path) -> None:
    async with working(tmp_path, agent()) as (session, one, _, heard):
        one.ends_turn(usage={"inputTokens": 100, "outputTokens": 10})
        await heard.turn_end()
        since = len(heard.events)
        await session.prompt(Prompt("again"))
        one.ends_turn(usage={"inputTokens": 250, "outputTokens": 15})
        end = await heard.turn_end(since=since)
        assert isinstance(end, TurnFinished)
        assert end.usage is not None
        assert (end.usage.input_tokens, end.usage.output_tokens) == (150, 5)


@pytest.mark.asyncio
async def test_a_session_wedged_by_a_stop_is_loaded_in_a_new_process(tmp_path: Path) -> None:
    first, second = agent(()), agent(())
    async with working(tmp_path, first, second) as (session, _, _, heard):
        starts(first, "tc-1", "sleep 9")
        await session.interrupt()
        error = {"code": -32603, "message": "Internal error", "data": {"details": "'NoneType' object has no attribute"}}
        first.say({"id": first.last("session/prompt")["id"], "error": error})
        end = await heard.turn_end()
        assert isinstance(end, TurnFinished)
        assert end.outcome is TurnOutcome.INTERRUPTED
        await session.prompt(Prompt("again"))
        assert first.is_stopped
        assert second.methods()[-2:] == ["session/load", "session/prompt"]


@pytest.mark.asyncio
async def test_a_session_that_queues_the_prompt_of_an_idle_hub_is_started_anew_and_the_person_told(
    tmp_path: Path,
) -> None:
    first, second = agent(), agent()
    async with working(tmp_path, first, second) as (session, _, _, heard):
        first.text("Queued for the next turn. (1 queued)")
        first.ends_turn()
        end = await heard.turn_end()
        assert isinstance(end, TurnFailed)
        assert "send it again" in end.hint
        await session.prompt(Prompt("again"))
        assert first.is_stopped


@pytest.mark.asyncio
async def test_a_steering_text_is_consumed_when_the_shim_tells_that_the_model_sees_it(tmp_path: Path) -> None:
    one = agent()
    one.answers["_agentHub/steer"] = {"taken": True}
    async with working(tmp_path, one) as (session, _, _, heard):
        input_id = await session.steer(Prompt("/the tests, too"))
        asked = one.last("_agentHub/steer")["params"]
        assert asked == {"sessionId": "s1", "id": input_id, "text": "/the tests, too"}
        one.say({"method": "_agentHub/steered", "params": {"sessionId": "s1", "ids": [input_id]}})
        await heard.until(lambda event: event == InputConsumed(input_id))  # type: ignore[arg-type]
        one.ends_turn(usage=USAGE)
        await heard.turn_end()
        assert not [event for event in heard.events if isinstance(event, InputReturned)]


@pytest.mark.asyncio
async def test_a_steering_text_that_came_after_the_last_tool_comes_back_although_a_tool_ran(tmp_path: Path) -> None:
    one = agent()
    one.answers["_agentHub/steer"] = {"taken": True}
    async with working(tmp_path, one) as (session, _, _, heard):
        starts(one, "tc-1", "make")
        input_id = await session.steer(Prompt("not now, the disk is full"))
        one.update("tool_call_update", toolCallId="tc-1", status="completed", content=text_of("terminal result"))
        one.text("I leave it.")
        one.ends_turn(usage=USAGE)
        await heard.turn_end()
        assert [event.input_id for event in heard.events if isinstance(event, InputReturned)] == [input_id]
        assert not [event for event in heard.events if isinstance(event, InputConsumed)]


@pytest.mark.asyncio
async def test_a_text_that_the_shim_refuses_because_the_turn_winds_up_waits_in_the_hub(tmp_path: Path) -> None:
    one = agent()
    one.answers["_agentHub/steer"] = {"taken": False}
    async with working(tmp_path, one) as (session, _, _, heard):
        assert await session.steer(Prompt("too late")) is None
        one.ends_turn(usage=USAGE)
        await heard.turn_end()
        assert not [event for event in heard.events if isinstance(event, InputReturned)]


@pytest.mark.asyncio
async def test_without_the_shim_a_text_is_never_steered_because_it_could_turn_up_twice(tmp_path: Path) -> None:
    async with working(tmp_path, agent(())) as (session, _, _, _):
        assert await session.steer(Prompt("later")) is None


@pytest.mark.asyncio
async def test_an_empty_answer_to_a_load_means_that_the_session_is_unknown(tmp_path: Path) -> None:
    one = ScriptedAgent({"session/load": {}})
    stage = Stage(tmp_path, one, dialect=HermesDialect("hermes model"))
    with pytest.raises(SessionNotFoundError):
        await stage.backend.open(SessionSpec(tmp_path, "t1", resume=SessionId("gone")), Person())
    await stage.backend.close()
    assert "session/resume" not in one.methods()
