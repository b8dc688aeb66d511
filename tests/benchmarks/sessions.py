"""What a hundred topics cost: processes, memory, and the time that the hub adds when a sleeping session is woken.

    python -m tests.benchmarks.sessions --json [--quick] [--kind claude]

A whole hub in this process, real agent programs below it. Default is the demo agent, a small program: with another
kind the memory is that program's own. The floor of waking is the same agent opened and prompted without a hub.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

from agents.contract import (
    AgentBackend,
    AgentHealth,
    AgentSession,
    AgentTraits,
    InputId,
    Prompt,
    SessionArchive,
    SessionSpec,
    TurnFailed,
    TurnFinished,
    UserChannel,
)
from agents.processes import LinePipe, spawn
from bridge.clock import SystemClock
from bridge.config import BridgeConfig, Role
from bridge.context import HubContext
from bridge.hub import Hub
from bridge.inbound import IncomingMessage, Person, Place
from bridge.messenger import Messenger
from bridge.pending import AskDesk
from bridge.store import Database
from tests.benchmarks.report import Figure, arguments, percentile, report, say
from tests.bridge.topics.stage import RecordingDelivery, RecordingMessenger
from tests.contract.exchange import Ids
from tests.contract.person import Person as Human
from tests.contract.rig import Fault, Kind, make_place
from tests.contract.rigs import claude, codex, demo, hermes, qwen
from tests.models.script import SCRIPTS, ScriptedModel

KINDS = {kind.name: kind for kind in (demo.KIND, claude.KIND, codex.KIND, qwen.KIND, hermes.KIND)}
CHAT, PERSON = -1001, Person(501, "Anna")
ACTIVE = 8
AT_ONCE = 4
TURN_TIMEOUT = 120.0


class FreshIds(Ids):
    def __call__(self) -> str:
        return str(uuid.uuid4())


@dataclass
class Stamps:
    """Moments of one waking, seconds of ``perf_counter``."""

    handled: float = math.nan
    spawned: float = math.nan
    ready: float = math.nan
    written: float = math.nan

    @property
    def overhead(self) -> float:
        """Milliseconds that are the hub's own."""
        return ((self.spawned - self.handled) + (self.written - self.ready)) * 1000


@dataclass
class Watched:
    """The real backend with a stop-watch: when a program was started, when it was ready, when it had the prompt."""

    inner: AgentBackend
    stamps: Stamps = field(default_factory=Stamps)

    @property
    def kind(self) -> str:
        return self.inner.kind

    @property
    def traits(self) -> AgentTraits:
        return self.inner.traits

    @property
    def archive(self) -> SessionArchive | None:
        return self.inner.archive

    async def locate(self) -> None: ...

    async def probe(self) -> AgentHealth:
        return await self.inner.probe()

    async def close(self) -> None:
        await self.inner.close()

    async def open(self, spec: SessionSpec, channel: UserChannel) -> AgentSession:
        session = await self.inner.open(spec, channel)
        self.stamps.ready = time.perf_counter()
        prompt = session.prompt

        async def timed(said: Prompt) -> InputId:
            input_id = await prompt(said)
            if math.isnan(self.stamps.written):
                self.stamps.written = time.perf_counter()
            return input_id

        session.prompt = timed  # type: ignore[method-assign]
        return session


