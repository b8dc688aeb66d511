"""Every command of /help, used in a demo with the demo agent: each is answered as it should be, none by an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.commands.table import Where
from bridge.simulator.human import Human
from tests.e2e.command_uses import PATIENCE, USES, Player, quick_demo

TROUBLE = ("⚠️", "There is no command")
"""How every error that a person sees begins (bridge.cards.error_notice)."""


@pytest.mark.asyncio
async def test_every_command_of_help_is_answered_in_the_demo_and_none_with_an_error(tmp_path: Path) -> None:
    async with quick_demo(tmp_path) as demo:
        human = Human(demo.simulator, patience=PATIENCE)
        player = Player(demo, human, human.create_topic("Commands"))
        assert demo.engine is not None
        table = demo.engine.hub.commands
        known = {(name, Where.GENERAL) for name in table.names(Where.GENERAL)} | {
            (name, Where.TOPIC) for name in table.names(Where.TOPIC)
        }
        assert {(use.name, Where.GENERAL if use.is_general else Where.TOPIC) for use in USES} == known
        for use in USES:
            reply = await player.reply_to(use)
            assert not reply.text.startswith(TROUBLE), (use.text, reply.text)
