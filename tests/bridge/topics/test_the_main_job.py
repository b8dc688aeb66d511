"""A task goes to the agent, its answer comes back, a request is decided on the way."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.contract import Verdict
from bridge.store import Journal, UpdateState
from tests.bridge.topics.stage import OTHER, TOPIC, journalled, stage


@pytest.mark.asyncio
async def test_a_first_text_in_an_untouched_topic_starts_the_default_agent_in_the_first_root(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("run the tests")
        assert hub.session.spec.cwd == hub.root
        assert [prompt.text for prompt in hub.session.prompts] == ["run the tests"]


@pytest.mark.asyncio
async def test_the_final_answer_is_a_new_message_that_rings(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer("**Ready**: 3 < 4")
        await hub.settle()
        assert hub.ringing()[0].startswith("Ready: 3 < 4")


@pytest.mark.asyncio
async def test_an_allowed_request_reaches_the_agent_and_the_turn_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        asking = asyncio.create_task(session.ask_permission(command="make"))
        await hub.until(lambda: "Allow" in " ".join(hub.buttons()))
        toast = await hub.press("Allow")
        decision = await asking
        assert decision.verdict is Verdict.ALLOW
        assert toast


@pytest.mark.asyncio
async def test_the_update_is_handed_before_the_turn_and_finished_with_its_answer(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        message = hub.message("do it")
        await journalled(hub, message)
        journal = Journal(hub.database, hub.clock)
        await hub.hub.handle(message)
        await hub.settle()
        assert journal.state_of(message.update_id) is UpdateState.HANDED
        hub.session.answer()
        await hub.settle()
        assert journal.state_of(message.update_id) is UpdateState.FINISHED


@pytest.mark.asyncio
async def test_two_topics_have_sessions_of_their_own(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("one")
        await hub.say("two", place=OTHER)
        first, second = hub.claude.sessions
        second.answer("to the second")
        first.answer("to the first")
        await hub.settle()
        assert hub.texts(TOPIC)[-1].startswith("to the first")
        assert hub.texts(OTHER)[-1].startswith("to the second")


@pytest.mark.asyncio
async def test_fifty_texts_in_a_row_are_all_answered(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        for number in range(50):
            await hub.say(f"task {number}")
            hub.session.answer(f"answer {number}")
            await hub.settle()
        assert len(hub.session.prompts) == 50
        assert sum(text.startswith("answer ") for text in hub.texts()) == 50
