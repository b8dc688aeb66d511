"""Two topics at once over thousands of random steps: nothing in the wrong topic, finals in order, no text lost."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from agents.contract import InputConsumed, TextDelta
from bridge.inbound import Place
from tests.bridge.scripted_agent import ScriptedSession
from tests.bridge.topics.stage import CHAT, Stage, stage

STEPS = 10_000
ALPHA, BETA = Place(CHAT, 71), Place(CHAT, 72)
NAMES = {ALPHA: "alpha", BETA: "beta"}


class Play:
    """Random steps on two topics; every word carries the name of its topic and a number."""

    def __init__(self, hub: Stage, seed: int) -> None:
        self.hub = hub
        self.random = Random(seed)
        self.written: Counter[Place] = Counter()
        self.answered: Counter[Place] = Counter()
        self.asks: list[asyncio.Task[object]] = []
        self.moves: list[tuple[Callable[[Place], Awaitable[None]], int]] = [
            (self.write, 5),
            (self.stream, 5),
            (self.use_tool, 4),
            (self.answer, 6),
            (self.consume, 4),
            (self.ask, 1),
            (self.decide, 3),
            (self.wait, 3),
        ]

    def session(self, place: Place) -> ScriptedSession | None:
        """The topic's living session while a turn runs."""
        topic = next((topic for topic in self.hub.hub.topics() if topic.place == place), None)
        running = topic is not None and topic.turn is not None
        session = topic.live.session if topic is not None else None
        return session if running and isinstance(session, ScriptedSession) else None

    async def step(self) -> None:
        place = self.random.choice((ALPHA, BETA))
        moves, weights = zip(*self.moves, strict=True)
        await self.random.choices(moves, weights)[0](place)
        for _ in range(8):
            await asyncio.sleep(0)

    async def write(self, place: Place) -> None:
        self.written[place] += 1
        await self.hub.hub.handle(self.hub.message(f"{NAMES[place]} task {self.written[place]}", place=place))

    async def stream(self, place: Place) -> None:
        if session := self.session(place):
            session.say(TextDelta(f"{NAMES[place]} streams "))

    async def use_tool(self, place: Place) -> None:
        if session := self.session(place):
            session.tool("Bash", f"{NAMES[place]} command")

    async def answer(self, place: Place) -> None:
        if session := self.session(place):
            self.answered[place] += 1
            for input_id, _ in session.steered[-20:]:
                session.say(InputConsumed(input_id))
            session.answer(f"{NAMES[place]} answer {self.answered[place]}.")
            await self.hub.settle()

    async def consume(self, place: Place) -> None:
        session = self.session(place)
        if session and session.steered:
            session.consume()

    async def ask(self, place: Place) -> None:
        if session := self.session(place):
            ask_id = f"{NAMES[place]}-{len(self.asks)}"
            self.asks.append(asyncio.create_task(session.ask_permission(ask_id, f"{NAMES[place]} make")))

    async def decide(self, place: Place) -> None:
        desk = self.hub.hub.context.desk
        for ask in desk.open_asks(place)[:1]:
            card = next(shown for key, shown in self.hub.delivery.shown.items() if shown.keyboard and ask.token in key)
            await self.hub.press(self.random.choice(("Allow", "Deny")), shown=card)

    async def wait(self, place: Place) -> None:
        del place
        self.hub.clock.move(self.random.choice((0.2, 1.0, 6.0)))


@pytest.mark.asyncio
async def test_ten_thousand_random_steps_keep_two_topics_apart_and_their_answers_in_order(tmp_path: Path) -> None:
    async with stage(tmp_path, ask_timeout=1e9, silence_notice=1e9, idle_close=1e9) as hub:
        play = Play(hub, seed=20261130)
        for _ in range(STEPS):
            await play.step()
        for place in (ALPHA, BETA):
            for _ in range(1000):
                if not play.session(place) and not hub.hub.context.desk.open_asks(place):
                    break
                await play.decide(place)
                await play.answer(place)
        async with asyncio.timeout(10):
            await asyncio.gather(*play.asks)
        check(hub, play)


def check(hub: Stage, play: Play) -> None:
    assert min(play.answered.values()) > 200
    for place, name in NAMES.items():
        other = NAMES[BETA if place == ALPHA else ALPHA]
        texts = [text for shown in of(hub, place) for text in shown]
        assert not [text for text in texts if other in text]
        finals = [int(found[1]) for text in texts if (found := re.match(rf"{name} answer (\d+)\.", text))]
        assert finals == list(range(1, play.answered[place] + 1))
        given = Counter(
            word
            for session in hub.claude.sessions
            for prompt in [*session.prompts, *(prompt for _, prompt in session.steered)]
            for word in re.findall(rf"{name} task \d+", prompt.text)
        )
        assert set(given) == {f"{name} task {number}" for number in range(1, play.written[place] + 1)}
        assert set(given.values()) == {1}


def of(hub: Stage, place: Place) -> list[list[str]]:
    return [shown.looks for shown in hub.delivery.shown.values() if shown.message.place == place]
