"""How long a permission request takes from the agent's pipe to Telegram's wire, and a press back to the agent's pipe.

The whole hub is in the path: adapter, desk, registry, outbox, journal, policy, poller, client. The floor does the same
work without a hub: the library's bare call plus one commit outward, its bare poll plus one FULL commit and a bare pipe
inward. Both take turns in one process against one loopback server in another.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from telegram.ext import ExtBot
from telegram.request import HTTPXRequest

from agents.acp.backend import Program
from agents.catalogue import Finder
from agents.contract import AgentLaunch
from agents.demo.backend import DemoBackend
from app.engine import Engine
from app.paths import folders
from app.settings import AgentsSettings, Settings, TelegramSettings, WorkspaceSettings
from bridge import budget
from bridge.config import Role
from tests.benchmarks.report import Figure, arguments, percentile, report, say
from tests.benchmarks.wire_server import CHAT, OWNER

CHILD = Path(__file__).with_name("asking_child.py")
BLOCK = 20
BUSY_SESSIONS = 20
BUSY_RATE = 50


class Server:
    """The loopback Bot API in its own process."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.base_url = f"http://127.0.0.1:{port}/bot"
        self.message_id = 10

    @classmethod
    async def start(cls) -> Server:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.benchmarks.wire_server", stdin=pipe, stdout=pipe, limit=1 << 26
        )
        assert process.stdout
        return cls(process, int(await process.stdout.readline()))

    async def command(self, value: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        await self.process.stdin.drain()

    async def message(self, topic: int, **content: Any) -> None:
        self.message_id += 1
        frame = {"message_id": self.message_id, "from": OWNER, "chat": CHAT, "date": int(time.time())}
        inside = {"message_thread_id": topic, "is_topic_message": True}
        await self.command({"push": {"message": {**frame, **inside, **content}}})

    async def stamps(self) -> dict[str, dict[str, int]]:
        await self.command({"report": True})
        assert self.process.stdout
        found = json.loads(await self.process.stdout.readline())
        assert isinstance(found, dict)
        return found


class BenchBackend(DemoBackend):
    """The demo agent's adapter on the benchmark's own child."""

    stamps: Path

    async def program(self) -> Program:
        env = await self.finder.child_variables(None, AgentLaunch())
        return Program((sys.executable, str(CHILD), str(self.stamps), "acp"), env)


@contextlib.asynccontextmanager
async def hub(server: Server, root: Path, stamps: Path) -> AsyncIterator[Engine]:
    """The real hub. Only the flood budget is opened, or 500 requests would take half an hour."""
    budget.GROUP = budget.Limits((10**6,) * 6, burst=10**6, gap=1e-6)
    workspace = root / "workspace"
    workspace.mkdir(parents=True)
    settings = Settings(
        telegram=TelegramSettings(base_url=server.base_url, chats=(CHAT["id"],), users={OWNER["id"]: Role.OWNER}),
        workspace=WorkspaceSettings(roots=(workspace,)),
        agents=AgentsSettings(default="demo"),
    )
    backend = BenchBackend(AgentLaunch(), Finder())
    backend.stamps = stamps
    engine = Engine(settings, "1:" + "A" * 35, folders(root), backends={"demo": backend})
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


@dataclass
class Bare:
    """The floor: what any bridge must do, and nothing else."""

    bot: ExtBot[None]
    child: asyncio.subprocess.Process
    database: sqlite3.Connection
    durable: sqlite3.Connection
    offset: int = 0
    decided: asyncio.Queue[None] = field(default_factory=asyncio.Queue)

    @classmethod
    async def start(cls, server: Server, folder: Path, stamps: Path) -> Bare:
        def request() -> HTTPXRequest:
            limits = httpx.Limits(max_connections=8, keepalive_expiry=120)
            return HTTPXRequest(read_timeout=20, httpx_kwargs={"limits": limits, "trust_env": False})

        bot: ExtBot[None] = ExtBot(
            "2:" + "B" * 35, base_url=server.base_url, request=request(), get_updates_request=request()
        )
        await bot.initialize()
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            sys.executable, str(CHILD), str(stamps), "bare", stdin=pipe, stdout=pipe, limit=1 << 24
        )
        return cls(bot, child, connect(folder / "bare.db", "NORMAL"), connect(folder / "bare.db", "FULL"))

    async def block(self, count: int, name: str) -> None:
        """Let the child ask ``count`` times; sender and poller run side by side, as in any bridge."""
        assert self.child.stdin
        self.child.stdin.write(json.dumps({"ask": count, "name": name}).encode() + b"\n")
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send(count))
            tasks.create_task(self._poll(count))

    async def _send(self, count: int) -> None:
        from telegram import InlineKeyboardButton, InlineKeyboardMarkup

        assert self.child.stdout
        for _ in range(count):
            ask = json.loads(await self.child.stdout.readline())
            with self.database:
                self.database.execute("INSERT INTO pending (body) VALUES (?)", (ask["command"],))
                self.database.execute("INSERT INTO outbox (body) VALUES (?)", (ask["reason"],))
            keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Allow", callback_data=f"p:a:{ask['id']}")]])
            await self.bot.send_message(CHAT["id"], f"<b>{ask['command']}</b>", "HTML", reply_markup=keyboard)

    async def _poll(self, count: int) -> None:
        assert self.child.stdin
        while count:
            for update in await self.bot.get_updates(offset=self.offset, timeout=20):
                self.offset = update.update_id + 1
                with self.durable:
                    self.durable.execute("INSERT INTO journal (body) VALUES (?)", (update.to_json(),))
                self.child.stdin.write(b'{"type": "decision", "verdict": "allow"}\n')
                count -= 1

    async def close(self) -> None:
        self.child.kill()
        await self.child.wait()
        await self.bot.shutdown()
        self.database.close()
        self.durable.close()


