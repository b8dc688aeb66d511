"""What the hub costs while it waits: memory, idle CPU, time to the first poll, time to an open window.

    python -m tests.benchmarks.footprint --json [--quick] [--soak-minutes 20]

The floor is a bare program that imports the same libraries and polls. Offscreen Qt has no tray host; a desktop's own
platform plugin costs a little more. Figures are read by psutil from outside.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from tests.benchmarks.hub_soak import GROUPS, TOPICS, soak
from tests.benchmarks.report import Figure, arguments, report, say

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "7000000001:AAsimulated-token-of-a-bot-that-is-not_real"
SOAK_MINUTES = 20.0
SOAK_GOAL = 10.0
"""MB that a working hub may grow by in these minutes."""
SETTLE = 4.0
"""Seconds after the first poll until memory is read."""

BARE = """
import sqlite3, sys, asyncio
import telegram, httpx, markdown_it, pydantic, tomlkit
from telegram import Bot
{qt}
async def main():
    bot = Bot({token!r}, base_url=sys.argv[1])
    await bot.initialize()
    while True:
        await bot.get_updates(timeout=25, read_timeout=40)
asyncio.run(main())
"""
BARE_QT = """
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from PySide6.QtGui import QPixmap, QIcon
application = QApplication(sys.argv[:1])
icon = QSystemTrayIcon(QIcon(QPixmap(16, 16)))
icon.show()
"""
WINDOW = """
import sys, time, tempfile
from PySide6.QtCore import QSettings
from app.facade import HubSnapshot, SessionRow, SessionState
from app.ui.program import make_application
application = make_application()
from app.ui.window import MainWindow
from app.ui.palette import dress
rows = tuple(
    SessionRow(str(n), f"topic {n}", -1001, n, "Claude Code", "/code", SessionState.IDLE, 0.0) for n in range(1000)
)
lines = [f"12:00 INFO hub: line {n}" for n in range(100_000)]
began = time.perf_counter()
window = MainWindow(QSettings(tempfile.mktemp(), QSettings.Format.IniFormat))
window.show_snapshot(HubSnapshot(sessions=rows))
window.show()
application.processEvents()
opened = time.perf_counter() - began
window.activity.append_log(lines)
application.processEvents()
print(opened * 1000, (time.perf_counter() - began) * 1000)
"""


class Polls:
    """A loopback Bot API that only knows who the bot is and holds every poll open."""

    def __init__(self) -> None:
        self.first_poll: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                length = 0
                while (header := await reader.readline()) not in {b"\r\n", b""}:
                    if header.lower().startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                await reader.readexactly(length)
                await self._answer(line, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    async def _answer(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        result = "true"
        if b"/getUpdates" in line:
            if not self.first_poll.done():
                self.first_poll.set_result(time.perf_counter())
            await asyncio.sleep(20)
            result = "[]"
        elif b"/getMe" in line:
            result = '{"id": 7000000001, "is_bot": true, "first_name": "hub", "username": "hub_bot"}'
        body = f'{{"ok": true, "result": {result}}}'.encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        await writer.drain()


@asynccontextmanager
async def polls() -> AsyncIterator[Polls]:
    served = Polls()
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/bot"
    try:
        yield served
    finally:
        server.close()


def settings(folder: Path, url: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.toml").write_text(
        f"[telegram]\nbase_url = '{url}'\nchats = [-1001]\nusers = [7]\n[workspace]\nroots = ['{folder}']\n",
        encoding="utf-8",
    )


def environment() -> dict[str, str]:
    wanted = {
        "AGENT_HUB_TOKEN": TOKEN,
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
        "DISPLAY": os.environ.get("DISPLAY", ":0"),
    }
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, **wanted}


async def look_at(command: Sequence[str], served: Polls, watch: float, folder: str) -> tuple[float, float, float]:
    """Start it; returns ms to the first poll, MB of the process after it settled, and its share of a core when idle."""
    began = time.perf_counter()
    child = await asyncio.create_subprocess_exec(
        *command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    )
    try:
        async with asyncio.timeout(60):
            first = await served.first_poll
        await asyncio.sleep(SETTLE)
        process = psutil.Process(child.pid)
        memory = process.memory_info().rss / 2**20
        before = sum(process.cpu_times()[:2])
        await asyncio.sleep(watch)
        share = (sum(process.cpu_times()[:2]) - before) / watch if watch else 0.0
        return (first - began) * 1000, memory, share
    finally:
        if child.returncode is None:
            child.terminate()
            await child.wait()


async def measure(kind: str, runs: int, watch: float) -> tuple[float, float, float]:
    """Medians over ``runs`` of one kind of program: hub, tray, bare or bare-tray."""
    starts, sizes, shares = [], [], []
    for number in range(runs):
        async with polls() as served:
            with tempfile.TemporaryDirectory() as folder:
                settings(Path(folder), served.url)
                hub = [sys.executable, "-m", "app", "--data-dir", folder, "run"]
                qt = BARE_QT if kind == "bare-tray" else ""
                command = {
                    "hub": [*hub, "--headless"],
                    "tray": hub,
                }.get(kind, [sys.executable, "-c", BARE.format(token=TOKEN, qt=qt), served.url])
                start, size, share = await look_at(command, served, watch if number == 0 else 0.0, folder)
        starts.append(start)
        sizes.append(size)
        if number == 0:
            shares.append(share)
        say(f"{kind}: {start:.0f} ms, {size:.0f} MB" + (f", {share:.4f} of a core" if number == 0 and watch else ""))
    return statistics.median(starts), statistics.median(sizes), shares[0]


def open_window(runs: int) -> tuple[float, float]:
    """Medians in ms: the window with 1,000 sessions, and the same with 100,000 log lines."""
    found = []
    for _ in range(runs):
        ran = subprocess.run(
            [sys.executable, "-c", WINDOW],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            cwd=ROOT,
        )
        found.append([float(number) for number in ran.stdout.split()])
    opened, with_log = (statistics.median(column) for column in zip(*found, strict=True))
    say(f"window: {opened:.0f} ms, with 100,000 log lines {with_log:.0f} ms")
    return opened, with_log


async def grow(minutes: float) -> tuple[dict[str, Figure], str]:
    """The long part: MB that a working hub grows by. Tasks that failed make the figure worthless."""
    watch = await soak(minutes)
    growth = watch.growth() if watch.done and not watch.failed else float("nan")
    said = (
        f"; soak of {minutes:g} min: {GROUPS * TOPICS} topics, {watch.done} tasks done, {watch.failed} failed, "
        f"{len(watch.samples)} samples, counted from {watch.warm_at:.0f} s on"
    )
    return {"soak_growth_mb": Figure(growth, SOAK_GOAL, "MB")}, said


async def main(*, quick: bool, soak_minutes: float) -> int:
    runs, watch = (3, 20.0) if quick else (7, 60.0)
    bare_start, bare_size, _ = await measure("bare", runs, 0.0)
    hub_start, hub_size, idle = await measure("hub", runs, watch)
    _, bare_tray_size, _ = await measure("bare-tray", 1 if quick else 3, 0.0)
    _, tray_size, _ = await measure("tray", 1 if quick else 3, 0.0)
    opened, with_log = open_window(2 if quick else 5)
    figures = {
        "headless_rss_mb": Figure(hub_size, 85, "MB", bare_size),
        "tray_rss_mb": Figure(tray_size, 150, "MB", bare_tray_size),
        "idle_cpu_share": Figure(idle, 0.002, "share of a core", 0.0),
        "start_ms": Figure(hub_start, 2 * bare_start, "ms", bare_start),
        "window_open_ms": Figure(opened, 300, "ms"),
    }
    notes = (
        f"medians of {runs} starts (tray: {1 if quick else 3}); idle watched for {watch:.0f} s; offscreen Qt; "
        f"window with 1,000 sessions, {with_log:.0f} ms with 100,000 log lines"
    )
    if not quick:
        grown, said = await grow(soak_minutes)
        figures.update(grown)
        notes += said
    return report("footprint", figures, notes)


if __name__ == "__main__":
    parser = arguments("footprint")
    parser.add_argument("--soak-minutes", type=float, default=SOAK_MINUTES, help="shorten the soak (to try it)")
    parser.add_argument("--soak-only", action="store_true", help="leave out everything else (to try it)")
    options = parser.parse_args()
    if options.soak_only:
        only, remark = asyncio.run(grow(options.soak_minutes))
        raise SystemExit(report("footprint", only, remark.removeprefix("; ")))
    raise SystemExit(asyncio.run(main(quick=options.quick, soak_minutes=options.soak_minutes)))
