"""What a session's agent left running beside its turns, known by process; for agents that tell its start at most.

The end is seen by looking, because some agents never tell it (Hermes 0.19.0). Ending it ends the very processes that
were told, and what descends from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.contract import BackgroundTask, BackgroundTasks
from agents.process_tree import ProcessRecord, descendants
from agents.processes import sweep

if TYPE_CHECKING:
    from agents.acp.session import AcpSession

LOOK_EVERY = 5.0
"""Seconds between two looks while something runs."""


@dataclass(frozen=True, slots=True)
class Work:
    """One thing that runs; ``process`` None: only the agent can tell its end."""

    title: str
    process: ProcessRecord | None


class BackgroundWork:
    """The work of one session."""

    def __init__(self) -> None:
        self._work: dict[str, Work] = {}
        self._is_watched = False

    def begin(self, session: AcpSession, key: str, title: str, pid: int) -> None:
        """The agent told that it started something. A process that does not descend from the agent is not taken."""
        agent = ProcessRecord.of(session.pid) if session.pid else None
        process = ProcessRecord.of(pid)
        is_ours = agent is not None and process in descendants([agent])
        self._work[key] = Work(title, process if is_ours else None)
        self._tell(session)
        if not self._is_watched:
            self._is_watched = True
            session.chores.start(self._watch(session))

    def end(self, session: AcpSession, key: str) -> None:
        """The agent told that something is over."""
        if self._work.pop(key, None) is not None:
            self._tell(session)

    async def stop(self, session: AcpSession) -> None:
        """End it all."""
        work = list(self._work.values())
        self._work.clear()
        await sweep([one.process for one in work if one.process is not None])
        if work:
            self._tell(session)

    def _tell(self, session: AcpSession) -> None:
        session.tell(BackgroundTasks(tuple(BackgroundTask(key, one.title) for key, one in self._work.items())))

    async def _watch(self, session: AcpSession) -> None:
        while self._work and not session.is_over:
            await session.desk.sleep(LOOK_EVERY)
            over = [key for key, one in self._work.items() if one.process is not None and not one.process.is_alive]
            for key in over:
                del self._work[key]
            if over:
                self._tell(session)
        self._is_watched = False
