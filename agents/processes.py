"""Agent programs as child processes: start, read lines without a limit, write until the pipe has it, end the tree.

Belongs to the engine's event loop. It knows nothing of any protocol: adapters get bytes by the line and give bytes by
the line through ``LinePipe``, which a recorded exchange can play as well as a process.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from agents.contract import AgentError, AgentGoneError, AgentNotFoundError, sentence
from agents.environment import child_environment
from agents.job_object import JobObject
from agents.lines import MAX_LINE, LineSplitter, LineTooLongError, StderrTail
from agents.process_tree import MARK, ProcessRecord, descendants, end_all, marked, signal_group
from agents.reaper import Reaper, shared_reaper
from agents.shims import is_shim, resolve_shim

__all__ = ["AgentProcess", "LinePipe", "LineTooLongError", "ProcessRecord", "child_environment", "spawn", "sweep"]

SEND_TIMEOUT = 60.0
"""Seconds an agent may leave its stdin unread before it counts as gone."""
_READ_AHEAD = 8 * 1024 * 1024
"""Bytes of whole lines that wait for a slow reader before the pipe is left unread."""
_READ_AGAIN = 1024 * 1024
_LAST_WORDS = 0.5
"""Seconds after the end in which stderr may still bring something."""
_EOF_GRACE = 2.0
"""Seconds a dead agent's stdout may stay open (a child of it may hold it) before we stop reading."""


class LinePipe(Protocol):
    """A two-way pipe of lines to an agent."""

    @property
    def pid(self) -> int | None:
        """The process behind it, None when there is none (any more)."""

    @property
    def last_heard(self) -> float:
        """Monotonic seconds of the last byte that came in."""

    @property
    def stderr_tail(self) -> str:
        """The last 100 lines of stderr."""

    @property
    def lines(self) -> AsyncIterator[bytes]:
        """Lines without their ends; one consumer. Ends with the stream; raises LineTooLongError."""

    async def send(self, line: bytes) -> None:
        """Write one line (its end is added). Returns when the pipe has taken it. Raises AgentGoneError."""

    def close_input(self) -> None:
        """End of input for the agent."""

    async def wait(self) -> int | None:
        """Wait for the end and for the last of stderr; the exit code, negative for a signal."""

    async def stop(self, grace: float = 5.0) -> int | None:
        """TERM, ``grace`` seconds, KILL, for the whole tree. Idempotent, never raises."""


async def spawn(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    *,
    reaper: Reaper | None = None,
    max_line: int = MAX_LINE,
) -> AgentProcess:
    """Start a program in a session of its own, with pipes and without a window.

    ``env`` is the whole environment; None means ``child_environment()``. Raises AgentNotFoundError (the program),
    AgentError (the folder, or the system refused).
    """
    argv = _real_command(command)
    if not await asyncio.to_thread(cwd.is_dir):
        raise AgentError(
            sentence("The working folder is gone."), hint=sentence("Choose another folder with /new."), detail=str(cwd)
        )
    mark = secrets.token_hex(8)
    process = AgentProcess(reaper or shared_reaper(), LineSplitter(max_line), mark)
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: process.protocol,
            *argv,
            cwd=cwd,
            env={**(child_environment() if env is None else env), MARK: mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=sys.platform != "win32",
            creationflags=_creation_flags(),
        )
    except FileNotFoundError as error:
        raise AgentNotFoundError(
            sentence("The program {name} was not found.", name=Path(argv[0]).name),
            hint=sentence("Install it, or set its path in the settings."),
            detail=f"tried {argv[0]}",
        ) from error
    except OSError as error:
        raise AgentError(
            sentence("The program {name} can't be started.", name=Path(argv[0]).name),
            hint=sentence("Check that the file may be executed."),
            detail=f"{argv[0]}: {error.strerror or error}",
        ) from error
    process.adopt()
    return process


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0