class Bench:
    """A hub with one kind of agent and many topics."""

    def __init__(self, kind: Kind, folder: Path, url: str) -> None:
        self.folder = folder
        place = make_place(folder / "agent")
        self.cwd = place.folder
        self.backend = Watched(kind.make(place, url, Fault.NONE, self._spawn, FreshIds()))
        self.clock = SystemClock()
        self.database = Database.open(folder / "data" / "hub.db", self.clock)
        self._numbers = iter(range(1, 1_000_000))
        delivery, messenger = RecordingDelivery(), RecordingMessenger()
        speaks: Messenger = messenger  # type: ignore[assignment]
        config = BridgeConfig(frozenset({CHAT}), {501: Role.OWNER}, (self.cwd,), kind.name)
        desk = AskDesk(
            config=lambda: config,
            database=self.database,
            delivery=delivery,
            clock=self.clock,
            new_id=lambda: uuid.uuid4().hex[:16],
        )
        self.hub = Hub(
            HubContext(
                config=config,
                messenger=speaks,
                delivery=delivery,
                database=self.database,
                backends={kind.name: self.backend},
                desk=desk,
                clock=self.clock,
                new_id=lambda: uuid.uuid4().hex[:16],
                data=folder / "data",
            )
        )

    async def _spawn(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> LinePipe:
        self.backend.stamps.spawned = time.perf_counter()
        return await spawn(command, cwd, env)

    async def write(self, topic: int, text: str) -> None:
        number = next(self._numbers)
        message = IncomingMessage(number, Place(CHAT, topic), number, PERSON, self.clock.now(), text)
        self.backend.stamps.handled = time.perf_counter()
        await self.hub.handle(message)

    async def turn(self, topic: int, text: str = "play:hello go") -> None:
        """A whole turn."""
        place = Place(CHAT, topic)
        before = self.hub.context.turns.count(place)
        await self.write(topic, text)
        async with asyncio.timeout(TURN_TIMEOUT):
            while self.hub.context.turns.count(place) == before or self.is_busy(topic):  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def is_busy(self, topic: int) -> bool:
        return any(one.is_busy for one in self.hub.topics() if one.place.topic_id == topic)

    async def stop(self) -> None:
        await self.hub.stop()
        await self.backend.close()
        self.database.close()


def cost() -> tuple[int, float]:
    """Processes (this one is the hub) and the memory of all, MB."""
    everyone = [psutil.Process(), *psutil.Process().children(recursive=True)]
    total = 0
    for process in everyone:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return len(everyone), total / 2**20


async def wake(bench: Bench, topics: Sequence[int]) -> list[float]:
    """The hub's own share of waking one sleeping session after the other, milliseconds."""
    found = []
    for topic in topics:
        bench.hub.hibernate_topic(Place(CHAT, topic))
        bench.backend.stamps = Stamps()
        await asyncio.sleep(0.3)
        await bench.turn(topic)
        if not math.isnan(bench.backend.stamps.overhead):
            found.append(bench.backend.stamps.overhead)
    return found


async def bare(bench: Bench, runs: int) -> list[float]:
    """The same without a hub: open, prompt, read to the end."""
    found = []
    for _ in range(runs):
        bench.backend.stamps = Stamps(handled=time.perf_counter())
        session = await bench.backend.open(SessionSpec(bench.cwd, "bare1"), Human())
        await session.prompt(Prompt("play:hello go"))
        async for event in session.events:
            if isinstance(event, TurnFinished | TurnFailed):
                break
        await session.close()
        found.append(bench.backend.stamps.overhead)
    return found


async def measure(kind: Kind, topics: int, wakes: int, folder: Path) -> tuple[int, float, list[float], list[float]]:
    with kind.serve(ScriptedModel(SCRIPTS), make_place(folder / "serving")) as url:
        bench = Bench(kind, folder, url)
        await bench.hub.start()
        try:
            limit = asyncio.Semaphore(AT_ONCE)

            async def begin(topic: int) -> None:
                async with limit:
                    await bench.turn(topic)

            await asyncio.gather(*(begin(topic) for topic in range(1, topics + 1)))
            say(f"{topics} topics have had a turn")
            for topic in range(1, ACTIVE + 1):
                await bench.write(topic, "play:hang go")
            async with asyncio.timeout(TURN_TIMEOUT):
                while sum(one.turn is not None for one in bench.hub.topics()) < ACTIVE:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await asyncio.sleep(1.0)
            processes, memory = cost()
            say(f"{processes} processes, {memory:.0f} MB, {ACTIVE} topics at work")
            woken = await wake(bench, range(topics - wakes + 1, topics + 1))
            floor = await bare(bench, max(3, wakes // 2))
            return processes, memory, woken, floor
        finally:
            await bench.stop()


def main() -> int:
    parser = arguments("sessions")
    parser.add_argument("--kind", choices=sorted(KINDS), default="demo")
    chosen = parser.parse_args()
    topics, wakes = (24, 5) if chosen.quick else (100, 20)
    folder = Path(tempfile.mkdtemp(prefix="hub-sessions-"))
    try:
        processes, memory, woken, floor = asyncio.run(measure(KINDS[chosen.kind], topics, wakes, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = {
        "processes": Figure(processes, 40, "processes"),
        "rss_mb": Figure(memory, 40 * 200, "MB"),
        "wake_overhead_ms": Figure(median(woken) if woken else math.nan, 50, "ms", floor=median(floor)),
    }
    notes = (
        f"{topics} topics of {chosen.kind}, {ACTIVE} at work; median of {len(woken)} wakings (95 %: "
        f"{percentile(woken, 95):.1f} ms), the floor is {len(floor)} openings without a hub. rss_mb adds up resident "
        "memory, shared pages counted each time; its goal is 200 MB for each of 40 processes. The hub runs inside the "
        "benchmark, whose own libraries count too."
    )
    return report("sessions", figures, notes)


if __name__ == "__main__":
    sys.exit(main())
