"""Codex on this computer: finds it, starts the one shared process, opens sessions on it.

The process is started with the first session and ended with the last; when it dies, the next session that is opened
starts a new one. Settings of the user's own configuration stay untouched.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents import catalogue
from agents.codex.archive import CodexArchive
from agents.codex.modes import DEFAULT, Mode, chosen
from agents.codex.server import AppServer
from agents.codex.session import CodexSession, Opening
from agents.codex.wire import calls
from agents.contract import (
    AgentError,
    AgentGoneError,
    AgentHealth,
    AgentLaunch,
    AgentNotLoggedInError,
    AgentTraits,
    AgentVersionError,
    ReasonPath,
    SessionArchive,
    SessionNotFoundError,
    SessionSpec,
    UserChannel,
    sentence,
)
from agents.finding import Finder, Located
from agents.jsonrpc import RpcError
from agents.known_agents import KNOWN
from agents.login_state import provider_key
from agents.processes import LinePipe, spawn
from agents.versions import read_version

START_LIMIT = 60.0
"""Seconds for the handshake; 0.07 to 0.44 s were measured, a cold disk costs many times that (424 MB)."""
AGENT = KNOWN["codex"]
TRAITS = AgentTraits(
    title=AGENT.title,
    reason_path=ReasonPath.IN_PROTOCOL,
    can_steer=True,
    is_process_shared=True,
    default_mode=DEFAULT,
    runs_unasked=sentence("nothing, unless your own rules files for Codex allow it"),
)
FLAGS = (
    # A text to a running turn must not cut the message that is being written: it would be lost from the history.
    "features.instant_interrupt=false",
    # Without it questions with buttons work only in plan mode; it warns in every thread unless told not to.
    "features.default_mode_request_user_input=true",
    "suppress_unstable_features_warning=true",
)
"""Given with ``-c``: unknown ones are ignored, while ``--disable`` with an unknown name ends the program (measured)."""


Spawn = Callable[[Sequence[str], Path, Mapping[str, str]], Awaitable[LinePipe]]


class CodexBackend:
    """See ``agents.contract.AgentBackend``."""

    kind = "codex"
    traits = TRAITS

    def __init__(
        self,
        launch: AgentLaunch,
        finder: Finder,
        *,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        spawn: Spawn = spawn,
    ) -> None:
        self._spawn = spawn
        self._launch = launch
        self._finder = finder
        self._new_id = new_id
        self._lock = asyncio.Lock()
        self._shared: Shared | None = None

    @property
    def archive(self) -> SessionArchive | None:
        return CodexArchive(self.acquire)

    async def locate(self) -> None:
        await self._located()

    async def probe(self) -> AgentHealth:
        return await catalogue.look_at(self.kind, self._launch, self._finder)

    async def open(self, spec: SessionSpec, channel: UserChannel) -> CodexSession:
        if not await asyncio.to_thread(spec.cwd.is_dir):
            # Codex itself takes a folder that is not there without a word (measured).
            raise AgentError(
                sentence("The working folder is gone."), hint=sentence("Choose another folder."), detail=str(spec.cwd)
            )
        settings = calls.Settings(self._mode(spec), spec.model or self._launch.model, spec.effort)
        shared = await self.acquire()
        try:
            # The thread first: with a broken configuration Codex falls back to another one, which has no account.
            thread = await self._open_thread(shared.server, spec, settings)
            await shared.check_login()
            models = await shared.models()
        except BaseException:
            await shared.release()
            raise
        opening = Opening(
            server=shared.server,
            thread=thread,
            settings=settings,
            models=models,
            configured_mode=self._launch.mode,
            version=shared.version,
            cwd=spec.cwd,
            release=shared.release,
            new_id=self._new_id,
        )
        return CodexSession(opening, channel)

    async def close(self) -> None:
        async with self._lock:
            shared, self._shared = self._shared, None
        if shared is not None:
            await shared.server.close()

    async def acquire(self) -> Shared:
        """The running process, or a new one; every holder releases it once."""
        async with self._lock:
            if self._shared is None or self._shared.server.is_gone:
                self._shared = await self._start()
            self._shared.holders += 1
            return self._shared

    def _mode(self, spec: SessionSpec) -> Mode:
        name = spec.mode or self._launch.mode or DEFAULT
        return chosen(name, self._launch.mode)

    async def _located(self) -> Located:
        return await self._finder.locate(AGENT, self._launch)

    async def _start(self) -> Shared:
        located = await self._located()
        variables = await self._variables()
        flags = [part for flag in FLAGS for part in ("-c", flag)]
        command = [*located.command, *flags, *self._launch.args, "app-server"]
        server = AppServer(await self._spawn(command, self._finder.home, variables))
        try:
            answer = await server.call("initialize", calls.initialize(), within=START_LIMIT)
            await server.notify("initialized")
            said = check_version(answer)
        except BaseException as error:
            await server.close()
            if isinstance(error, AgentGoneError):
                hint = sentence("Run codex in a terminal to see what is wrong.")
                raise AgentGoneError(
                    sentence("Codex ended while it started."), hint=hint, detail=server.stderr_tail
                ) from error
            raise
        return Shared(server, said, calls.home_of(answer), self._lock)

    async def _variables(self) -> dict[str, str]:
        """The environment of the process, with the key of the model provider the person's configuration names."""
        variables = await self._finder.child_variables(AGENT, self._launch)
        home = Path(variables.get("CODEX_HOME") or self._finder.home / ".codex")
        key = await asyncio.to_thread(provider_key, home / "config.toml")
        terminal = await self._finder.environment()
        return {key: terminal[key], **variables} if key in terminal else variables

    async def _open_thread(self, server: AppServer, spec: SessionSpec, settings: calls.Settings) -> calls.Thread:
        try:
            if spec.resume is None:
                answer = await server.call("thread/start", calls.start_thread(spec.cwd, settings))
            else:
                answer = await server.call("thread/resume", calls.resume_thread(spec.resume, spec.cwd, settings))
        except RpcError as error:
            raise not_opened(error) from error
        return calls.read_thread(answer)