def _real_command(command: Sequence[str]) -> list[str]:
    program, *arguments = command
    if not is_shim(program):
        return [program, *arguments]
    path = Path(program)
    if not path.is_file():
        raise AgentNotFoundError(
            sentence("The program {name} was not found.", name=path.name),
            hint=sentence("Set its path in the settings."),
            detail=f"tried {program}",
        )
    return [*resolve_shim(path, shutil.which), *arguments]


async def sweep(records: Iterable[ProcessRecord], grace: float = 2.0, *, marks: Iterable[str] = ()) -> int:
    """End what an earlier life of the hub left running; how many processes that were. Never ends a foreign one.

    ``marks``: an agent that is gone may have left something that carries its own.
    """
    return await asyncio.to_thread(_sweep, tuple(records), tuple(marks), grace)


def _sweep(records: Sequence[ProcessRecord], marks: Sequence[str], grace: float) -> int:
    everyone = {record for record in records if record.is_alive}.union(*(marked(mark) for mark in marks))
    if not everyone:
        return 0
    everyone |= descendants(everyone)
    end_all(everyone, grace)
    return len(everyone)


class AgentProcess:
    """One running agent program; a ``LinePipe``."""

    def __init__(self, reaper: Reaper, splitter: LineSplitter, mark: str) -> None:
        self.protocol = _PipeProtocol(splitter)
        self._reaper = reaper
        self._mark = mark
        self._record: ProcessRecord | None = None
        self._job: JobObject | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._send_lock = asyncio.Lock()

    def adopt(self) -> None:
        """Put the process that has just started under watch. Called once, by ``spawn``."""
        pid = self.protocol.transport.get_pid()
        self._record = None if pid is None else ProcessRecord.of(pid)
        if self._record is None:
            return
        if sys.platform == "win32":
            with contextlib.suppress(OSError):
                self._job = JobObject(self._record.pid)
        self._reaper.register(self._record, self._mark)
        self.protocol.exited.add_done_callback(self._forget)

    @property
    def pid(self) -> int | None:
        return None if self.protocol.exited.done() else self.protocol.transport.get_pid()

    @property
    def record(self) -> ProcessRecord | None:
        """Worth keeping on disk for a ``sweep`` after a crash of the computer's session."""
        return self._record

    @property
    def last_heard(self) -> float:
        return self.protocol.last_heard

    @property
    def stderr_tail(self) -> str:
        return self.protocol.stderr.text

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self.protocol.read_lines()

    async def send(self, line: bytes) -> None:
        async with self._send_lock:
            try:
                async with asyncio.timeout(SEND_TIMEOUT):
                    await self.protocol.write(line + b"\n")
            except TimeoutError as error:
                raise AgentGoneError(
                    sentence("The agent takes no input any more."),
                    hint=sentence("Stop the session and send the message again."),
                    detail=f"stdin unread for {SEND_TIMEOUT:.0f} s",
                ) from error

    def close_input(self) -> None:
        self.protocol.close_input()

    async def wait(self) -> int | None:
        await asyncio.shield(self.protocol.exited)
        with contextlib.suppress(TimeoutError):  # a child of it may hold the pipes open
            async with asyncio.timeout(_LAST_WORDS):
                await self.protocol.closed.wait()
        return self.protocol.transport.get_returncode()

    async def stop(self, grace: float = 5.0) -> int | None:
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._end_tree(grace))
        await asyncio.shield(self._stopping)
        return self.protocol.transport.get_returncode()

    async def _end_tree(self, grace: float) -> None:
        record = self._record
        if record is None:  # it was over before it could be looked at
            self.protocol.abandon_output()
            return
        # Looked up before anything dies: an orphan can't be told from a stranger afterwards.
        below = await asyncio.to_thread(self._below, record)
        self.close_input()
        if sys.platform == "win32":
            await self._exits_within(grace)
            if self._job is not None:
                self._job.terminate()
            await self._exits_within(grace)
            self.protocol.abandon_output()
            return
        if self.pid is not None:
            signal_group(record, signal.SIGTERM)
            await self._exits_within(grace)
            below |= await asyncio.to_thread(self._below, record, *below)
        signal_group(record, signal.SIGKILL)
        await asyncio.to_thread(end_all, below, 1.0)
        await self._exits_within(grace)
        self.protocol.abandon_output()

    def _below(self, *records: ProcessRecord) -> set[ProcessRecord]:
        return descendants(records) | marked(self._mark)

    async def _exits_within(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.shield(self.protocol.exited)

    def _forget(self, _: asyncio.Future[None]) -> None:
        if self._record is not None:
            self._reaper.release(self._record)
        if self._job is not None:
            self._job.close()
            self._job = None


class _PipeProtocol(asyncio.SubprocessProtocol):
    """The event loop's side of the three pipes."""

    def __init__(self, splitter: LineSplitter) -> None:
        self.stderr = StderrTail()
        self.last_heard = time.monotonic()
        self._splitter = splitter
        self._lines: deque[bytes] = deque()
        self._queued = 0
        self._is_paused = False
        self._is_at_end = False
        self._failure: LineTooLongError | None = None
        self.closed = asyncio.Event()
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_input_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.SubprocessTransport, transport)
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # 0: "writable again" then means that the kernel's pipe holds every byte.
        self._input().set_write_buffer_limits(high=0)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        if isinstance(data, str):  # only the annotation of the base class allows it
            return
        self.last_heard = time.monotonic()
        if fd == 2:
            self.stderr.feed(data)
            return
        if self._failure is not None or self._is_at_end:
            return
        try:
            lines = self._splitter.feed(data)
        except LineTooLongError as error:
            self._failure = error
            self._end_output()
            return
        for line in lines:
            self._queue(line)

    def _queue(self, line: bytes) -> None:
        self._lines.append(line)
        self._queued += len(line)
        self._news.set()
        if self._queued > _READ_AHEAD and not self._is_paused:
            self._is_paused = True
            self._output().pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._is_input_closed = True
            self._writable.set()
        elif fd == 1:
            self._end_output()

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)
        asyncio.get_running_loop().call_later(_EOF_GRACE, self._stop_waiting_for_eof)

    def _stop_waiting_for_eof(self) -> None:
        if self._is_at_end:
            return
        if self._is_paused:  # a slow reader: what the agent said last is still in the pipe
            asyncio.get_running_loop().call_later(_EOF_GRACE, self._stop_waiting_for_eof)
            return
        self.abandon_output()

    def abandon_output(self) -> None:
        """Nothing more is read; lines that came already can still be taken."""
        self._end_output()
        self.transport.close()

    def _end_output(self) -> None:
        if self._is_at_end:
            return
        rest = b"" if self._failure is not None else self._splitter.flush()
        if rest:
            self._queue(rest)
        self._is_at_end = True
        self._news.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()
        self._end_output()

    async def write(self, data: bytes) -> None:
        """Write and wait until the kernel has every byte. Raises AgentGoneError."""
        pipe = self._input()
        if self._is_input_closed or self.exited.done() or pipe.is_closing():
            raise self._gone()
        pipe.write(data)
        await self._writable.wait()
        if self._is_input_closed:
            raise self._gone()

    def close_input(self) -> None:
        if not self._is_input_closed:
            self._input().close()

    async def read_lines(self) -> AsyncIterator[bytes]:
        """See ``LinePipe.lines``."""
        while True:
            while self._lines:
                line = self._lines.popleft()
                self._queued -= len(line)
                if self._is_paused and self._queued < _READ_AGAIN:
                    self._is_paused = False
                    with contextlib.suppress(RuntimeError):  # closed meanwhile
                        self._output().resume_reading()
                yield line
            if self._failure is not None:
                raise self._failure
            if self._is_at_end:
                return
            self._news.clear()
            await self._news.wait()

    def _input(self) -> asyncio.WriteTransport:
        return cast(asyncio.WriteTransport, self.transport.get_pipe_transport(0))

    def _output(self) -> asyncio.ReadTransport:
        return cast(asyncio.ReadTransport, self.transport.get_pipe_transport(1))

    def _gone(self) -> AgentGoneError:
        return AgentGoneError(
            sentence("The agent's program has ended."),
            hint=sentence("Send the message again to start it anew."),
            detail=self.stderr.text,
        )
