"""What the window may ask of a running engine, on a real desk."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.contract import Answer, Answers, AskId, Declined, HubError, ToolKind
from app.engine_facade import EngineFacade
from bridge.pending import AskDesk
from tests.bridge.pending.stage import TOPIC, agent, choice, command, origin, questions, settle, stage

COLOUR = choice("Postgres", "SQLite")


def facade_of(desk: AskDesk) -> EngineFacade:
    return EngineFacade(cast("Any", SimpleNamespace(desk=desk)), cast("Any", None))


async def curious(desk: AskDesk) -> Answers | Declined:
    """An agent that asks for a colour and hears the answer."""
    reply = await desk.ask(origin(), questions(COLOUR))
    await desk.told(AskId("qu-1"), delivered=True)
    return reply


@pytest.mark.asyncio
async def test_a_destructive_request_confirmed_in_the_window_is_allowed_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("rm -rf build")))
        await settle()
        await facade_of(desk).decide("rq-1", allow=True, confirmed=True, reason="")
        assert (await asking).is_allowed


@pytest.mark.asyncio
async def test_a_destructive_request_is_not_allowed_from_the_window_without_its_confirmation(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("rm -rf build")))
        await settle()
        for _ in range(2):
            with pytest.raises(HubError):
                await facade_of(desk).decide("rq-1", allow=True, confirmed=False, reason="")
        assert not asking.done()
        await desk.void(TOPIC, "end of test")
        assert not (await asking).is_allowed


@pytest.mark.asyncio
async def test_a_request_that_names_nothing_can_have_no_rule_and_stays_open(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("", tool="mcp__x__y", kind=ToolKind.OTHER)))
        await settle()
        with pytest.raises(HubError):
            await facade_of(desk).make_rule("rq-1")
        assert desk.rules.standing() == ()
        assert not asking.done()
        await desk.void(TOPIC, "end of test")
        await asking


@pytest.mark.asyncio
async def test_a_question_answered_in_the_window_reaches_the_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(curious(desk))
        await settle()
        answers = Answers((Answer(COLOUR.key, (COLOUR.choices[0].label,)),))
        await facade_of(desk).answer("qu-1", answers)
        assert await asking == answers


@pytest.mark.asyncio
async def test_a_question_answered_on_the_phone_meanwhile_can_not_be_answered_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(curious(desk))
        await settle()
        first = Answers((Answer(COLOUR.key, (COLOUR.choices[0].label,)),))
        await facade_of(desk).answer("qu-1", first)
        with pytest.raises(HubError):
            await facade_of(desk).answer("qu-1", Answers((Answer(COLOUR.key, (COLOUR.choices[1].label,)),)))
        assert await asking == first
