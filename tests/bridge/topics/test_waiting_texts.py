"""Texts that wait in a topic, over the lives of the hub: one card each, whose buttons go on working."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.inbound import IncomingMessage
from bridge.recovery import Pending
from bridge.store import UpdateState
from tests.bridge.pending.stage import Shown
from tests.bridge.topics.stage import Stage, journalled, stage


async def two_waiting_behind_a_turn(hub: Stage) -> tuple[IncomingMessage, IncomingMessage]:
    """A life that ends while a turn runs and two texts wait for its end."""
    await hub.say("/agent codex")
    await hub.say("do it")
    waiting = []
    for text in ("and this", "and that"):
        message = hub.message(text)
        await journalled(hub, message)
        await hub.hub.handle(message)
        await hub.pass_time(30)
        waiting.append(message)
    await hub.end()
    return waiting[0], waiting[1]


def waiting_cards(hub: Stage) -> list[Shown]:
    return [shown for shown in hub.delivery.shown.values() if "Waits until this turn is done" in shown.looks[0]]


@pytest.mark.asyncio
async def test_a_text_that_waits_on_after_a_restart_keeps_its_card(tmp_path: Path) -> None:
    async with stage(tmp_path, runs_backlog=True) as hub:
        first, second = await two_waiting_behind_a_turn(hub)
        await hub.begin((Pending(first, UpdateState.RECEIVED), Pending(second, UpdateState.RECEIVED)))
        session = hub.codex.sessions[-1]
        assert [prompt.text for prompt in session.prompts] == ["and this"]
        assert [shown.looks[1:] for shown in waiting_cards(hub)] == [["▶ Started."], []]
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["and this", "and that"]
        assert [shown.looks[1:] for shown in waiting_cards(hub)] == [["▶ Started."], ["▶ Started."]]


@pytest.mark.asyncio
async def test_the_buttons_of_a_waiting_text_work_after_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path, runs_backlog=True) as hub:
        first, second = await two_waiting_behind_a_turn(hub)
        await hub.begin((Pending(first, UpdateState.RECEIVED), Pending(second, UpdateState.RECEIVED)))
        await hub.press("Drop", shown=waiting_cards(hub)[1])
        hub.codex.sessions[-1].answer()
        await hub.settle()
        assert [prompt.text for session in hub.codex.sessions for prompt in session.prompts] == ["do it", "and this"]
        assert waiting_cards(hub)[1].part.text == "🗑 Dropped. The agent did not get it."


@pytest.mark.asyncio
async def test_a_waiting_text_that_is_offered_after_a_restart_says_so_on_its_card(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        first, second = await two_waiting_behind_a_turn(hub)
        hub.clock.move(7200)
        await hub.begin((Pending(first, UpdateState.RECEIVED), Pending(second, UpdateState.RECEIVED)))
        assert [shown.part.text for shown in waiting_cards(hub)] == ["⏸ Held. See the message below."] * 2
        assert [shown.keyboard for shown in waiting_cards(hub)] == [(), ()]
