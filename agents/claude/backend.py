"""Claude Code on this computer: how it is started, and which sessions run."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from agents.catalogue import look_at
from agents.claude.archive import ClaudeArchive
from agents.claude.handshake import CLAUDE, DEFAULT_MODE
from agents.claude.session import ClaudeSession
from agents.claude.teams import ClaudeTeams
from agents.claude.tools import SEND_FILE_TOOL
from agents.contract import (
    AgentHealth,
    AgentLaunch,
    AgentTraits,
    ReasonPath,
    SessionArchive,
    SessionId,
    SessionNotFoundError,
    SessionSpec,
    UserChannel,
    sentence,
)
from agents.contract.teams import AgentTeams
from agents.finding import Finder
from agents.processes import LinePipe, spawn

logger = logging.getLogger(__name__)

TRAITS = AgentTraits(
    title="Claude Code",
    reason_path=ReasonPath.IN_PROTOCOL,
    can_steer=True,
    is_process_shared=False,
    default_mode=DEFAULT_MODE,
    runs_unasked=sentence(
        "commands that only read (ls, cat, git status), reading in the folder, and what your own Claude Code "
        "settings allow"
    ),
)
_NOT_INHERITED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID")
"""A hub that was itself started from Claude Code must not make its agents believe that they run inside of it."""


Spawn = Callable[[Sequence[str], Path, Mapping[str, str]], Awaitable[LinePipe]]


class ClaudeBackend:
    """See ``agents.contract.AgentBackend``. One process per session."""

    def __init__(
        self,
        launch: AgentLaunch,
        finder: Finder,
        *,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        spawn: Spawn = spawn,
    ) -> None:
        self._spawn = spawn
        self._launch = launch
        self._finder = finder
        self._new_id = new_id
        self._sessions: set[ClaudeSession] = set()
        self._young: set[SessionId] = set()
        self._archive = ClaudeArchive(self._environment, launch.command or CLAUDE.names[0], finder.home, new_id)
        self._teams = ClaudeTeams(self._archive.config_folder, new_id)

    @property
    def kind(self) -> str:
        return CLAUDE.kind

    @property
    def traits(self) -> AgentTraits:
        return TRAITS

    @property
    def archive(self) -> SessionArchive | None:
        return self._archive

    @property
    def teams(self) -> AgentTeams:
        return self._teams

    async def locate(self) -> None:
        await self._program()

    async def probe(self) -> AgentHealth:
        return await look_at(CLAUDE.kind, self._launch, self._finder)

    async def open(self, spec: SessionSpec, channel: UserChannel) -> ClaudeSession:
        session_id = spec.resume or SessionId(self._new_id())
        if spec.resume is None:
            return await self._start(spec, channel, session_id, is_new=True)
        try:
            return await self._start(spec, channel, session_id, is_new=False)
        except SessionNotFoundError:
            if session_id not in self._young:
                raise
            # Nothing was ever said in it, so the program has not written it down (measured): begin it once more.
            return await self._start(spec, channel, session_id, is_new=True)

    async def close(self) -> None:
        sessions = list(self._sessions)
        await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)

    async def _start(
        self, spec: SessionSpec, channel: UserChannel, session_id: SessionId, *, is_new: bool
    ) -> ClaudeSession:
        command = [*await self._program(), *arguments(spec, self._launch, session_id, is_new=is_new)]
        pipe = await self._spawn(command, spec.cwd, await self._environment())
        session = ClaudeSession(pipe, channel, spec.cwd, session_id, self._new_id, is_resumed=not is_new)
        try:
            await session.begin()
        except BaseException:
            await session.close()
            raise
        self._young.add(session_id)
        self._sessions.add(session)
        session.on_end(lambda: self._ended(session, session_id))
        return session

    def _ended(self, session: ClaudeSession, session_id: SessionId) -> None:
        self._sessions.discard(session)
        if session.is_durable:
            self._young.discard(session_id)

    async def _program(self) -> tuple[str, ...]:
        return (await self._finder.locate(CLAUDE, self._launch)).command

    async def _environment(self) -> dict[str, str]:
        found = await self._finder.child_variables(CLAUDE, self._launch)
        for name in _NOT_INHERITED:
            found.pop(name, None)
        return {**found, "DISABLE_AUTOUPDATER": "1"}


def arguments(spec: SessionSpec, launch: AgentLaunch, session_id: SessionId, *, is_new: bool) -> list[str]:
    """The arguments of one process. Values go as ``--flag=value``: one that begins with "-" is else a flag itself."""
    model, mode = spec.model or launch.model, spec.mode or launch.mode or DEFAULT_MODE
    return [
        "-p",
        "--input-format=stream-json",
        "--output-format=stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-prompt-tool=stdio",
        f"--permission-mode={mode}",
        f"--allowedTools={SEND_FILE_TOOL}",
        f"--session-id={session_id}" if is_new else f"--resume={session_id}",
        *([f"--model={model}"] if model else []),
        *([f"--effort={spec.effort}"] if spec.effort else []),
        *launch.args,
    ]
