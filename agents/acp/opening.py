"""Opening a session in a running agent: new, resumed or loaded, with the hub's own tools in it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.acp.connection import Connection
from agents.acp.dialect import AcpDialect
from agents.acp.wire_opening import AUTH_REQUIRED, RESOURCE_NOT_FOUND, Offers, ToolServer, read_offers, read_sessions
from agents.contract import (
    AgentError,
    AgentGoneError,
    AgentLaunch,
    AgentNotLoggedInError,
    SessionId,
    SessionNotFoundError,
    sentence,
)
from agents.jsonrpc import RpcError, Success

_LIST_LIMIT = 20.0

if TYPE_CHECKING:
    from agents.acp.session import AcpSession
    from agents.hub_tools import HubTools


@dataclass(frozen=True, slots=True)
class Desk:
    """What every session of a backend works with."""

    dialect: AcpDialect
    launch: AgentLaunch
    tools: HubTools
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    new_id: Callable[[], str] = lambda: secrets.token_hex(8)


async def open_session(
    connection: Connection, session: AcpSession, server: ToolServer, resume: SessionId | None
) -> tuple[SessionId, Offers]:
    """Open or resume; from the answer on the session's messages reach it, none of them is lost.

    Raises AgentNotLoggedInError, SessionNotFoundError, AgentGoneError, AgentError.
    """
    dialect = session.dialect
    params: dict[str, Any] = {"cwd": str(session.spec.cwd), "mcpServers": [server.as_wire()]}
    method = "session/new"
    if resume is not None:
        params["sessionId"] = resume
        method = "session/resume" if dialect.loads_without_replay(connection.info) else "session/load"
        if method == "session/load" and not connection.info.can_load:
            raise SessionNotFoundError(
                sentence("{agent} can't go on with a session of the past.", agent=dialect.title),
                sentence("Start a new one."),
            )
        # A load replays the past before it answers.
        connection.attach(resume, session)

    def settled(outcome: Success | AgentError) -> None:
        if isinstance(outcome, Success) and (session_id := read_offers(outcome.result).session_id):
            connection.attach(session_id, session)

    try:
        result = await connection.call_in_order(method, params, settled, within=dialect.open_limit)
    except RpcError as error:
        wanted = opening_error(dialect, error, is_resume=resume is not None)
        if resume is not None and type(wanted) is AgentError and not await is_listed(connection, session, resume):
            wanted = SessionNotFoundError(
                sentence("This session does not exist any more."), sentence("Start a new one."), wanted.detail
            )
        raise wanted from error
    offers = read_offers(result)
    if resume is not None and dialect.is_lost(offers):
        raise SessionNotFoundError(
            sentence("This session does not exist any more."), sentence("Start a new one."), resume
        )
    session_id = SessionId(offers.session_id or (resume or ""))
    if not session_id:
        raise AgentGoneError(
            sentence("{agent} opened no session.", agent=dialect.title),
            sentence("Update the agent."),
            "session/new without a sessionId",
        )
    return session_id, offers


async def is_listed(connection: Connection, session: AcpSession, session_id: SessionId) -> bool:
    """Whether the agent's own list has the session; True for an agent that has no list or does not answer.

    OpenCode 1.18.33 answers "service failure" when it does not know the session.
    """
    if "list" not in connection.info.session_abilities:
        return True
    try:
        result = await connection.call("session/list", {"cwd": str(session.spec.cwd)}, within=_LIST_LIMIT)
    except AgentError:
        return True
    sessions, more = read_sessions(result)
    return bool(more) or any(one.id == session_id for one in sessions)


def opening_error(dialect: AcpDialect, error: RpcError, *, is_resume: bool) -> AgentError:
    """The agent's refusal to open a session, in words for the person."""
    cause = f"{error.message} {error.detail}".strip()
    if error.code == AUTH_REQUIRED or dialect.means_logged_out(cause):
        return AgentNotLoggedInError(
            sentence("{agent} is not logged in.", agent=dialect.title), dialect.login_hint, cause
        )
    if is_resume and (error.code == RESOURCE_NOT_FOUND or "not found" in cause.lower()):
        return SessionNotFoundError(
            sentence("This session does not exist any more."), sentence("Start a new one."), cause
        )
    return AgentError(
        sentence("{agent} could not open a session.", agent=dialect.title),
        sentence("Start it in a terminal to see why."),
        cause,
    )
