"""A keyring that never answers holds up neither its caller nor the end of the program."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.daemon_thread import in_daemon_thread

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import asyncio, threading
from app.daemon_thread import in_daemon_thread
async def main():
    try:
        async with asyncio.timeout(0.05):
            await in_daemon_thread(threading.Event().wait)
    except TimeoutError:
        print("gone on")
asyncio.run(main())
"""


@pytest.mark.asyncio
async def test_result_and_error_come_back() -> None:
    assert await in_daemon_thread(lambda: threading.current_thread().daemon)
    with pytest.raises(ZeroDivisionError):
        await in_daemon_thread(lambda: 1 / 0)


@pytest.mark.asyncio
async def test_an_answer_after_the_time_limit_is_dropped() -> None:
    gate = threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await in_daemon_thread(gate.wait)
    gate.set()
    await asyncio.sleep(0.05)


def test_the_program_ends_while_the_work_goes_on() -> None:
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, "gone on")
