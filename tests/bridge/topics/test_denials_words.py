"""A person's words with a denial reach the agent, whatever happens between the decision and the next turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.contract import AgentGoneError, AgentNotFoundError, ReasonPath, Verdict
from bridge.pending import DESK_OWNER, DecisionWay
from tests.bridge.scripted_agent import ScriptedSession
from tests.bridge.topics.stage import OTHER, TOPIC, Stage, stage

WORDS = "use the other folder"


async def denied(hub: Stage, *, steers: bool = True) -> ScriptedSession:
    """A request of an agent whose protocol can't carry words was denied with some."""
    hub.claude.reason_path, hub.claude.can_steer = ReasonPath.FOLLOW_UP, steers
    session = await hub.started_turn()
    task = asyncio.create_task(session.ask_permission(command="make"))
    await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
    [found] = hub.hub.context.desk.open_asks(TOPIC)
    await hub.hub.context.desk.decide(found.id, Verdict.DENY, DESK_OWNER, DecisionWay.DESKTOP, WORDS)
    await task
    await hub.settle()
    return session


@pytest.mark.asyncio
async def test_words_that_no_turn_could_take_before_the_hub_died_are_offered_by_the_next_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await denied(hub, steers=False)
        await hub.end()
        await hub.begin()
        assert WORDS in hub.last()
        await hub.press("Run")
        assert [prompt.text for prompt in hub.session.prompts] == [WORDS]


@pytest.mark.asyncio
async def test_words_that_were_steered_but_not_read_before_the_hub_died_are_offered_by_the_next_one(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        session = await denied(hub)
        assert [prompt.text for _number, prompt in session.steered] == [WORDS]
        await hub.end()
        await hub.begin()
        assert "Run" in " ".join(hub.buttons())


@pytest.mark.asyncio
async def test_words_that_the_agent_read_are_never_offered_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await denied(hub)
        session.consume()
        await hub.settle()
        assert hub.hub.context.desk.words_due() == ()


@pytest.mark.asyncio
async def test_words_that_began_a_turn_are_never_offered_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await denied(hub, steers=False)
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts][1:] == [WORDS]
        assert hub.hub.context.desk.words_due() == ()


@pytest.mark.asyncio
async def test_words_for_a_process_that_is_found_dead_are_due_until_the_next_one_has_them(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await denied(hub, steers=False)
        session.prompt_error = AgentGoneError("The process is gone.")
        hub.claude.errors.append(AgentNotFoundError("It is not there."))
        session.answer()
        await hub.settle()
        assert [words.text for words in hub.hub.context.desk.words_due()] == [WORDS]
        await hub.press("Try again")
        assert [prompt.text for prompt in hub.session.prompts] == [WORDS]
        assert hub.hub.context.desk.words_due() == ()


@pytest.mark.asyncio
async def test_dropped_words_are_not_offered_by_the_next_hub(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await denied(hub, steers=False)
        await hub.end()
        await hub.begin()
        await hub.press("Drop")
        assert hub.hub.context.desk.words_due() == ()


@pytest.mark.asyncio
async def test_words_whose_session_ends_before_it_hears_the_decision_still_wait_for_the_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.reason_path, hub.claude.can_steer = ReasonPath.FOLLOW_UP, False
        session = await hub.started_turn()
        task = asyncio.create_task(session.ask_permission(command="make"))
        desk = hub.hub.context.desk
        await hub.until(lambda: desk.has_open_permission(TOPIC))
        [found] = desk.open_asks(TOPIC)
        deciding = asyncio.create_task(desk.decide(found.id, Verdict.DENY, DESK_OWNER, DecisionWay.DESKTOP, WORDS))
        await asyncio.sleep(0)
        await desk.void(TOPIC, "the session ended")
        await deciding
        await asyncio.wait({task})
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts][1:] == [WORDS]


@pytest.mark.asyncio
async def test_words_that_the_protocol_carries_are_due_to_nobody(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        task = asyncio.create_task(session.ask_permission(command="make"))
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        [found] = hub.hub.context.desk.open_asks(TOPIC)
        await hub.hub.context.desk.decide(found.id, Verdict.DENY, DESK_OWNER, DecisionWay.DESKTOP, WORDS)
        await task
        await hub.settle()
        assert session.steered == []
        assert hub.hub.context.desk.words_due() == ()


@pytest.mark.asyncio
async def test_words_that_were_due_in_a_topic_that_is_gone_are_due_where_its_session_went(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await denied(hub, steers=False)
        await hub.say("/stop")
        session.answer()
        await hub.settle()
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        await hub.say("/parked", place=OTHER)
        await hub.press("#7")
        await hub.end()
        await hub.begin()
        assert WORDS in hub.last(OTHER)
        assert hub.hub.context.bindings.get(TOPIC) is None
        await hub.press("Run")
        assert [prompt.text for prompt in hub.session.prompts] == [WORDS]
