"""Everything an ACP session asks the person: permissions, questions, and what its hub tools want.

A permission is answered by one of the agent's own options of the kind "once"; "always" is never chosen, because each
agent's "always" was measured to grant more than it says. Whatever ends a request early answers it with "cancelled".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from agents.acp.tools import ToolCall
from agents.acp.turn import OpenAsk
from agents.acp.wire import CANCELLED, PermissionAsk, mapping, selected, text
from agents.contract import (
    AgentGoneError,
    AgentOption,
    Answers,
    AskId,
    Decision,
    Declined,
    FileDelivery,
    OutgoingFile,
    PermissionRequest,
    Question,
    QuestionRequest,
    ToolId,
    UserChannel,
    sentence,
)
from agents.jsonrpc import Request

if TYPE_CHECKING:
    from agents.acp.session import AcpSession

logger = logging.getLogger(__name__)

_CANCEL_LIMIT = 2.0
"""Seconds for a "cancelled" to be taken; the person is told in any case."""


class Asking:
    """The open requests of one session. Also the host of the session's hub tools."""

    def __init__(self, session: AcpSession, channel: UserChannel) -> None:
        self._session = session
        self._channel = channel
        self._open: dict[AskId, OpenAsk] = {}

    @property
    def is_open(self) -> bool:
        """The agent waits for the person, not for its model."""
        return bool(self._open)

    def permission(self, request: Request, ask: PermissionAsk) -> Coroutine[Any, Any, None]:
        """Called in the reader: tells the start of the call in wire order, then waits in a task."""
        session = self._session
        if session.is_stopping:
            return request.reply(CANCELLED)
        call_id = session.dialect.call_of(ask, session.translator.open_calls)
        if questions := session.dialect.questions(ask):
            session.translator.drop(call_id)
            return self._put_questions(request, ask, questions)
        for event in session.translator.asked(call_id, ask.call):
            session.tell(event)
        call = ToolCall(ask.call.id).merge(ask.call)
        known = session.translator.call(call_id)
        return self._ask_permission(request, ask, call, known or call)

    async def _ask_permission(self, request: Request, ask: PermissionAsk, call: ToolCall, known: ToolCall) -> None:
        session = self._session
        if session.dialect.is_own_tool(known, session.server_name):
            option = session.dialect.choose(ask.options, is_allowed=True)
            await request.reply(selected(option) if option else CANCELLED)
            return
        one = self._add(request, known.id)
        try:
            decision = await self._channel.request(self._permission_request(one.id, ask, call, known))
        finally:
            self._open.pop(one.id, None)
        if not one.is_withdrawn:
            await self._answer(one, request, ask, decision)

    async def _answer(self, one: OpenAsk, request: Request, ask: PermissionAsk, decision: Decision) -> None:
        option = self._session.dialect.choose(ask.options, is_allowed=decision.is_allowed)
        if not decision.is_allowed:
            self._session.notes.denied.add(one.call_id)
        if option is None and decision.is_allowed:
            logger.warning("%s offers no way to allow once; the request was denied", self._session.dialect.title)
        counts = option is not None or not decision.is_allowed
        await self._reply(one.id, request, selected(option) if option else CANCELLED, counts=counts)

    async def _reply(self, ask_id: AskId, request: Request, result: dict[str, Any], *, counts: bool = True) -> None:
        """Answer the agent, then tell the channel whether its decision really got there."""
        try:
            await request.reply(result)
        except AgentGoneError:
            await self._channel.told(ask_id, delivered=False)
            raise
        await self._channel.told(ask_id, delivered=counts)

    async def _put_questions(self, request: Request, ask: PermissionAsk, questions: tuple[Question, ...]) -> None:
        one = self._add(request, "")
        try:
            answers = await self._channel.ask(QuestionRequest(one.id, questions))
        finally:
            self._open.pop(one.id, None)
        if one.is_withdrawn:
            return
        if isinstance(answers, Answers):
            await self._reply(one.id, request, self._session.dialect.answers(ask, answers))
        else:
            option = self._session.dialect.choose(ask.options, is_allowed=False)
            await self._reply(one.id, request, selected(option) if option else CANCELLED)

    async def ask_user(self, questions: tuple[Question, ...]) -> Answers | Declined:
        """The agent asks through the hub's own tool. Cancelled when the agent gives up waiting."""
        one = self._add(None, "")
        try:
            answers = await self._channel.ask(QuestionRequest(one.id, questions))
        except BaseException:
            if not one.is_withdrawn:
                await self._channel.withdrawn(one.id, sentence("The agent does not wait for the answer any more."))
            raise
        finally:
            self._open.pop(one.id, None)
        if not one.is_withdrawn:
            await self._channel.told(one.id, delivered=True)
        return answers

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        """The agent sends a file through the hub's own tool."""
        return await self._channel.send_file(file)

    async def withdraw_all(self, why: str) -> None:
        """Answer every open request with "cancelled" and tell the channel that nobody waits any more."""
        for one in list(self._open.values()):
            one.is_withdrawn = True
            self._open.pop(one.id, None)
            if one.request is not None:
                try:
                    async with asyncio.timeout(_CANCEL_LIMIT):
                        await one.request.reply(CANCELLED)
                except (AgentGoneError, TimeoutError):
                    logger.debug("%s: gone or deaf before its request was cancelled", self._session.dialect.title)
            await self._channel.withdrawn(one.id, why)

    def _add(self, request: Request | None, call_id: str) -> OpenAsk:
        one = OpenAsk(AskId(self._session.desk.new_id()), request, call_id)
        self._open[one.id] = one
        return one

    def _permission_request(
        self, ask_id: AskId, ask: PermissionAsk, call: ToolCall, known: ToolCall
    ) -> PermissionRequest:
        """``call`` is what the request itself says, ``known`` has what came before, too."""
        session = self._session
        view = session.dialect.view(known)
        limit = session.dialect.permission_limit(session)
        plan = session.dialect.plan_of(ask)
        return PermissionRequest(
            id=ask_id,
            tool=view.tool,
            kind=known.tool_kind,
            title=call.title or view.title,
            subject=call.subject or view.subject or view.title,
            cwd=session.spec.cwd,
            reason=reason_of(call),
            diff=call.diff,
            plan=plan,
            arguments="" if plan else call.arguments,
            options=tuple(AgentOption(option.id, option.name, option.kind) for option in ask.options),
            time_limit=limit,
            tool_id=ToolId(known.id) if known.id else None,
        )


def reason_of(call: ToolCall) -> str:
    """Why the agent wants it, where it says so."""
    raw = mapping(call.raw_input)
    return text(raw.get("description")) or text(raw.get("justification")) or text(raw.get("reason"))
