"""A topic that is gone: its session, and every text that waited there, goes on in another topic."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.contract import FailureKind, TurnFailed
from bridge.bindings import TopicState
from bridge.inbound import FileKind, IncomingFile, IncomingMessage, Place
from bridge.recovery import Pending
from bridge.store import UpdateState
from tests.bridge.topics.stage import GENERAL, OTHER, TOPIC, Stage, journalled, stage

THIRD = Place(TOPIC.chat_id, 11)


async def written(hub: Stage, text: str, **about: object) -> IncomingMessage:
    """A text that came through the journal."""
    message = hub.message(text, **about)  # type: ignore[arg-type]
    await journalled(hub, message)
    await hub.hub.handle(message)
    await hub.settle()
    return message


async def waiting_in_a_lost_topic(hub: Stage, text: str = "and this") -> IncomingMessage:
    """A session with a past; its topic is gone, and a text that was held there waits."""
    session = await hub.started_turn()
    session.takes_steering = False
    waiting = await written(hub, text)
    await hub.say("/stop")
    session.answer()
    await hub.settle()
    hub.hub.topic_lost(TOPIC)
    await hub.settle()
    return waiting


async def brought(hub: Stage, place: Place = OTHER) -> None:
    await hub.say("/parked", place=place)
    await hub.press("#7")
    await hub.settle()


def prompts(hub: Stage) -> list[str]:
    return [prompt.text for session in hub.claude.sessions for prompt in session.prompts]


@pytest.mark.asyncio
async def test_a_text_that_waited_in_a_lost_topic_is_offered_where_its_session_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        waiting = await waiting_in_a_lost_topic(hub)
        former = hub.session
        await brought(hub)
        assert "and this" in hub.last(OTHER)
        await hub.press("Run")
        assert hub.session.spec.resume == former.session_id
        assert [prompt.text for prompt in hub.session.prompts] == ["and this"]
        hub.session.answer("did it")
        await hub.settle()
        assert hub.ringing(OTHER)[-1].startswith("did it")
        assert hub.hub.context.journal.state_of(waiting.update_id) is UpdateState.FINISHED


@pytest.mark.asyncio
async def test_a_lost_topic_says_how_many_texts_wait_there(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await waiting_in_a_lost_topic(hub)
        await hub.say("/parked", place=OTHER)
        assert "1 text waits" in hub.last(OTHER)


@pytest.mark.asyncio
async def test_a_text_that_moved_along_is_offered_in_its_new_topic_by_the_next_hub_too(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        waiting = await waiting_in_a_lost_topic(hub)
        former = hub.session
        await brought(hub)
        await hub.end()
        before = len(hub.texts(TOPIC))
        await hub.begin((Pending(waiting, UpdateState.RECEIVED),))
        assert len(hub.texts(TOPIC)) == before
        assert hub.hub.context.bindings.get(TOPIC) is None, "nobody works in the topic that is gone"
        assert "and this" in hub.last(OTHER)
        await hub.press("Run")
        assert (hub.session.spec.resume, hub.session.prompts[0].text) == (former.session_id, "and this")


@pytest.mark.asyncio
async def test_a_text_in_a_lost_topic_is_not_run_by_a_restart_and_still_comes_along(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        waiting = await waiting_in_a_lost_topic(hub)
        await hub.end()
        before = prompts(hub)
        await hub.begin((Pending(waiting, UpdateState.RECEIVED),))
        assert prompts(hub) == before
        binding = hub.hub.context.bindings.get(TOPIC)
        assert binding is not None
        assert binding.state is TopicState.LOST
        assert len(hub.texts(GENERAL)) == 1, "General heard of it already"
        await brought(hub)
        await hub.press("Run")
        assert prompts(hub) == [*before, "and this"]


@pytest.mark.asyncio
async def test_a_lost_topic_in_which_nothing_was_begun_yet_is_listed_when_a_text_waits_there(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "shop").mkdir()
        await hub.say("/cwd shop")
        hub.hub.pause()
        await written(hub, "first task")
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        hub.hub.resume()
        await hub.settle()
        assert prompts(hub) == []
        await brought(hub)
        await hub.press("Run")
        assert (hub.session.spec.cwd, hub.session.spec.resume) == (hub.root / "shop", None)
        assert prompts(hub) == ["first task"]


@pytest.mark.asyncio
async def test_a_picture_that_waits_in_a_lost_topic_comes_along(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.hub.pause()
        hub.messenger.files["F1"] = b"one"
        await written(hub, "look", files=(IncomingFile(FileKind.PHOTO, "F1", size=3),))
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        hub.hub.resume()
        await brought(hub)
        await hub.until(lambda: "look" in hub.last(OTHER))
        await hub.press("Run")
        assert hub.session.prompts[0].images[0].data == b"one"


@pytest.mark.asyncio
async def test_a_session_whose_turn_still_runs_is_brought_only_after_a_second_press(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        session.tool("Bash", "make all")
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        await brought(hub)
        assert "still runs" in hub.last(OTHER)
        assert not session.is_closed
        await hub.press("Stop it")
        assert session.is_closed
        assert hub.delivery.rehomed == [(TOPIC, OTHER)]
        assert "make all" in hub.ringing(TOPIC)[-1], "what was done is told by a message that moves along"
        await hub.press("Continue")
        assert hub.session.spec.resume == session.session_id
        assert "build it" in hub.session.prompts[0].text
        hub.session.answer("built")
        await hub.settle()
        assert hub.ringing(OTHER)[-1].startswith("built")


@pytest.mark.asyncio
async def test_a_turn_that_waits_for_a_limit_goes_on_where_its_session_was_brought(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        resets = datetime.fromtimestamp(hub.clock.now() + 3600, UTC)
        session.say(TurnFailed(FailureKind.QUOTA, "The limit is reached.", resets_at=resets))
        await hub.settle()
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        await brought(hub)
        await hub.pass_time(3800, step=100)
        assert prompts(hub) == ["build it", "build it"]
        hub.session.answer("built")
        await hub.settle()
        assert hub.ringing(OTHER)[-1].startswith("built")


@pytest.mark.asyncio
async def test_a_turn_that_waits_for_a_limit_in_a_lost_topic_does_not_run_unseen(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        resets = datetime.fromtimestamp(hub.clock.now() + 3600, UTC)
        session.say(TurnFailed(FailureKind.QUOTA, "The limit is reached.", resets_at=resets))
        await hub.settle()
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        await hub.pass_time(3800, step=100)
        assert prompts(hub) == ["build it"]
        await brought(hub)
        await hub.settle()
        assert prompts(hub) == ["build it", "build it"]


@pytest.mark.asyncio
async def test_a_session_that_another_topic_has_taken_up_is_not_brought_a_second_time(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await waiting_in_a_lost_topic(hub)
        bindings = hub.hub.context.bindings
        lost = bindings.get(TOPIC)
        assert lost is not None
        await hub.say("/status", place=THIRD)
        [third] = [topic for topic in hub.hub.topics() if topic.place == THIRD]
        third.rebind(third.binding.__class__(THIRD, "third", "claude", lost.cwd, session_id=lost.session_id))
        await brought(hub)
        assert "belongs to the topic" in hub.last(OTHER)
        await brought(hub, THIRD)
        assert "and this" in hub.last(THIRD)


@pytest.mark.asyncio
async def test_a_text_in_a_topic_that_is_there_after_all_offers_what_waited(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await waiting_in_a_lost_topic(hub)
        await hub.say("are you there?")
        assert hub.delivery.resumed == [TOPIC]
        assert any("1 message was not run" in text and "and this" in text for text in hub.texts())


@pytest.mark.asyncio
async def test_a_command_in_a_topic_that_is_there_after_all_brings_it_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await waiting_in_a_lost_topic(hub)
        await hub.say("/status")
        assert hub.delivery.resumed == [TOPIC]
        binding = hub.hub.context.bindings.get(TOPIC)
        assert binding is not None
        assert binding.state is TopicState.OPEN


@pytest.mark.asyncio
async def test_what_a_person_held_is_not_run_by_a_quick_restart(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        waiting = await written(hub, "and this")
        await hub.say("/stop")
        session.answer()
        await hub.settle()
        assert "was not run" in hub.last()
        await hub.end()
        before = prompts(hub)
        await hub.begin((Pending(waiting, UpdateState.RECEIVED),))
        assert prompts(hub) == before
        await hub.press("Run")
        assert prompts(hub) == [*before, "and this"]


@pytest.mark.asyncio
async def test_a_session_that_does_not_let_go_in_time_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as hub:
        await waiting_in_a_lost_topic(hub)
        [lost] = [topic for topic in hub.hub.topics() if topic.place == TOPIC]
        gate = asyncio.Event()

        async def slow(_why: str) -> None:
            await gate.wait()

        monkeypatch.setattr(lost, "close_session", slow)
        monkeypatch.setattr("bridge.hub.STOP_TIMEOUT", 0.05)
        await hub.say("/parked", place=OTHER)
        await hub.press("#7")
        await hub.until(lambda: "did not let go" in hub.last(OTHER))
        gate.set()
        await hub.settle()
        binding = hub.hub.context.bindings.get(TOPIC)
        assert binding is not None
        assert binding.state is TopicState.LOST
        assert [entry.prompt.text for entry in lost.line.held] == ["and this"]
