"""``python -m tests.soak --kills N --json``: kill the hub N times with SIGKILL while everything is in motion."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random

import psutil

from app.paths import folders
from bridge.simulator.http import Request, Response
from bridge.simulator.human import Human
from bridge.simulator.limits import UNLIMITED
from bridge.simulator.simulator import Simulator
from bridge.simulator.world import OWNER
from tests.benchmarks.report import Figure, report, say
from tests.soak.ledger import Ledger, Sent, is_at_rest, read_ledger, sent_of
from tests.soak.person import TOKEN, Person

TOPICS = 6
ORPHAN_AGE = 10.0
START_LIMIT = 90.0
REST_LIMIT = 400.0
"""Seconds for the last life to finish everything; a slow turn of the demo agent takes 60."""

SETTINGS = """
[telegram]
base_url = "{base}"
base_file_url = "{files}"
chats = [{chat}]
users = {{ "{user}" = "owner" }}

[workspace]
roots = ["{root}"]

[agents]
default = "demo"

[agents.demo.env]
DEMO_AGENT_HOME = "{demo}"

[hub]
idle_close = 3600
"""


def agents_of(hub: int) -> list[psutil.Process]:
    """The agents' processes and all that they started. The hub's look at the login shell is none of them."""
    found: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(hub).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if any("agents.demo" in word or "agents.reaper" in word for word in child.cmdline()):
                    found += [child, *child.children(recursive=True)]
    return list(dict.fromkeys(found))


@dataclass
class Soak:
    """The run; ``old`` are the processes of killed lives with the time of their kill."""

    simulator: Simulator
    root: Path
    rng: Random
    person: Person
    process: asyncio.subprocess.Process | None = None
    old: list[tuple[float, psutil.Process]] = field(default_factory=list)
    polls: int = 0
    orphans: int = 0
    stale: int = 0
    lost: list[str] = field(default_factory=list)
    sends: list[Sent] = field(default_factory=list)

    async def start(self) -> None:
        """Start a hub and wait until it polls."""
        env = os.environ | {
            "AGENT_HUB_TOKEN": self.simulator.token,
            "SHELL": "/bin/sh",  # a person's own profile may take longer than a life of this soak
        }
        log = (self.root / "hub.log").open("ab")
        self.person.begin_life()
        before = self.polls
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.soak.hub"),
            *("--settings", str(self.root / "settings.toml"), "--data-dir", str(self.root / "data")),
            *("run", "--headless"),
            env=env,
            stdout=log,
            stderr=log,
        )
        log.close()
        try:
            async with asyncio.timeout(START_LIMIT):
                while self.polls == before:  # noqa: ASYNC110 - another process polls
                    await asyncio.sleep(0.05)
        except TimeoutError:
            say((self.root / "hub.log").read_text(encoding="utf-8", errors="replace")[-3000:])
            raise

    def watch_calls(self) -> None:
        """Count the polls (the first one of a life says that the hub is there) and read what the hub says."""
        handle = self.simulator.api.handle

        async def counting(request: Request) -> Response:
            self.polls += request.path.endswith("/getUpdates")
            self.person.mentioned.update(TOKEN.findall(request.body.decode("utf-8", "replace")))
            response = await handle(request)
            if request.path.endswith("/sendMessage") and (sent := sent_of(request, response)) is not None:
                self.sends.append(sent)
            return response

        self.simulator.api.handle = counting  # type: ignore[method-assign]

    async def kill(self) -> None:
        """SIGKILL to the hub alone; what it had started must end by itself."""
        assert self.process
        now = time.monotonic()
        self.old += [(now, child) for child in agents_of(self.process.pid)]
        self.process.kill()
        await self.process.wait()
        self.stale += len(self.person.newly_run() - self.person.allowed)
        self.count_orphans()

    async def stop(self) -> None:
        assert self.process
        self.process.terminate()
        async with asyncio.timeout(30):
            await self.process.wait()

    def count_orphans(self) -> None:
        """Look at those killed long enough ago."""
        now = time.monotonic()
        for killed, child in [entry for entry in self.old if now - entry[0] >= ORPHAN_AGE]:
            self.old.remove((killed, child))
            with contextlib.suppress(psutil.NoSuchProcess):
                if child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
                    self.orphans += 1
                    say(f"still alive: {child.pid} {' '.join(child.cmdline())[:100]}")

    async def life(self) -> None:
        await self.start()
        work = asyncio.create_task(self.person.work())
        await asyncio.sleep(self.rng.uniform(0.2, 6.0))
        await self.kill()
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work

    async def rest(self) -> Ledger:
        """A last life without kills in which everything comes to an end."""
        await self.start()
        calm = asyncio.create_task(self.person.answer_everything())
        database = folders(self.root / "data").database_file
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REST_LIMIT):
                while not is_at_rest(database):  # noqa: ASYNC110 - another process writes it
                    await asyncio.sleep(2)
        await asyncio.sleep(12)
        calm.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await calm
        await self.stop()
        self.count_orphans()
        self.lost = self.person.lost(self.root / "demo")
        return read_ledger(database, self.person.human, self.sends)


async def soak(kills: int, seed: int, root: Path) -> tuple[Soak, Ledger]:
    limits = replace(UNLIMITED, poll_stretch=0.0)
    workspace = root / "workspace"
    workspace.mkdir()
    async with Simulator(limits=limits) as simulator:
        human = Human(simulator)
        (root / "settings.toml").write_text(
            SETTINGS.format(
                base=simulator.base_url,
                files=simulator.base_file_url,
                chat=simulator.group.id,
                user=OWNER.id,
                root=workspace.as_posix(),
                demo=(root / "demo").as_posix(),
            ),
            encoding="utf-8",
        )
        topics = [human.create_topic(f"soak {number}") for number in range(TOPICS)]
        rng = Random(seed)
        run = Soak(simulator, root, rng, Person(human, rng, workspace, topics))
        run.watch_calls()
        try:
            for number in range(kills):
                await run.life()
                say(f"{number + 1} kills, {len(run.person.written)} tasks, {len(run.person.ran)} commands run")
            ledger = await run.rest()
        finally:
            if run.process and run.process.returncode is None:
                run.process.kill()
                await run.process.wait()
        return run, ledger


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--keep", action="store_true", help="keep database, logs and what was sent also when all is well"
    )
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="agent-hub-soak-"))
    run, ledger = asyncio.run(soak(options.kills, options.seed, root))
    if run.lost:
        say(f"lost: {run.lost}")
    for sent in ledger.unmarked:
        say(f"sent again without a mark: {sent}")
    kills = float(options.kills)
    figures = {
        "kills": Figure(kills, kills, "count", more_is_better=True),
        "lost_in": Figure(float(len(run.lost) + ledger.unfinished), 0.0, "count"),
        "lost_out": Figure(float(ledger.unsent), 0.0, "count"),
        "doubled": Figure(float(ledger.repeats), kills, "count"),
        "doubled_unmarked": Figure(float(len(ledger.unmarked)), 0.0, "count"),
        "stale_decisions": Figure(float(run.stale), 0.0, "count"),
        "orphans": Figure(float(run.orphans), 0.0, "count"),
    }
    notes = (
        f"{len(run.person.written)} tasks in {TOPICS} topics, {len(run.person.ran)} commands allowed and run,"
        f" {run.person.stale_pressed} presses on cards of former lives. The flood budget is opened on both sides."
    )
    code = report("soak", figures, notes)
    lines = [json.dumps(asdict(sent), ensure_ascii=False) for sent in run.sends]
    (root / "sends.jsonl").write_text("\n".join(lines), encoding="utf-8")
    if code or options.keep:
        say(f"everything is kept in {root}")
    else:
        shutil.rmtree(root)
    return code


if __name__ == "__main__":
    sys.exit(main())
