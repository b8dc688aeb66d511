"""Two topics, ten thousand random steps, all kinds of trouble and many crashes: nothing lost, mixed or reordered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import FloodWaitError, MarkupRefusedError, MessengerError, OutcomeUnknownError, UnreachableError
from tests.bridge.messengers import Made
from tests.bridge.test_outbox import GROUP, KEYS, F, G, House, P, R, S, play

STEPS = 10_000
TOPICS = (7, 9)
MARK = "may be a repeat"


class Chaos:
    """Posts, revises, drops and waits at random; keeps what each topic should have got."""

    def __init__(self, house: House, seed: int) -> None:
        self.house = house
        self.rng = Random(seed)
        self.ordered: dict[int, list[str]] = {topic: [] for topic in TOPICS}
        self.revised: dict[str, str] = {}
        self.step = 0
        self.lost_replies = 0
        house.messenger.answer = self.answer

    def answer(self, made: Made) -> float | None:
        dice = self.rng.random()
        error: MessengerError | None = None
        if dice < 0.01:
            error = UnreachableError("no network")
        elif dice < 0.02:
            error = OutcomeUnknownError("lost")
            if made.kind == "send":
                self.lost_replies += 1
        elif dice < 0.021:
            error = FloodWaitError(self.rng.randint(1, 90))
        elif dice < 0.025 and not made.is_plain:
            error = MarkupRefusedError("bad")
        elif dice < 0.03:
            return 15.0
        if error is not None:
            raise error
        return self.rng.uniform(0.02, 0.4)

    async def life(self, steps: int) -> None:
        async with self.house.life():
            for _ in range(steps):
                self.act()
                await asyncio.sleep(self.rng.expovariate(1 / 5.0))

    def act(self) -> None:
        self.step += 1
        topic = self.rng.choice(TOPICS)
        name = f"t{topic} n{self.step}"
        dice = self.rng.random()
        outbox = self.house.outbox
        if dice < 0.5:
            klass = self.rng.choice((P, R, F, F))
            self.house.post(name, klass, topic, key=name, keyboard=KEYS if klass is P else ())
            self.ordered[topic].append(name)
        elif dice < 0.6:
            self.house.post(name, S, topic, key=f"status:{topic}")
            self.revised[f"status:{topic}"] = name
        elif dice < 0.9 and self.ordered[topic]:
            # Status first; sometimes an answered card of the near past.
            key = f"status:{topic}"
            if self.rng.random() < 0.3:
                key = self.rng.choice(self.ordered[topic][-5:])
                name = f"{key} closed"
                outbox.revise(key, Part(name, name))
                self.revised[key] = name
            elif key in self.revised:
                outbox.revise(key, Part(name, name), klass=G)
        else:
            outbox.typing(Place(GROUP, topic))


def test_two_topics_interleaved_over_ten_thousand_random_steps(tmp_path: Path) -> None:
    chaos: list[Chaos] = []

    async def scene(house: House) -> None:
        chaos.append(Chaos(house, 4))
        lives = 40
        for _ in range(lives):
            await chaos[0].life(STEPS // lives)
        house.messenger.answer = lambda made: 0.1
        async with house.life():
            await asyncio.sleep(7200)

    house = play(tmp_path, scene)
    made, story = house.messenger, chaos[0]
    sends = made.of_kind("send")
    assert all(call.text.startswith(f"t{call.place.topic_id} ") for call in sends), "a message in a wrong topic"
    edits = made.of_kind("edit")
    assert all(call.text.startswith(f"t{call.place.topic_id} ") for call in edits if call.message_id in made.shown)
    for topic in TOPICS:
        seen = [call.text.splitlines()[0].removesuffix(" closed") for call in sends if call.place.topic_id == topic]
        wanted = set(story.ordered[topic])
        first_seen = [name for name in dict.fromkeys(seen) if name in wanted]
        assert first_seen == story.ordered[topic], "lost or out of order"
    names = [call.text.splitlines()[0].removesuffix(" closed") for call in made.shown_sends]
    delivered = [name for name in names if any(name in story.ordered[topic] for topic in TOPICS)]
    repeats = [call for call in made.shown_sends if MARK in call.text]
    assert len(delivered) - len(set(delivered)) <= len(repeats), "a repeat without its mark"
    assert len(repeats) <= story.lost_replies + 40, "more repeats than lost replies and crashes"
    assert story.step == STEPS
