"""How much a hub's memory grows while it works: fifty topics, twenty minutes, the real program in a process of its own.

Five groups of ten topics, because one group's twenty messages a minute would keep fifty topics waiting. Every topic in
turn gets a task of the demo agent: an echo, a plan, a long table, a command that is allowed by its button. Growth is
the median of the last tenth of the samples less the median of the first tenth after every topic has done a turn.
Children are not counted: they are the agents' own.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bridge.simulator.human import Human, Message
from bridge.simulator.simulator import Simulator
from bridge.simulator.world import OWNER
from tests.benchmarks.report import say

ROOT = Path(__file__).resolve().parents[2]
GROUPS = 5
TOPICS = 10
"""For each group."""
TASKS = ("echo hello", "plan", "table", "run")
BETWEEN = 2.4
"""Seconds between two tasks of the whole hub: five a minute in each group, two or three messages each."""
SAMPLE_EVERY = 5.0
ANSWER_WITHIN = 120.0


@dataclass
class Watch:
    """What was seen: stamps with MB of the hub's process, and how the tasks went."""

    samples: list[tuple[float, float]] = field(default_factory=list)
    warm_at: float = 0.0
    done: int = 0
    failed: int = 0

    def growth(self) -> float:
        """MB between the first and the last tenth after the warm-up; NaN with too few samples."""
        sizes = [size for at, size in self.samples if at >= self.warm_at]
        share = max(1, len(sizes) // 10)
        if len(sizes) < 4:
            return float("nan")
        return statistics.median(sizes[-share:]) - statistics.median(sizes[:share])


def write_settings(folder: Path, simulator: Simulator, chats: Sequence[int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    workspace = folder / "code"
    workspace.mkdir()
    (folder / "settings.toml").write_text(
        f"[telegram]\nbase_url = '{simulator.base_url}'\nbase_file_url = '{simulator.base_file_url}'\n"
        f"chats = {list(chats)}\nusers = [{OWNER.id}]\n[workspace]\nroots = ['{workspace}']\n"
        f"[agents]\ndefault = 'demo'\n[agents.demo.env]\nDEMO_AGENT_HOME = '{folder / 'demo'}'\n",
        encoding="utf-8",
    )


async def soak(minutes: float) -> Watch:
    """Run it; the hub is ended with SIGTERM afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with Simulator() as simulator:
            first = simulator.group.id
            more = [simulator.world.add_group(first - number, f"Group {number}").id for number in range(1, GROUPS)]
            chats = [first, *more]
            write_settings(folder, simulator, chats)
            hub = await start_hub(folder, simulator)
            try:
                return await work([Human(simulator, chat_id=chat) for chat in chats], hub.pid, minutes)
            finally:
                if hub.returncode is None:
                    hub.terminate()
                await asyncio.wait_for(hub.wait(), 60)


async def start_hub(folder: Path, simulator: Simulator) -> asyncio.subprocess.Process:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("AGENT_HUB_")}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", "--data-dir", str(folder), "run", "--headless",
        env={**kept, "AGENT_HUB_TOKEN": simulator.token, "PYTHONPATH": str(ROOT)},
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


async def work(people: Sequence[Human], pid: int, minutes: float) -> Watch:
    """Give tasks round the topics until the time is over, and let the last ones end."""
    watch = Watch()
    begun = time.monotonic()
    topics = [(human, human.create_topic(f"t{number}")) for number in range(TOPICS) for human in people]
    sampling = asyncio.create_task(sample(psutil.Process(pid), watch, begun))
    try:
        async with asyncio.TaskGroup() as tasks:
            for number, (human, topic) in enumerate(itertools.cycle(topics)):
                if time.monotonic() - begun > minutes * 60:
                    break
                if number == len(topics):
                    watch.warm_at = time.monotonic() - begun
                    say(f"soak: every topic was given its first task after {watch.warm_at:.0f} s")
                tasks.create_task(one_task(human, topic, TASKS[(number // len(topics) + number) % len(TASKS)], watch))
                await asyncio.sleep(BETWEEN)
    finally:
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
    return watch


async def one_task(human: Human, topic: int, text: str, watch: Watch) -> None:
    """Write it, allow what is asked, wait for the answer that rings."""
    written = human.write(text, topic)
    try:
        if text == "run":
            card = await human.wait_for(has_allow, ANSWER_WITHIN, topic=topic, after=written.id)
            await human.press(card, "Allow", patience=ANSWER_WITHIN)
        await human.wait_for(is_answer, ANSWER_WITHIN, topic=topic, after=written.id)
    except (TimeoutError, LookupError):
        watch.failed += 1
    else:
        watch.done += 1


def has_allow(message: Message) -> bool:
    return any("Allow" in label for label in message.labels)


def is_answer(message: Message) -> bool:
    return not message.is_silent and not message.labels


async def sample(process: psutil.Process, watch: Watch, begun: float) -> None:
    """Note the size every few seconds until cancelled."""
    while True:
        await asyncio.sleep(SAMPLE_EVERY)
        at, size = time.monotonic() - begun, process.memory_info().rss / 2**20
        watch.samples.append((at, size))
        if len(watch.samples) % 12 == 0:
            say(f"soak: {at / 60:.0f} min, {size:.1f} MB, {watch.done} tasks done, {watch.failed} failed")
