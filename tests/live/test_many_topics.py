"""Twenty topics over all kinds at once: every word in its own topic, and one program's death hurts no other kind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
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
from tests.parts import IN_CI

pytestmark = pytest.mark.live
SHARED = {"codex": "app-server", "qwen": "--acp"}
"""Kinds whose topics live in one process, and what its command line holds."""
KIND_NAMES = ("claude", "codex", "qwen", "hermes")
TOPICS_EACH = 5
RUN_SECONDS = 120.0 if IN_CI else 20.0
PATIENCE = 150.0
GRACE = 10.0
"""Seconds after which no process of a hub that is gone may live."""
WORD = re.compile(r"\b(claude|codex|qwen|hermes)-(\d+)-turn\d+")
DIED = "ended unexpectedly"


@dataclass(frozen=True, slots=True)
class Talk:
    """One topic with one agent."""

    kind: str
    number: int
    human: Human
    topic: int

    def word(self, turn: int) -> str:
        return f"{self.kind}-{self.number}-turn{turn}"

    @property
    def heard(self) -> str:
        """All that the bot shows in this topic."""
        return "\n".join(message.text for message in self.human.from_bot(self.topic))


def echo_of(word: str) -> Callable[[Message], bool]:
    return lambda message: f"echo: {word}" in message.text and not message.is_silent


async def speak(talk: Talk, turn: int) -> None:
    """Say a word of this topic's own and wait for its echo."""
    sent = talk.human.write(talk.word(turn), talk.topic)
    await talk.human.wait_for(echo_of(talk.word(turn)), PATIENCE, topic=talk.topic, after=sent.id)


async def speak_to_the_dead(talk: Talk, turn: int) -> None:
    """A text that a dying program may have read is not given again by itself: a person says so."""
    echo = echo_of(talk.word(turn))
    sent = talk.human.write(talk.word(turn), talk.topic)
    seen = await talk.human.wait_for(
        lambda message: echo(message) or "Try again" in message.labels, PATIENCE, topic=talk.topic, after=sent.id
    )
    if not echo(seen):
        await talk.human.press(seen, "Try again")
        await talk.human.wait_for(echo, PATIENCE, topic=talk.topic, after=sent.id)


async def speak_until(talk: Talk, until: float, first: int = 1) -> int:
    """Again and again; returns how often."""
    turn = first
    while time.monotonic() < until:
        await speak(talk, turn)
        turn += 1
    return turn - first


def strangers(talks: Sequence[Talk]) -> list[tuple[str, str]]:
    """(topic, word of another topic) for everything that stands where it does not belong."""
    return [
        (f"{talk.kind} {talk.number}", found[0])
        for talk in talks
        for found in WORD.finditer(talk.heard)
        if (found[1], int(found[2])) != (talk.kind, talk.number)
    ]


async def open_talk(simulator: Simulator, chat: Chat, kind: str, number: int) -> Talk:
    """A topic set to one kind of agent; one group per kind, so that one group's send budget does not set the pace."""
    human = Human(simulator, chat_id=chat.id, patience=PATIENCE)
    topic = human.create_topic(f"{kind} {number}")
    sent = human.write(f"/agent {kind}", topic)
    await human.wait_for(lambda message: bool(message.text), PATIENCE, topic=topic, after=sent.id)
    return Talk(kind, number, human, topic)


def shared_process(hub: HubProcess, mark: str) -> psutil.Process:
    """The topmost process of the hub's whose command line holds ``mark``."""
    for process in hub.family():
        with contextlib.suppress(psutil.Error):
            if mark in process.cmdline():
                return process
    raise AssertionError(f"no process with {mark!r}")


async def survive_a_death(hub: HubProcess, talks: Sequence[Talk], kind: str, turn: int) -> None:
    """All talk on while the process of one kind is killed; its own topics recover, no other one notices."""
    others = [talk for talk in talks if talk.kind != kind]
    deaths = {talk: talk.heard.count(DIED) for talk in others}
    going = [asyncio.create_task(speak(talk, turn)) for talk in others]
    os.kill(shared_process(hub, SHARED[kind]).pid, signal.SIGKILL)
    await asyncio.gather(*going, *(speak_to_the_dead(talk, turn) for talk in talks if talk.kind == kind))
    assert {talk: talk.heard.count(DIED) for talk in others} == deaths
    assert strangers(talks) == []


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
            stack.callback(hub.put_down)
            await hub.start()
            talks = [
                await open_talk(simulator, chat, kind, number)
                for kind, chat in zip(KIND_NAMES, chats, strict=True)
                for number in range(TOPICS_EACH)
            ]
            until = time.monotonic() + RUN_SECONDS
            turns = await asyncio.gather(*(speak_until(talk, until) for talk in talks))
            print(f"{sum(turns)} turns in {RUN_SECONDS:.0f} s, {min(turns)} to {max(turns)} in a topic")
            assert strangers(talks) == []

            for number, kind in enumerate(SHARED):
                await survive_a_death(hub, talks, kind, 1000 + number)

            family = hub.family()
            await hub.kill()
            assert await all_gone(family, GRACE) == []

            await hub.start()
            await asyncio.gather(*(speak(talk, 2000) for talk in talks))
            assert strangers(talks) == []
            family = hub.family()
            assert await hub.quit() == 0
            assert await all_gone(family, GRACE) == []
