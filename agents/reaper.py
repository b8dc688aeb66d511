"""Ends agents whose hub was killed: a small child program, started once per hub, and the hub's handle on it.

The child holds the reading end of a pipe. The hub writes ``+PID BIRTH MARK`` when an agent starts and ``-PID`` when it
ended: what it left behind is ended then. When the hub dies in whatever way, the pipe ends, and everything that is still
registered is ended with all it started. Claude's background shells live in sessions of their own and lose their parent
when the agent dies (measured on Claude Code 2.1.332): a mark in their environment finds them, and for those that lost
the mark, too, the child looks every few seconds who descends from whom.
It costs nothing while no agent runs. Windows needs none of this: a job object does it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from agents.process_tree import MarkedProcess, ProcessRecord, descendants, end_all, marked, process_table, signal_group

LOOK_EVERY = 5.0
"""Seconds between two looks at the process table while something is registered; one costs some 10 ms."""
GRACE = 2.0
"""Seconds an orphan has between TERM and KILL."""
FLAG = "--reaper"
"""The hidden argument by which a frozen application enters here instead of its own ``main``."""


def command() -> list[str]:
    """How to start the child: a frozen application has no ``-m`` and re-enters itself."""
    if getattr(sys, "frozen", False):
        return [sys.executable, FLAG]
    return [sys.executable, "-m", "agents.reaper"]


class Reaper:
    """The hub's side. Cheap to make; the child starts with the first registration."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._registered: dict[int, ProcessRecord] = {}
        self._marks: dict[int, str] = {}

    @property
    def registered(self) -> tuple[ProcessRecord, ...]:
        """What runs now."""
        return tuple(self._registered.values())

    @property
    def running(self) -> tuple[MarkedProcess, ...]:
        """The same with their marks; worth keeping on disk for a ``sweep`` at the next start."""
        return tuple(MarkedProcess(record, self._marks.get(pid, "")) for pid, record in self._registered.items())

    def register(self, record: ProcessRecord, mark: str = "") -> None:
        """From now on this process, all that descend from it and all that carry ``mark`` die with the hub."""
        self._registered[record.pid] = record
        self._marks[record.pid] = mark
        self._write(self._entry(record))

    def release(self, record: ProcessRecord) -> None:
        """The process is gone; what it left behind is ended now."""
        self._marks.pop(record.pid, None)
        if self._registered.pop(record.pid, None) is not None:
            self._write(f"-{record.pid}")

    def _entry(self, record: ProcessRecord) -> str:
        return f"+{record.pid} {record.birth} {self._marks.get(record.pid, '')}"

    def close(self) -> None:
        """End the child together with everything still registered. Blocks a few seconds at most."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.stdin is not None:
            with contextlib.suppress(OSError):
                child.stdin.close()
        try:
            child.wait(GRACE + 3)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def _write(self, line: str) -> None:
        if sys.platform == "win32":
            return
        if self._child is None or self._child.poll() is not None:
            # A first start, or somebody ended the reaper: tell a new one all that runs.
            if self._child is not None and self._child.stdin is not None:
                self._child.stdin.close()
            self._child = _start_child()
            lines = [self._entry(record) for record in self._registered.values()]
            line = "\n".join(lines if line.startswith("+") else [*lines, line])
        if line and self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.write(line.encode() + b"\n")


def _start_child() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=Path(__file__).resolve().parents[1],
        env={"PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,
    )


_shared: list[Reaper] = []


def shared_reaper() -> Reaper:
    """The one reaper of this hub: one process needs one."""
    if not _shared:
        _shared.append(Reaper())
    return _shared[0]


class Watch:
    """The child's side: what is registered and everybody seen below it so far."""

    def __init__(self) -> None:
        self._seen: dict[ProcessRecord, set[ProcessRecord]] = {}
        self._marks: dict[ProcessRecord, str] = {}

    @property
    def is_idle(self) -> bool:
        return not self._seen

    def take(self, line: str) -> None:
        """Obey one line of the hub; a line that makes no sense is ignored."""
        number, _, rest = line[1:].partition(" ")
        birth, _, mark = rest.partition(" ")
        if not number.isdigit():
            return
        if line[0] == "+" and birth:
            root = ProcessRecord(int(number), birth)
            self._seen.setdefault(root, set())
            self._marks[root] = mark
            return
        for root in [record for record in self._seen if record.pid == int(number)]:
            left = self._seen.pop(root)
            mark = self._marks.pop(root, "")
            end_all(left | descendants(left) | marked(mark), GRACE)

    def look(self) -> None:
        """Remember who descends from the registered ones now; forget who is gone."""
        if self.is_idle:
            return
        table = process_table()
        for root, seen in self._seen.items():
            alive = {record for record in seen if table.get(record.pid, (0, ""))[1] == record.birth}
            self._seen[root] = alive | descendants({root, *alive}, table)

    def end_everything(self) -> None:
        """The hub is gone: end all groups, all that was ever seen below them, and all that carry their marks."""
        self.look()
        for root in self._seen:
            signal_group(root, signal.SIGTERM)
        everyone = {record for root, seen in self._seen.items() for record in (root, *seen)}
        end_all(everyone.union(*(marked(mark) for mark in self._marks.values())), GRACE)
        for root in self._seen:
            signal_group(root, getattr(signal, "SIGKILL", signal.SIGTERM))


def main() -> None:
    """Run until the hub's end of the pipe closes, then end what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)
    watch, rest = Watch(), b""
    stdin = sys.stdin.fileno()
    while True:
        ready, _, _ = select.select([stdin], [], [], None if watch.is_idle else LOOK_EVERY)
        if ready:
            data = os.read(stdin, 65536)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if line:
                    watch.take(line.decode("ascii", "replace"))
        watch.look()
    watch.end_everything()


if __name__ == "__main__":
    main()
