"""Twenty topics over all kinds at once: every word in its own topic, and one program's death hurts no other kind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from bridge.simulator.chats import Chat
from bridge.simulator.human import Human, Message
from bridge.simulator.simulator import Simulator
from tests.contract.kinds import KINDS
from tests.contract.rig import make_place
from tests.live.hub_process import HubProcess, all_gone
from tests.live.test_demo_check import settings_of
from tests.models.script import ScriptedModel

pytestmark = pytest.mark.live
KIND_NAMES = ("claude", "codex", "qwen", "hermes")
TOPICS_EACH = 5
RUN_SECONDS = 120.0
PATIENCE = 150.0
GRACE = 10.0


@dataclass(frozen=True, slots=True)
class Talk:
    """One topic with one agent."""

    kind: str
    number: int
    human: Human
    topic: int

    def word(self, turn: int) -> str:
        return f"{self.kind}-{self.number}-turn{turn}"


def answer_to(word: str) -> object:
    return lambda message: f"echo: {word}" in message.text and not message.is_silent


async def speak(talk: Talk, until: float) -> int:
    """Say a word of this topic's own and wait for its echo, again and again; returns how often."""
    turn = 0
    while time.monotonic() < until:
        turn += 1
        word = talk.word(turn)
        sent = talk.human.write(word, talk.topic)
        await talk.human.wait_for(answer_to(word), PATIENCE, topic=talk.topic, after=sent.id)  # type: ignore[arg-type]
    return turn


def strangers_in(talk: Talk, talks: list[Talk]) -> list[str]:
    """Words of other topics among this topic's messages."""
    seen = " ".join(message.text for message in talk.human.from_bot(talk.topic))
    return [other.word(1) for other in talks if other is not talk and f"{other.kind}-{other.number}-turn" in seen]


async def open_talk(simulator: Simulator, chat: Chat, kind: str, number: int) -> Talk:
    """A topic set to one kind of agent; one group per kind, so that one group's send budget does not set the pace."""
    human = Human(simulator, chat_id=chat.id, patience=PATIENCE)
    topic = human.create_topic(f"{kind} {number}")
    sent = human.write(f"/agent {kind}", topic)
    await human.wait_for(lambda message: bool(message.text), PATIENCE, topic=topic, after=sent.id)
    return Talk(kind, number, human, topic)


def shared_process(hub: HubProcess, mark: str) -> psutil.Process:
    for process in hub.family():
        with contextlib.suppress(psutil.Error):
            if mark in " ".join(process.cmdline()):
                return process
    raise AssertionError(f"no process with {mark!r}")


@pytest.mark.asyncio
async def test_twenty_topics_of_four_kinds_stay_apart_and_survive_a_shared_programs_death(tmp_path: Path) -> None:
    model = ScriptedModel()
    with contextlib.ExitStack() as stack:
        agents: dict[str, Mapping[str, object]] = {}
        workspace = tmp_path / "work"
        workspace.mkdir()
        for kind in KIND_NAMES:
            place = make_place(tmp_path / kind)
            url = stack.enter_context(KINDS[kind].serve(model, place))
            agents[kind] = settings_of(kind, place, url)
        async with Simulator() as simulator:
            chats = [simulator.world.add_group(-1001000000100 - number, kind) for number, kind in enumerate(KIND_NAMES)]
            hub = HubProcess(simulator, tmp_path / "hub", workspace, agents)
            await hub.start()
            talks = [
                await open_talk(simulator, chat, kind, number)
                for kind, chat in zip(KIND_NAMES, chats, strict=True)
                for number in range(TOPICS_EACH)
            ]
            turns = await asyncio.gather(*(speak(talk, time.monotonic() + RUN_SECONDS) for talk in talks))
            assert min(turns) >= 1
            assert {talk.word(0): strange for talk in talks if (strange := strangers_in(talk, talks))} == {}

            os.kill(shared_process(hub, "app-server").pid, signal.SIGKILL)
            again = await asyncio.gather(*(speak_once(talk, 1000) for talk in talks))
            assert all(isinstance(message, Message) for message in again)
            assert {talk.word(0): strange for talk in talks if (strange := strangers_in(talk, talks))} == {}

            family = hub.family()
            await hub.kill()
            assert await all_gone(family, GRACE) == []


async def speak_once(talk: Talk, turn: int) -> Message:
    """One more word; a program that died is started again for it."""
    word = talk.word(turn)
    sent = talk.human.write(word, talk.topic)
    return await talk.human.wait_for(answer_to(word), PATIENCE, topic=talk.topic, after=sent.id)  # type: ignore[arg-type]
