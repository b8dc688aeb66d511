"""Spend caps: a warning at 80 %, an interruption at 100 %, and no turn beyond a session's or a day's cap."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.contract import AssistantText, SpentSoFar, TurnFinished, TurnOutcome, Usage
from bridge.config import LimitSettings
from tests.bridge.topics.stage import OTHER, TOPIC, Stage, stage


def cost(dollars: float) -> TurnFinished:
    return TurnFinished(TurnOutcome.COMPLETED, "Done.", Usage(cost_usd=dollars))


async def finished(hub: Stage, dollars: float) -> None:
    hub.session.say(AssistantText("Done."), cost(dollars))
    await hub.settle()


@pytest.mark.asyncio
async def test_a_turn_is_warned_of_at_80_percent_once_and_interrupted_at_its_cap(tmp_path: Path) -> None:
    async with stage(tmp_path, limits=LimitSettings(turn_tokens=1000)) as hub:
        session = await hub.started_turn()
        session.say(SpentSoFar(Usage(700, 50)))
        await hub.settle()
        assert not any("cap" in text for text in hub.texts())
        session.say(SpentSoFar(Usage(750, 60)), SpentSoFar(Usage(800, 70)))
        await hub.settle()
        assert [text for text in hub.texts() if "cap" in text] == [
            "⚠️ 81 % of the cap for a turn is used (810 / 1000 tokens)."
        ]
        assert session.calls == []
        session.say(SpentSoFar(Usage(1000, 70)), SpentSoFar(Usage(1100, 70)))
        await hub.settle()
        assert session.calls == ["interrupt"]
        (told,) = [text for text in hub.ringing() if "is used up" in text]
        assert "1070 / 1000 tokens" in told


@pytest.mark.asyncio
async def test_beyond_the_days_cap_no_topic_begins_a_turn_and_the_text_is_kept(tmp_path: Path) -> None:
    async with stage(tmp_path, limits=LimitSettings(day_usd=1.0)) as hub:
        await hub.say("one")
        await finished(hub, 1.2)
        await hub.say("two", place=OTHER)
        assert len(hub.claude.sessions) == 1
        assert any("for a day is used up ($1.20 / $1.00)" in text for text in hub.ringing(OTHER))
        assert any(entry.prompt.text == "two" for topic in hub.hub.topics() for entry in topic.line.held)


@pytest.mark.asyncio
async def test_a_new_day_begins_at_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, limits=LimitSettings(day_usd=1.0)) as hub:
        await hub.say("one")
        await finished(hub, 1.2)
        hub.clock.move(25 * 3600)
        await hub.settle()
        await hub.say("two", place=OTHER)
        assert len(hub.claude.sessions) == 2


@pytest.mark.asyncio
async def test_a_sessions_cap_counts_its_turns_and_a_fresh_session_is_free(tmp_path: Path) -> None:
    async with stage(tmp_path, limits=LimitSettings(session_usd=1.0)) as hub:
        for _ in range(2):
            await hub.say("more")
            await finished(hub, 0.45)
        assert any("90 % of the cap for a session is used ($0.90 / $1.00)" in text for text in hub.texts())
        await hub.say("more")
        await finished(hub, 0.45)
        assert any("for a session is used up ($1.35 / $1.00)" in text for text in hub.ringing())
        await hub.say("refused")
        assert len(hub.session.prompts) == 3
        await hub.say("/reset")
        hub.session.session_id = None
        await hub.say("fresh")
        await hub.settle()
        assert hub.claude.sessions[-1].prompts[-1].text == "fresh"


@pytest.mark.asyncio
async def test_what_was_spent_is_known_in_the_next_life_of_the_hub(tmp_path: Path) -> None:
    async with stage(tmp_path, limits=LimitSettings(day_usd=1.0)) as hub:
        await hub.say("one")
        await finished(hub, 1.2)
        await hub.end()
        await hub.begin()
        await hub.say("two")
        assert any("is used up" in text for text in hub.ringing())
        assert len(hub.claude.sessions) == 1


@pytest.mark.asyncio
async def test_without_caps_or_without_figures_nothing_is_ever_stopped(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("one")
        hub.session.say(SpentSoFar(Usage(10**9, 10**9, 1e6)))
        await finished(hub, 1e6)
        await hub.say("two", place=TOPIC)
        assert len(hub.session.prompts) == 2


@pytest.mark.asyncio
async def test_what_a_turn_had_cost_before_its_program_died_is_counted(tmp_path: Path) -> None:
    async with stage(tmp_path, limits=LimitSettings(day_tokens=1000)) as hub:
        session = await hub.started_turn()
        session.say(SpentSoFar(Usage(500, 100)))
        await hub.settle()
        session.die()
        await hub.settle()
        assert hub.hub.context.ledger.of_day().tokens == 600


@pytest.mark.asyncio
async def test_turns_that_run_at_the_same_time_use_up_one_day_together(tmp_path: Path) -> None:
    async with stage(tmp_path, limits=LimitSettings(day_tokens=1000)) as hub:
        first = await hub.started_turn()
        await hub.say("and here", place=OTHER)
        second = hub.session
        first.say(SpentSoFar(Usage(600, 0)))
        await hub.settle()
        second.say(SpentSoFar(Usage(500, 0)))
        await hub.settle()
        assert second.calls == ["interrupt"]
        assert first.calls == []
