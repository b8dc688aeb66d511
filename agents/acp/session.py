"""One conversation with an ACP agent: turns, permissions, interruption, and the way back from a dead end.

All methods belong to the engine's event loop. ``take``, ``serve`` and the settling of a prompt run in the reader of
the connection, so events come out in the order of the wire. It starts no process itself: it asks its ``Lobby``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Protocol

from agents.acp.asking import Asking
from agents.acp.choices import change_effort, change_mode, change_model
from agents.acp.connection import Connection
from agents.acp.dialect import AcpDialect, SessionNotes
from agents.acp.opening import Desk, open_session
from agents.acp.prompting import prompt_blocks
from agents.acp.translate import Offering, Translator, begins_something
from agents.acp.turn import Turn
from agents.acp.wire import (
    EMPTY,
    CommandsUpdate,
    ConfigUpdate,
    MessageChunk,
    ModeUpdate,
    ToolUpdate,
    Update,
    UsageUpdate,
    read_permission,
    read_prompt_result,
)
from agents.acp.wire_opening import AgentInfo, Offers, ToolServer
from agents.contract import (
    AgentError,
    AgentEvent,
    AgentGoneError,
    InputId,
    ModeChanged,
    ProcessExited,
    Prompt,
    Retrying,
    SessionId,
    SessionSpec,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UnknownEvent,
    UserChannel,
    sentence,
)
from agents.hub_tools import ToolSeat
from agents.jsonrpc import Notification, Request, RpcError, Success
from agents.mailbox import Chores, Mailbox

logger = logging.getLogger(__name__)

_GOODBYE_LIMIT = 6.0

_STRAY_QUIET = 3.0
"""Seconds of quiet after which a turn the agent began by itself counts as over; the protocol has no end for it."""

_STRAY_LIMIT = 600.0
"""Seconds of quiet in a turn whose end the agent tells: it may have forgotten."""


class Lobby(Protocol):
    """Where a session gets a process from and where it leaves it."""

    async def connection(self, spec: SessionSpec, *, is_fresh: bool = False) -> Connection:
        """A process to live in. ``is_fresh``: not the one from before. Raises what ``AgentBackend.open`` raises."""

    async def leave(self, connection: Connection) -> None:
        """Nobody of this session needs the process any more: end it when nobody else does."""


class AcpSession:
    """See ``agents.contract.AgentSession``."""

    def __init__(self, desk: Desk, lobby: Lobby, spec: SessionSpec, channel: UserChannel) -> None:
        self.spec = spec
        self.dialect: AcpDialect = desk.dialect
        self.notes: SessionNotes = self.dialect.notes()
        self.desk = desk
        self._lobby = lobby
        self._mail = Mailbox()
        self._chores = Chores(f"{self.dialect.title} session")
        self.asking = Asking(self, channel)
        self._connection: Connection | None = None
        self._session_id: SessionId | None = None
        self.offering = Offering(self.dialect, AgentInfo(), Offers(), spec.cwd, desk.launch.mode)
        self.translator = Translator(self.dialect, self.notes, self.offering, SessionId(""))
        self._turn: Turn | None = None
        self._stray_until: float | None = None
        self._is_opening = False
        self._is_closing = False
        self._heard = desk.clock()
        self._ready = asyncio.Event()
        self._seat: ToolSeat | None = None
        self.server_name = self.dialect.server_name(spec.topic_key)

    # What the bridge sees

    @property
    def session_id(self) -> SessionId | None:
        return self._session_id

    @property
    def pid(self) -> int | None:
        return self._connection.pipe.pid if self._connection else None

    @property
    def last_heard(self) -> float:
        return self._heard

    @property
    def events(self) -> AsyncIterator[AgentEvent]:
        return self._mail

    @property
    def connection(self) -> Connection:
        """The process that serves this session. Raises AgentGoneError."""
        if self._connection is None or self._connection.is_ended:
            raise AgentGoneError(
                sentence("{agent} has ended.", agent=self.dialect.title),
                sentence("Send the message again to start it anew."),
            )
        return self._connection

    @property
    def is_working(self) -> bool:
        return self._turn is not None

    @property
    def is_stopping(self) -> bool:
        """The person wants nothing more of this turn: what the agent asks now is answered with "cancelled"."""
        return self._is_closing or (self._turn is not None and self._turn.is_cancelling)

    @property
    def is_over(self) -> bool:
        return self._is_closing

    @property
    def chores(self) -> Chores:
        return self._chores

    async def open(self) -> None:
        """Get a process and the session in it. Raises what ``AgentBackend.open`` raises; nothing is left then."""
        try:
            await self._settle_in(await self._lobby.connection(self.spec), self.spec.resume)
        except BaseException:
            self._is_closing = True
            await self._move_out()
            await self._chores.close()
            raise

    async def prompt(self, prompt: Prompt) -> InputId:
        await self._wait_until_ready()
        if self._turn is not None:
            raise AgentError(
                sentence("The agent is still working on the message before."), sentence("Wait, or stop it with /stop.")
            )
        self._end_stray()
        connection = self.connection
        turn = Turn(InputId(self.desk.new_id()))
        self._turn = turn
        self.translator.begin()
        params = {"sessionId": self._session_id, "prompt": prompt_blocks(prompt, connection.info, self.dialect)}
        try:
            await connection.begin("session/prompt", params, lambda outcome: self._settled(turn, outcome))
        except BaseException:
            self._turn = None
            turn.over.set()
            raise
        self._mark_started(turn)
        if self.dialect.silence_limit is not None:
            self._chores.start(self._watch_silence(turn, self.dialect.silence_limit))
        return turn.input_id

    async def steer(self, prompt: Prompt) -> InputId | None:
        turn = self._turn
        if turn is None or turn.is_cancelling or prompt.images or prompt.files or prompt.is_command:
            return None
        input_id = InputId(self.desk.new_id())
        return input_id if await self.dialect.steer(self, prompt.text, input_id) else None

    async def interrupt(self) -> None:
        turn = self._turn
        if turn is None and self._stray_until is None:
            return
        if turn is not None:
            if turn.is_cancelling:
                return
            turn.is_cancelling = True
        self.translator.is_cancelling = True
        if turn is not None:
            self._chores.start(self._watch_cancel(turn))  # first: the agent may not even read what follows
        try:
            await self.connection.notify("session/cancel", {"sessionId": self._session_id})
        except AgentGoneError:
            return  # its end is on its way as ProcessExited
        await self.asking.withdraw_all(sentence("The turn was stopped."))
        if turn is None:
            self._end_stray(TurnOutcome.INTERRUPTED)

    async def stop_background(self) -> None:
        await self.dialect.stop_background(self)

    async def set_mode(self, mode: str) -> None:
        await self._wait_until_ready()
        await change_mode(self, mode)
        self.tell(ModeChanged(self.offering.mode))

    async def set_model(self, model: str) -> None:
        await self._wait_until_ready()
        await change_model(self, model)
        self.tell(self.offering.event(self._known_id()))

    async def set_effort(self, effort: str) -> None:
        await self._wait_until_ready()
        await change_effort(self, effort)
        self.tell(self.offering.event(self._known_id()))

    async def close(self) -> None:
        if self._is_closing:
            await self._chores.close()
            return
        self._is_closing = True
        try:
            async with asyncio.timeout(_GOODBYE_LIMIT):
                await self._say_goodbye()
        except (AgentError, TimeoutError) as error:
            logger.info("%s: it did not hear the goodbye: %s", self.dialect.title, type(error).__name__)
        finally:  # also when the caller waits no longer: a deaf agent must not live on
            await self._end()

    async def _end(self) -> None:
        try:
            await self._chores.close()  # first: one of them may be moving into a new process
            await self.asking.withdraw_all(sentence("The session was closed."))
            if self._connection is not None and self._connection.tenants > 1:
                await self.dialect.stop_background(self)  # a process of its own ends with everything below it
        finally:
            await self._move_out()
            self._leave_turn()
            self._mail.put(ProcessExited(None, was_expected=True))
            self._mail.close()

    # What the connection sees (in the reader)

    def take(self, update: Update) -> None:
        self._heard = self.desk.clock()
        if self._is_opening:
            # A load replays the past before it answers; only what the session offers counts yet.
            if isinstance(update, CommandsUpdate | ModeUpdate | ConfigUpdate | UsageUpdate):
                self.translator.feed(update)
            return
        admitted = self.dialect.admit(self, update)
        if admitted is None:
            return
        if isinstance(admitted, MessageChunk | ToolUpdate):
            self._mark_activity(admitted)
        for event in self.translator.feed(admitted):
            self.tell(event)

    def notice(self, notification: Notification) -> None:
        self._heard = self.desk.clock()
        if not self.dialect.notice(self, notification):
            self.tell(UnknownEvent(notification.method))

    def serve(self, request: Request) -> Coroutine[Any, Any, None]:
        self._heard = self.desk.clock()
        if request.method != "session/request_permission":
            return self.dialect.serve(self, request)
        return self.asking.permission(request, read_permission(request.params))

    def process_ended(self, exit_code: int | None, stderr: str, *, was_expected: bool) -> None:
        """The process is gone, and with it whatever was going on."""
        self._connection = None
        if self._is_closing:
            return
        self._is_closing = True
        self._ready.set()  # whoever waits learns that it is gone
        if self._seat is not None:
            self._seat.close()
        self._leave_turn()
        self._mail.put(ProcessExited(exit_code, was_expected, stderr=stderr))
        self._mail.close()
        self._chores.start(self.asking.withdraw_all(sentence("The agent's program has ended.")))

    # The turn

    def begin_stray(self, *, is_open_ended: bool = False) -> None:
        """The agent began a turn by itself. ``is_open_ended``: it will tell the end, so quiet is no sign of it."""
        if self._turn is None and self._stray_until is None:
            self.translator.begin()
            self.tell(TurnStarted(is_unsolicited=True))
            self._chores.start(self._watch_stray())
        quiet = _STRAY_LIMIT if is_open_ended else _STRAY_QUIET
        self._stray_until = max(self._stray_until or 0.0, self.desk.clock() + quiet)

    def end_stray(self) -> None:
        """The agent said that its own turn is over."""
        self._end_stray()

    def tell(self, event: AgentEvent) -> None:
        """Hand an event to the bridge."""
        self._mail.put(event)

    def _mark_activity(self, update: MessageChunk | ToolUpdate) -> None:
        if self._turn is not None:
            self._mark_started(self._turn)
        elif self._stray_until is not None or begins_something(update):
            self.begin_stray()

    def _mark_started(self, turn: Turn) -> None:
        if not turn.has_started:
            turn.has_started = True
            self.tell(TurnStarted())

    def _settled(self, turn: Turn, outcome: Success | AgentError) -> None:
        """The prompt was answered: the turn is over, in the order of the wire."""
        if turn.over.is_set() or isinstance(outcome, AgentGoneError):
            return
        self._heard = self.desk.clock()
        self._mark_started(turn)
        error = outcome if isinstance(outcome, RpcError) else None
        result = read_prompt_result(outcome.result if isinstance(outcome, Success) else EMPTY)
        words = self.translator.last_words
        failure = self.dialect.failure(error) if error else self.dialect.failure_in(words, result)
        is_stopped = turn.is_cancelling or result.stop_reason == "cancelled"
        if failure is not None and error is None and not is_stopped and failure.detail == words:
            self.translator.forget_last_words()
        self._finish(turn, is_cut_short=is_stopped or error is not None)
        usage = self.translator.usage_of(self.dialect.spent(self, result))
        if is_stopped:
            self.tell(TurnFinished(TurnOutcome.INTERRUPTED, self.translator.answer, usage))
        elif failure is not None:
            self.tell(failure)
        else:
            self.tell(TurnFinished(TurnOutcome.COMPLETED, self.translator.answer, usage))
        if self.dialect.is_wedged(is_cancelling=turn.is_cancelling, error=error, answer=words):
            self._ready.clear()
            self._chores.start(self._start_over())

    def _finish(self, turn: Turn, *, is_cut_short: bool) -> None:
        for event in self.translator.end(is_cut_short=is_cut_short):
            self.tell(event)
        for event in self.dialect.turn_ended(self):
            self.tell(event)
        self._turn = None
        turn.over.set()
        self._chores.start(self.asking.withdraw_all(sentence("The turn is over.")))

    def _leave_turn(self) -> None:
        """The process goes while a turn runs: nothing that ran stays unseen."""
        if self._turn is not None:
            self._finish(self._turn, is_cut_short=True)
        self._end_stray(TurnOutcome.INTERRUPTED)

    def _end_stray(self, outcome: TurnOutcome = TurnOutcome.COMPLETED) -> None:
        if self._stray_until is None:
            return
        self._stray_until = None
        for event in self.translator.end(is_cut_short=outcome is TurnOutcome.INTERRUPTED):
            self.tell(event)
        self.tell(TurnFinished(outcome, self.translator.answer))

    async def _watch_stray(self) -> None:
        while self._stray_until is not None and self._turn is None:
            left = self._stray_until - self.desk.clock()
            if left <= 0 and not self.translator.open_calls and not self.asking.is_open:
                self._end_stray()
                return
            await self.desk.sleep(max(left, 0.5))

    async def _watch_silence(self, turn: Turn, limit: float) -> None:
        """Some agents retry their model without a word for minutes (Qwen Code 0.24.4: 78 s at least)."""
        attempt = 0
        since = self.desk.clock()
        while not turn.over.is_set():
            await self.desk.sleep(max(1.0, limit - (self.desk.clock() - since)))
            if turn.over.is_set() or turn.is_cancelling:
                return
            is_waiting_for_model = not (self.asking.is_open or self.translator.open_calls)
            silent = self.desk.clock() - self._heard
            if is_waiting_for_model and silent >= limit:
                attempt += 1
                self.tell(
                    Retrying(
                        attempt, None, 0.0, sentence("No answer from the model for {silent} s", silent=f"{silent:.0f}")
                    )
                )
            since = self.desk.clock() if silent >= limit else self._heard

    async def _watch_cancel(self, turn: Turn) -> None:
        try:
            async with asyncio.timeout(self.dialect.cancel_limit):
                await turn.over.wait()
        except TimeoutError:
            logger.warning("%s: a cancelled turn did not end; the session is started anew", self.dialect.title)
            self._ready.clear()
            self._finish(turn, is_cut_short=True)
            self.tell(TurnFinished(TurnOutcome.INTERRUPTED, self.translator.answer))
            await self._start_over()

    # The process

    async def _settle_in(self, connection: Connection, resume: SessionId | None) -> None:
        self._connection = connection
        self._is_opening = True
        try:
            session_id, offers = await open_session(connection, self, await self._tool_server(), resume)
        finally:
            self._is_opening = False
            connection.unexpect()
        self.dialect.opened(self)
        is_first = self._session_id is None
        self._session_id = session_id
        self.offering.renew(connection.info, offers)
        self.translator.name(session_id)
        if is_first:
            self.tell(self.offering.event(session_id))
        self._ready.set()
        await self._apply_choices()

    async def _tool_server(self) -> ToolServer:
        if self._seat is None:
            self._seat = await self.desk.tools.seat(self.asking)
        program = self._seat.program
        return ToolServer(self.server_name, program.command, program.args, program.env)

    async def _apply_choices(self) -> None:
        """The agent forgets mode and model with its process; the person's choice is set after every opening."""
        before = self.offering.event(self._known_id())
        wanted = self.spec.mode or self.desk.launch.mode
        mode = None if self.offering.is_barred(wanted) else wanted
        if not mode and self.offering.has_modes:
            mode = self.dialect.default_mode
        if mode and mode != self.offering.mode:
            await change_mode(self, mode)
        if wanted and wanted != mode:  # the agent itself once went into it
            self.tell(ModeChanged(self.offering.mode))
        model = self.spec.model or self.desk.launch.model
        if model:
            await change_model(self, model)
        if self.spec.effort:
            await change_effort(self, self.spec.effort)
        if (now := self.offering.event(self._known_id())) != before:
            self.tell(now)

    async def _start_over(self) -> None:
        """Leave a process in which the session is stuck, and load the session in a new one."""
        old, self._connection = self._connection, None
        if old is not None:
            old.detach(self)
            await self._lobby.leave(old)
        try:
            await self._settle_in(await self._lobby.connection(self.spec, is_fresh=True), self._session_id)
        except AgentError as error:
            logger.warning("%s: the session could not be loaded again: %s", self.dialect.title, error.title)
            new, self._connection = self._connection, None
            if new is not None:
                new.detach(self)
                await self._lobby.leave(new)
            self.process_ended(None, error.detail, was_expected=False)

    async def _move_out(self) -> None:
        connection, self._connection = self._connection, None
        self._ready.set()
        if self._seat is not None:
            self._seat.close()
        if connection is not None:
            connection.detach(self)
            await self._lobby.leave(connection)

    async def _say_goodbye(self) -> None:
        connection = self._connection
        if connection is None or connection.is_ended or self._session_id is None:
            return
        if self._turn is not None:
            await connection.notify("session/cancel", {"sessionId": self._session_id})
        if connection.tenants > 1 and "close" in connection.info.session_abilities:
            await connection.call("session/close", {"sessionId": self._session_id}, within=5.0)

    async def _wait_until_ready(self) -> None:
        """Wait for a session that is being started anew. Raises AgentGoneError."""
        try:
            async with asyncio.timeout(self.dialect.start_limit + self.dialect.open_limit):
                await self._ready.wait()
        except TimeoutError:
            raise AgentGoneError(
                sentence("{agent} does not come back.", agent=self.dialect.title), sentence("Start the session again.")
            ) from None

    def _known_id(self) -> SessionId:
        return self._session_id or SessionId("")
