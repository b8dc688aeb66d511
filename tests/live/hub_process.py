"""The real hub in a process of its own, headless, before a simulated Telegram: to be killed at will."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
import tomlkit

from bridge.simulator.simulator import Simulator
from bridge.simulator.world import OWNER

ROOT = Path(__file__).resolve().parents[2]


class HubProcess:
    """One data folder, any number of lives."""

    def __init__(self, simulator: Simulator, folder: Path, workspace: Path, agents: Mapping[str, object]) -> None:
        self._simulator = simulator
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "telegram": {
                "base_url": simulator.base_url,
                "base_file_url": simulator.base_file_url,
                "chats": sorted(chat.id for chat in simulator.world.chats.values() if chat.id < 0),
                "users": [OWNER.id],
            },
            "workspace": {"roots": [str(workspace)]},
            "agents": {"default": next(iter(agents)), **agents},
        }
        (folder / "settings.toml").write_text(tomlkit.dumps(settings), encoding="utf-8")
        self.child: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        environment = {**os.environ, "AGENT_HUB_TOKEN": self._simulator.token, "PYTHONPATH": str(ROOT)}
        self.child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app", "--data-dir", str(self.folder), "run", "--headless"),
            env=environment,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self.folder,
        )

    def family(self) -> list[psutil.Process]:
        """Everything that descends from the hub now."""
        assert self.child is not None
        return psutil.Process(self.child.pid).children(recursive=True)

    async def kill(self) -> None:
        assert self.child is not None
        self.child.send_signal(signal.SIGKILL)
        await self.child.wait()

    def put_down(self) -> None:
        """Leave nothing behind, also of a test that failed: without its hub every agent ends."""
        if self.child is not None and self.child.returncode is None:
            self.child.kill()

    async def quit(self) -> int:
        assert self.child is not None
        if self.child.returncode is None:
            self.child.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.child.wait(), 60)


async def all_gone(family: list[psutil.Process], seconds: float) -> list[str]:
    """Names of those that still run after so long; empty as soon as none does."""
    deadline = time.monotonic() + seconds
    while True:
        alive = [process for process in family if is_alive(process)]
        if not alive or time.monotonic() > deadline:
            return [name_of(process) for process in alive]
        await asyncio.sleep(0.2)


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def name_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()[:4])
    except psutil.Error:
        return str(process.pid)
