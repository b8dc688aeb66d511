"""The hub is killed with -9 in the middle of a turn: no agent outlives it, and the next life goes on from there."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from bridge.simulator.human import Human
from bridge.simulator.simulator import Simulator
from tests.contract.kinds import KINDS
from tests.contract.rig import make_place
from tests.live.hub_process import HubProcess, all_gone
from tests.live.test_demo_check import settings_of
from tests.models.script import ScriptedModel

pytestmark = pytest.mark.live
PATIENCE = 90.0
GRACE = 10.0
"""Seconds after which no process of a killed hub may live."""


@pytest.mark.asyncio
@pytest.mark.parametrize("name", sorted(KINDS))
async def test_a_killed_hub_leaves_no_agent_behind_and_resumes(name: str, tmp_path: Path) -> None:
    model, place = ScriptedModel(), make_place(tmp_path / "agent")
    with KINDS[name].serve(model, place) as url, contextlib.ExitStack() as stack:
        async with Simulator() as simulator:
            agents = {name: {} if name == "demo" else settings_of(name, place, url)}
            hub = HubProcess(simulator, tmp_path / "hub", place.folder, agents)
            human = Human(simulator, patience=PATIENCE)
            stack.callback(hub.put_down)
            await hub.start()
            topic = human.create_topic("Killed")
            first = human.write(FIRST.get(name, "play:hello"), topic)
            await human.wait_for(lambda message: not message.is_silent, topic=topic, after=first.id)
            slow = human.write(SLOW.get(name, "play:slow"), topic)
            await human.wait_for(lambda message: bool(message.text), topic=topic, after=slow.id)
            family = hub.family()
            await hub.kill()
            assert await all_gone(family, GRACE) == []

            await hub.start()
            card = await human.wait_button("Continue", topic, after=slow.id)
            assert not card.is_silent
            again = human.write(FIRST.get(name, "play:hello"), topic)
            await human.wait_for(
                lambda message: not message.is_silent and not message.rows, topic=topic, after=again.id
            )
            family = hub.family()
            assert await hub.quit() == 0
            assert await all_gone(family, GRACE) == []
    if name != "demo":
        assert model.was_told("play:slow"), "the turn that was cut off is not in the session's past"


FIRST = {"demo": "hello"}
SLOW = {"demo": "slow"}