def connect(path: Path, synchronous: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    for table in ("pending", "outbox", "journal"):
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, body TEXT)")
    connection.commit()
    return connection


async def lines_in(stamps: Path, count: int) -> None:
    """Wait until the child has stamped so many steps."""
    async with asyncio.timeout(60 + count):
        while not stamps.exists() or stamps.read_text(encoding="utf-8").count("\n") < count:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # another process writes the file


@dataclass
class Bench:
    """Both senders, and how many steps each has done."""

    server: Server
    bare: Bare
    stamps: Path
    done: int = 0

    async def blocks(self, name: str, count: int) -> None:
        """Blocks of both, in turn; the order changes from block to block."""
        for number in range(count):
            order = [self._ours, self._floor] if number % 2 else [self._floor, self._ours]
            for work in order:
                await work(name)
            say(f"{name or 'idle'}: {(number + 1) * BLOCK} of {count * BLOCK} requests")

    async def _ours(self, name: str) -> None:
        await self.server.message(7, text=f"ask {BLOCK} ours{name}")
        self.done += BLOCK
        await lines_in(self.stamps, self.done)
        await asyncio.sleep(0.3)

    async def _floor(self, name: str) -> None:
        await self.bare.block(BLOCK, f"floor{name}")
        await asyncio.sleep(0.3)

    async def make_busy(self) -> None:
        for topic in range(100, 100 + BUSY_SESSIONS):
            await self.server.message(topic, forum_topic_created={"name": f"busy {topic}", "icon_color": 7322096})
            await self.server.message(topic, text=f"stream {BUSY_RATE}")
        await asyncio.sleep(8)


def stamped(path: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        step, written, decided = line.split()
        found[step] = (int(written), int(decided))
    return found


def delays(
    child: dict[str, tuple[int, int]], server: dict[str, dict[str, int]], name: str
) -> tuple[list[float], list[float]]:
    """Milliseconds outward and inward of the steps of one name; the first few of all warm the connections."""
    steps = [step for step in child if step.rsplit("-", 1)[0] == name][5:]
    outward = [(server["arrived"][step] - child[step][0]) / 1e6 for step in steps]
    inward = [(child[step][1] - server["served"][step]) / 1e6 for step in steps]
    return outward, inward


async def measure(blocks: int) -> tuple[dict[str, tuple[int, int]], dict[str, dict[str, int]]]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        stamps, bare_stamps = root / "ours.txt", root / "floor.txt"
        server = await Server.start()
        bare = await Bare.start(server, root, bare_stamps)
        try:
            async with hub(server, root / "hub", stamps):
                await server.message(7, forum_topic_created={"name": "bench", "icon_color": 7322096})
                bench = Bench(server, bare, stamps)
                await bench.blocks("", blocks)
                await bench.make_busy()
                await bench.blocks("busy", blocks)
                found = await server.stamps()
        finally:
            await bare.close()
            server.process.kill()
            await server.process.wait()
        return stamped(stamps) | stamped(bare_stamps), found


def figures_of(values: tuple[Sequence[float], ...], floors: tuple[Sequence[float], ...]) -> dict[str, Figure]:
    """Goals: 2.5 times the floor at the median and 4 times at p99, both of the same run."""
    figures = {}
    for direction, ours, floor in zip(("request", "decision"), values, floors, strict=True):
        for share, factor in ((50, 2.5), (99, 4.0)):
            bare = percentile(floor, share)
            figures[f"{direction}_p{share}"] = Figure(percentile(ours, share), factor * bare, "ms", bare)
    return figures


def main() -> int:
    options = arguments("roundtrip").parse_args()
    logging.disable(logging.CRITICAL)
    blocks = 2 if options.quick else 12
    child, server = asyncio.run(measure(blocks))
    idle, idle_floor = delays(child, server, "ours"), delays(child, server, "floor")
    busy, busy_floor = delays(child, server, "oursbusy"), delays(child, server, "floorbusy")
    figures = figures_of(idle, idle_floor)
    for key, figure in figures_of(busy, busy_floor).items():
        goal = 1.5 * figures[key].value if key.endswith("p50") else figure.goal
        figures[f"{key}_busy"] = Figure(figure.value, goal, "ms", figure.floor)
    notes = (
        f"{len(idle[0])} requests each, in blocks of {BLOCK} that alternate with the floor's, idle and then beside"
        f" {BUSY_SESSIONS} sessions that stream {BUSY_RATE} lines a second each; the goal of a busy median is 1.5 times"
        " our own idle one, whatever the floor beside it. The flood budget is opened for the run; registry, outbox,"
        " journal and policy are in the path. Stamps come from the machine's monotonic clock in each process."
    )
    return report("roundtrip", figures, notes)


if __name__ == "__main__":
    sys.exit(main())
