"""Any ACP agent as a backend: where its processes come from and where they go.

Kinds with a folder of their own (Qwen Code, Hermes, the demo) subclass it: another dialect, another command line.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agents import processes
from agents.acp.archive import AcpArchive
from agents.acp.connection import Connection
from agents.acp.dialect import AcpDialect
from agents.acp.opening import Desk
from agents.acp.session import AcpSession
from agents.catalogue import look_at
from agents.contract import (
    AgentHealth,
    AgentLaunch,
    AgentNotFoundError,
    AgentSession,
    AgentTraits,
    SessionArchive,
    SessionSpec,
    UserChannel,
    sentence,
)
from agents.finding import Finder
from agents.hub_tools import HubTools
from agents.processes import LinePipe

logger = logging.getLogger(__name__)


class Spawn(Protocol):
    """How a program is started; ``agents.processes.spawn`` unless a test plays a recording."""

    def __call__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None) -> Awaitable[LinePipe]: ...


@dataclass(frozen=True, slots=True)
class Program:
    """A command line and its whole environment."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a backend takes from outside, so that tests hand in their own."""

    spawn: Spawn = processes.spawn
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    new_id: Callable[[], str] = lambda: secrets.token_hex(8)
    tools: Callable[[], HubTools] = HubTools


class AcpBackend:
    """See ``agents.contract.AgentBackend``."""

    def __init__(
        self,
        kind: str,
        launch: AgentLaunch,
        finder: Finder,
        *,
        dialect: AcpDialect | None = None,
        parts: Parts | None = None,
    ) -> None:
        self._kind = kind
        self.launch = launch
        self.finder = finder
        self.dialect = dialect or AcpDialect(kind, launch.title or kind)
        self._parts = parts or Parts()
        self._tools = self._parts.tools()
        self._desk = Desk(self.dialect, launch, self._tools, self._parts.clock, self._parts.sleep, self._parts.new_id)
        self._connections: set[Connection] = set()
        self._shared: Connection | None = None
        self._starting = asyncio.Lock()
        self._sessions: list[AcpSession] = []

    @property
    def kind(self) -> str:
        return self._kind

    @property
    def traits(self) -> AgentTraits:
        return self.dialect.traits

    @property
    def archive(self) -> SessionArchive | None:
        return AcpArchive(self)

    @property
    def live_ids(self) -> frozenset[str]:
        """The sessions that are open now."""
        return frozenset(one.session_id for one in self._sessions if one.session_id is not None and one.pid is not None)

    async def locate(self) -> None:
        await self.program()

    async def probe(self) -> AgentHealth:
        return await look_at(self._kind, self.launch, self.finder)

    async def open(self, spec: SessionSpec, channel: UserChannel) -> AgentSession:
        session = self.session(spec, channel)
        self._sessions = [one for one in self._sessions if not one.is_over]
        await session.open()
        self._sessions.append(session)
        return session

    def session(self, spec: SessionSpec, channel: UserChannel) -> AcpSession:
        """A session that is not open yet."""
        return AcpSession(self._desk, self, spec, channel)

    async def close(self) -> None:
        sessions, self._sessions = self._sessions, []
        ends = await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)
        for failed in [end for end in ends if isinstance(end, Exception)]:
            logger.error("%s: a session did not end in order", self.dialect.title, exc_info=failed)
        connections, self._connections = self._connections, set()
        await asyncio.gather(*(connection.stop() for connection in connections))
        await self._tools.close()

    async def program(self) -> Program:
        """What to start. Raises AgentNotFoundError."""
        if not self.launch.command:
            raise AgentNotFoundError(
                sentence("No command is set for {kind}.", kind=self._kind),
                sentence("Put its command into the settings, under {table}.", table=f"[agents.{self._kind}]"),
            )
        located = await self.finder.locate_command(self.launch.command, self._kind)
        env = await self.finder.child_variables(None, self.launch)
        return Program((*located.command, *self.launch.args), env)

    # The lobby

    async def connection(self, spec: SessionSpec, *, is_fresh: bool = False) -> Connection:
        """See ``Lobby``; the caller owes an ``unexpect``."""
        if not self.dialect.is_process_shared:
            own = await self._connect(spec.cwd)
            own.expect()
            return own
        async with self._starting:
            if is_fresh or self._shared is None or self._shared.is_ended:
                self._shared = await self._connect(self.finder.home)
            self._shared.expect()
            return self._shared

    async def leave(self, connection: Connection) -> None:
        async with self._starting:
            if not connection.is_idle:
                return
            if self._shared is connection:
                self._shared = None
            self._connections.discard(connection)
        await connection.stop()

    async def _connect(self, cwd: Path) -> Connection:
        program = await self.program()
        pipe = await self._parts.spawn(program.command, cwd, program.env)
        connection = await Connection.connect(pipe, self.dialect)
        self._connections = {one for one in self._connections if not one.is_ended} | {connection}
        return connection