class Shared:
    """The process and how many hold it. The last holder's ``release`` ends it."""

    def __init__(self, server: AppServer, said_version: str, home: Path, lock: asyncio.Lock) -> None:
        self.server = server
        self.version = said_version
        self.home = home
        self.holders = 0
        self._lock = lock
        self._models: tuple[calls.Model, ...] | None = None

    async def release(self) -> None:
        """Give it back; never raises."""
        async with self._lock:
            self.holders -= 1
            if self.holders <= 0:
                await self.server.close()

    async def check_login(self) -> None:
        """Raises AgentNotLoggedInError. Without this a turn fails only after 12 s of vain attempts (measured)."""
        if calls.needs_login(await self.server.call("account/read", {"refreshToken": False})):
            raise AgentNotLoggedInError(
                sentence("Codex is not logged in."), hint=sentence("Run in a terminal: {command}", command=AGENT.login)
            )

    async def models(self) -> tuple[calls.Model, ...]:
        """The models of the account; none when Codex can't tell."""
        if self._models is None:
            try:
                self._models = calls.read_models(await self.server.call("model/list", {}))
            except AgentError:
                if self.server.is_gone:
                    raise
                return ()
        return self._models


def check_version(answer: Any) -> str:
    """The version in the answer to ``initialize``. Raises AgentVersionError when it is too old."""
    said = calls.version_of(answer)
    found = read_version(said)
    if found is not None and found < AGENT.minimum:
        title = sentence(
            "{agent} {version} is too old: {minimum} or newer is needed.",
            agent=AGENT.title,
            version=found,
            minimum=AGENT.minimum,
        )
        raise AgentVersionError(title, hint=sentence("Update it: {command}", command=AGENT.install))
    return said


def not_opened(error: RpcError) -> AgentError:
    """Why a thread did not open, for a person."""
    message = error.message
    if "no rollout found" in message or "thread not found" in message:
        return SessionNotFoundError(
            sentence("Codex does not know this session any more."),
            hint=sentence("Begin a new one."),
            detail=message[:500],
        )
    if "active writer" in message:
        hint = sentence("Close it there, then send the message again.")
        return AgentError(
            sentence("This session is open in another Codex, in a terminal perhaps."), hint, message[:500]
        )
    if "failed to load configuration" in message:
        return AgentError(
            sentence("The configuration of Codex is broken."),
            sentence("Mend its config.toml; see the details."),
            message[:500],
        )
    return AgentError(sentence("Codex could not open the session."), sentence("See the details."), message[:500])
