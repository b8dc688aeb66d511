"""The live session of one topic: opens it, passes on what it says, ends it. Decides nothing.

An *epoch* names one life of the session; whatever arrives from an earlier life is recognised by it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from agents.contract import (
    AgentBackend,
    AgentError,
    AgentGoneError,
    AgentSession,
    HubError,
    SessionSpec,
    UserChannel,
)
from bridge.context import HubContext
from bridge.crew import Crew
from bridge.folders import FolderError, check_folder, is_inside
from bridge.texts import tr
from bridge.topics.inbox import Heard, Item, Opened, OpenFailed, Silenced

log = logging.getLogger(__name__)

OPEN_TIMEOUT = 120.0
"""Seconds for starting a program and opening a session; Hermes was measured at up to 30 s on a slow disk."""
CALL_TIMEOUT = 30.0
"""Seconds for one call to a session."""
CLOSE_TIMEOUT = 20.0


class ChannelMaker(Protocol):
    """Makes the human's side for one life of the session."""

    def __call__(self, epoch: str) -> UserChannel: ...


class LiveSession:
    """At most one session at a time."""

    def __init__(self, put: Callable[[Item], None], channel: ChannelMaker, new_id: Callable[[], str]) -> None:
        self._put = put
        self._channel = channel
        self._new_id = new_id
        self._crew = Crew("session")
        self.epoch = ""
        self.session: AgentSession | None = None
        self.is_opening = False

    @property
    def is_open(self) -> bool:
        return self.session is not None

    def open(self, backend: AgentBackend, spec: SessionSpec) -> None:
        """Begin to open; ``Opened`` or ``OpenFailed`` follows in the inbox."""
        self.epoch = self._new_id()
        self.is_opening = True
        self._crew.start(self._live(self.epoch, backend, spec), "events")

    def accept(self, opened: Opened) -> bool:
        """Take the opened session unless it came too late; a late one is closed by its own task."""
        if opened.epoch != self.epoch:
            return False
        self.session, self.is_opening = opened.session, False
        return True

    def forget(self) -> AgentSession | None:
        """The session is over (or its opening no longer wanted): later events of it are strangers."""
        session, self.session = self.session, None
        self.epoch, self.is_opening = "", False
        return session

    async def close(self) -> None:
        """End the session, if there is one. Never raises."""
        session = self.forget()
        if session is not None:
            await close_quietly(session)

    async def shut(self) -> None:
        """Close, and end every task of former lives."""
        await self.close()
        await self._crew.close()

    async def _live(self, epoch: str, backend: AgentBackend, spec: SessionSpec) -> None:
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                session = await backend.open(spec, self._channel(epoch))
        except TimeoutError:
            self._put(OpenFailed(epoch, no_start(backend)))
            return
        except HubError as error:
            self._put(OpenFailed(epoch, error))
            return
        except Exception as error:
            log.exception("%s could not be opened", backend.kind)
            self._put(OpenFailed(epoch, AgentError(tr("The agent could not be started."), detail=repr(error))))
            return
        if epoch != self.epoch:
            await close_quietly(session)
            return
        self._put(Opened(epoch, session))
        try:
            async for event in session.events:
                self._put(Heard(epoch, event))
        finally:
            self._put(Silenced(epoch))


def check_place(context: HubContext, cwd: Path) -> None:
    """Raises FolderError: no agent may be started in this folder."""
    check_folder(cwd)
    if not is_inside(cwd.resolve(), context.config.roots):
        raise FolderError(
            tr("{folder} is outside the allowed folders.", folder=cwd),
            tr("Choose another folder with /cwd, or allow it in the window: Settings, Folders."),
        )


def no_start(backend: AgentBackend) -> AgentGoneError:
    return AgentGoneError(
        tr("{agent} did not start within {seconds} s.", agent=backend.traits.title, seconds=int(OPEN_TIMEOUT)),
        tr("Send the text again, or look at the agent in a terminal."),
    )


class AgentTimeoutError(HubError):
    """A call to the agent took too long: what became of it is not known."""


async def in_time(work: Awaitable[object], agent: str) -> None:
    """One call to the session with its time limit. Raises HubError."""
    try:
        async with asyncio.timeout(CALL_TIMEOUT):
            await work
    except TimeoutError as error:
        raise AgentTimeoutError(
            tr("{agent} does not answer.", agent=agent), tr("Try /stop, then send the text again.")
        ) from error


async def close_quietly(session: AgentSession) -> None:
    """Close with a limit; a session that can't be closed is logged."""
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT):
            await session.close()
    except TimeoutError:
        log.warning("a session did not close within %s s", CLOSE_TIMEOUT)
    except Exception:
        log.exception("a session could not be closed")
