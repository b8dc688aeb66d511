"""Which processes belong to which, told apart for certain, and how to end them.

A process id alone is not a name: the system gives it again. ``ProcessRecord`` carries the birth of the process too,
so nothing foreign is ever ended. Linux: read from /proc with the standard library only, because the reaper is a
child that lives as long as the hub and must stay small; elsewhere psutil.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_IS_LINUX = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One process of this computer. ``birth`` is opaque; it differs for every process that gets the same id."""

    pid: int
    birth: str

    @classmethod
    def of(cls, pid: int) -> ProcessRecord | None:
        """The process that has this id now, None when there is none (a zombie counts as none)."""
        entry = _entry(pid)
        return None if entry is None else cls(pid, entry[1])

    @property
    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        entry = _entry(self.pid)
        return entry is not None and entry[1] == self.birth

    def signal(self, number: int) -> bool:
        """Send a signal to this very process. False: it is gone or not ours."""
        if not self.is_alive:
            return False
        try:
            os.kill(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class MarkedProcess:
    """An agent's process and the mark that all it starts carry in their environment; "" = none."""

    record: ProcessRecord
    mark: str = ""


MARK = "HUB_AGENT_MARK"
"""A variable of every agent's environment, inherited by all it starts: it finds those that lost their parent."""

Table = Mapping[int, tuple[int, str]]
"""Process id -> (parent's id, birth)."""


@cache
def _boot() -> str:
    """Ids and start ticks begin anew with every start of the computer."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:
        return ""


def _entry(pid: int) -> tuple[int, str] | None:
    if _IS_LINUX:
        return _linux_entry(str(pid))
    import psutil  # noqa: PLC0415 - the reaper on Linux must not pay for it

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return process.ppid(), f"{process.create_time():.2f}"
    except psutil.Error:
        return None


def _linux_entry(name: str) -> tuple[int, str] | None:
    try:
        stat = (_PROC / name / "stat").read_bytes()
    except OSError:
        return None
    # The name in brackets may hold spaces and brackets; the fields after the last one are numbers (proc(5)).
    fields = stat[stat.rfind(b")") + 2 :].split()
    if len(fields) < 20 or fields[0] in {b"Z", b"X"}:
        return None
    return int(fields[1]), f"{fields[19].decode()}@{_boot()}"


def process_table() -> Table:
    """Every process of this computer in one pass (about 10 ms for 400 processes)."""
    if _IS_LINUX:
        with os.scandir(_PROC) as folder:
            names = [entry.name for entry in folder if entry.name.isdigit()]
        return {int(name): found for name in names if (found := _linux_entry(name))}
    import psutil  # noqa: PLC0415 - see above

    return {pid: entry for pid in psutil.pids() if (entry := _entry(pid))}


def descendants(roots: Iterable[ProcessRecord], table: Table | None = None) -> set[ProcessRecord]:
    """The children of ``roots``, their children and so on, as far as the links are still there.

    A child whose parent has died belongs to init and is not found: whoever needs it must have looked before.
    """
    table = process_table() if table is None else table
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[ProcessRecord] = set()
    queue = [root.pid for root in roots if root.pid in table and table[root.pid][1] == root.birth]
    while queue:
        for pid in children.get(queue.pop(), ()):
            record = ProcessRecord(pid, table[pid][1])
            if record not in found:
                found.add(record)
                queue.append(pid)
    return found


def marked(mark: str) -> set[ProcessRecord]:
    """The processes that carry this mark in their environment (about 5 ms for 400 processes).

    A command that an agent's shell leaves behind with "&" belongs to init as soon as the shell has ended; links from
    parent to child don't lead to it any more.
    """
    if not mark:
        return set()
    if _IS_LINUX:
        wanted = f"{MARK}={mark}".encode()
        with os.scandir(_PROC) as folder:
            pids = [int(entry.name) for entry in folder if entry.name.isdigit()]
        found = [pid for pid in pids if wanted in _linux_environment(pid).split(b"\0")]
        return {record for pid in found if (record := ProcessRecord.of(pid)) is not None}
    import psutil  # noqa: PLC0415 - see above

    records = set()
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                records.add(ProcessRecord(process.pid, f"{process.create_time():.2f}"))
        except (psutil.Error, OSError):
            continue  # another user's
    return records


def _linux_environment(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""  # gone, or another user's


def signal_group(leader: ProcessRecord, number: int) -> None:
    """Send a signal to the group that ``leader`` leads. Ours are all leaders of their own group; Windows has none."""
    if sys.platform == "win32":
        leader.signal(number)
        return
    holder = _entry(leader.pid)
    if holder is not None and holder[1] != leader.birth:
        return  # The id is another's now, so nobody of the old group lives: the system keeps it while one does.
    try:
        os.killpg(leader.pid, number)
    except (ProcessLookupError, PermissionError):
        return


_DEATH = 5.0
"""Seconds that a killed process may take to be gone: the system first takes back its memory."""


def end_all(records: Iterable[ProcessRecord], grace: float) -> None:
    """TERM, up to ``grace`` seconds, KILL; all are gone when it returns. Blocks; for the reaper and a worker thread.

    Only one that even the system can't end (it waits for a dead disk) may be left after 5 more seconds.
    """
    left = _alive_after(grace, [record for record in records if record.signal(signal.SIGTERM)])
    hard = getattr(signal, "SIGKILL", signal.SIGTERM)
    _alive_after(_DEATH, [record for record in left if record.signal(hard)])


def _alive_after(seconds: float, records: list[ProcessRecord]) -> list[ProcessRecord]:
    """Wait until all are gone, at most so long; who is left."""
    deadline = time.monotonic() + seconds
    while (records := [record for record in records if record.is_alive]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return records
