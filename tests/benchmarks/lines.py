"""What it costs to read an agent's lines, whatever their length: ``python -m tests.benchmarks.lines --json [--quick]``.

A child writes the same bytes to the hub's own reader (``agents.processes``) and to a bare one of the same run, which
blocks on the pipe to its end and splits once. Claude Code 2.1.332 was measured to write lines of 3.1 MB; a reader that
copies what it has for every new chunk takes twenty times as long for a line twenty times as long. Counted is the
reader's own processor time, so that neither the child nor other programs are in it.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from agents.processes import spawn
from agents.reaper import Reaper
from tests.benchmarks.report import Figure, arguments, report, say

KIB, MIB = 1024, 1024 * 1024
TOTAL = 60 * MIB
LOADS = {"short": 200, "wide": 64 * KIB, "long": 3 * MIB, "whole": TOTAL}
"""Bytes of one line. ``short``: what agents mostly write; ``whole``: all in one line, near the hard stop of 64 MiB."""
CHILD = """
import sys
length, total = int(sys.argv[1]), int(sys.argv[2])
line = b"x" * (length - 1) + b"\\n"
out = sys.stdout.buffer
sys.stdin.readline()
for start in range(0, total, length):
    out.write(line)
out.flush()
"""

Reading = Callable[[int, Path, Reaper], Awaitable[tuple[float, int]]]


async def ours(length: int, folder: Path, reaper: Reaper) -> tuple[float, int]:
    """Processor seconds and number of lines, by the reader that every agent has."""
    process = await spawn([sys.executable, "-c", CHILD, str(length), str(TOTAL)], folder, reaper=reaper)
    try:
        began = time.process_time()
        await process.send(b"go")
        count = 0
        async for _ in process.lines:
            count += 1
        return time.process_time() - began, count
    finally:
        await process.stop(grace=1)


async def bare(length: int, _folder: Path, _reaper: Reaper) -> tuple[float, int]:
    """The same bytes with nothing round them: read the pipe to its end, join, split once."""
    return await asyncio.to_thread(read_and_split, length)


def read_and_split(length: int) -> tuple[float, int]:
    command = [sys.executable, "-c", CHILD, str(length), str(TOTAL)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        pipe, chunks = process.stdout.fileno(), []
        began = time.process_time()
        process.stdin.write(b"go\n")
        while chunk := os.read(pipe, 256 * KIB):  # what asyncio reads at most in one go
            chunks.append(chunk)
        count = sum(1 for line in b"".join(chunks).split(b"\n") if line)
        return time.process_time() - began, count


async def measure(rounds: int) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds of both readers for each load, in pairs that alternate."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in LOADS}
    reaper = Reaper()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(rounds):
                for name, length in LOADS.items():
                    say(f"round {number + 1} of {rounds}: {name} lines")
                    for reading, kept in zip((ours, bare), times[name], strict=True):
                        seconds, count = await reading(length, Path(folder), reaper)
                        expected = -(-TOTAL // length)
                        if count != expected:
                            raise AssertionError(f"{count} lines of {expected} came")
                        kept.append(seconds)
    finally:
        reaper.close()
    return times


def figures_of(times: dict[str, tuple[list[float], list[float]]]) -> dict[str, Figure]:
    """Goals as a share of the bare reader; ``growth`` is our own time for one line against that for twenty."""
    goals = {"short": 6.0, "wide": 2.5, "long": 2.5, "whole": 2.5}
    figures = {
        f"{name}_ratio": Figure(median(our) / median(floor), goals[name], "ratio", 1.0)
        for name, (our, floor) in times.items()
    }
    growth, floor = (median(times["whole"][who]) / median(times["long"][who]) for who in (0, 1))
    figures["growth"] = Figure(growth, 4.0, "ratio", floor)
    return figures


def main() -> int:
    options = arguments("lines").parse_args()
    rounds = 3 if options.quick else 11
    times = asyncio.run(measure(rounds))
    speeds = ", ".join(f"{name} {TOTAL / MIB / median(our):.0f} MiB/s" for name, (our, _) in times.items())
    lengths = ", ".join(f"{name} {length}" for name, length in LOADS.items())
    notes = (
        f"{rounds} rounds of {TOTAL // MIB} MiB through a pipe, bytes of a line: {lengths}; floor: the pipe read"
        f" to its end and split once. growth: one line of {TOTAL // MIB} MiB against lines of 3 MiB. Ours: {speeds}."
    )
    return report("lines", figures_of(times), notes)


if __name__ == "__main__":
    sys.exit(main())
