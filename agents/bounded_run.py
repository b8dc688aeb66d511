"""Runs a short command and gives up in time: ``--version``, a status command, the user's login shell.

For commands that answer and end. Agents themselves are started by ``agents.processes``. Nothing a command prints is
logged here: a login shell prints the user's whole environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CHUNK = 65536
KEPT = 1024 * 1024
"""Bytes of stdout and of stderr that are kept; the rest is read and thrown away."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command. ``exit_code`` None: it did not end in time (or was no longer waited for)."""

    exit_code: int | None
    stdout: bytes = field(repr=False, default=b"")
    stderr: bytes = field(repr=False, default=b"")
    failure: str = ""

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace").strip()

    @property
    def complaint(self) -> str:
        """The first line of what went wrong, at most 200 letters."""
        lines = (self.failure or self.stderr.decode("utf-8", "replace")).strip().splitlines()
        return lines[0][:200] if lines else ""


async def run_briefly(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    timeout: float,  # noqa: ASYNC109 - the limit is a promise of this function, not of its caller
    cwd: Path | None = None,
    is_enough: Callable[[bytes], bool] = lambda _: False,
) -> Ran:
    """Run ``command`` for at most ``timeout`` seconds in a session of its own with nothing on stdin.

    Ends early when ``is_enough`` says so of the output so far: a shell's start files may leave something running
    that keeps the pipe open for ever. Never raises for what the command does.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=sys.platform != "win32",
            creationflags=no_window(),
        )
    except OSError as error:
        return Ran(None, failure=error.strerror or str(error))
    out, err = bytearray(), bytearray()
    try:
        async with asyncio.timeout(timeout):
            exit_code = await _gather(process, out, err, is_enough)
    except TimeoutError:
        exit_code = None
    finally:
        await _end(process, patience=1.0 if is_enough(bytes(out)) else 0.0)
    failure = "" if exit_code is not None or is_enough(bytes(out)) else f"no answer within {timeout:g} s"
    return Ran(exit_code, bytes(out), bytes(err), failure)


def no_window() -> int:
    """Windows: a program without a window of its own opens no console."""
    return int(getattr(subprocess, "CREATE_NO_WINDOW", 0))


async def _gather(
    process: asyncio.subprocess.Process, out: bytearray, err: bytearray, is_enough: Callable[[bytes], bool]
) -> int | None:
    assert process.stdout is not None  # noqa: S101 - asked for above
    assert process.stderr is not None  # noqa: S101
    drain = asyncio.ensure_future(_keep(process.stderr, err, lambda _: False))
    try:
        if await _keep(process.stdout, out, is_enough):
            return process.returncode
        await drain
        return await process.wait()
    finally:
        drain.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await drain


async def _keep(stream: asyncio.StreamReader, into: bytearray, is_enough: Callable[[bytes], bool]) -> bool:
    while chunk := await stream.read(CHUNK):
        if len(into) < KEPT:
            into += chunk
        if is_enough(bytes(into)):
            return True
    return False


async def _end(process: asyncio.subprocess.Process, patience: float) -> None:
    """Kill what still runs of the command's own session and collect it.

    ``patience`` in seconds for a command that has said all it had to: what it left running on purpose (a shell's
    start file may start the person's ssh-agent) is in its session, too, and must not die with it.
    """
    if process.returncode is None and patience:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await process.wait()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await process.wait()
    # The transport stays open for as long as a stranger holds the pipe; nothing more is read from it.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
