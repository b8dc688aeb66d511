"""One conversation with Claude Code: one process, many turns.

Everything runs in the engine's event loop. The reader never waits for a person: each request of the program is
answered in a task of its own, owned by the session's task group. Nothing here knows a wire shape (``wire``) or makes
an event (``translate``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from pathlib import Path

from agents.claude import wire
from agents.claude.calls import Calls
from agents.claude.handshake import check_login, check_version, started
from agents.claude.messages import (
    Cancelled,
    Json,
    McpMessage,
    Message,
    OtherRequest,
    Response,
    Result,
    Stray,
    ToolPermission,
    Unknown,
)
from agents.claude.prompting import prompt_line
from agents.claude.requests import Requests
from agents.claude.tools import HUB_SERVER
from agents.claude.translate import Translator
from agents.contract import (
    AgentEvent,
    AgentGoneError,
    HubError,
    InputId,
    ProcessExited,
    Prompt,
    SessionId,
    SessionNotFoundError,
    UserChannel,
    sentence,
)
from agents.mailbox import Mailbox
from agents.processes import LinePipe, LineTooLongError

logger = logging.getLogger(__name__)

START_TIMEOUT = 60.0
"""Seconds for the handshake; 0.4 to 1.6 s were measured, a cold disk costs many times that."""
TOOLS_TIMEOUT = 1.5
"""Seconds; the program asks for them within 0.1 s of the handshake (measured)."""
INTERRUPT_TIMEOUT = 15.0
"""Seconds from an interrupt to the end of the turn; after them the program is ended."""
END_TIMEOUT = 5.0
"""Seconds for each step of an end: the turn, the program by itself, by TERM, by KILL."""
LEAVE_TIMEOUT = 12.0
"""Seconds for a program that listens to end by itself."""


class ClaudeSession:
    """See ``agents.contract.AgentSession``. Starts to read at once; ``begin`` must follow."""

    def __init__(
        self,
        pipe: LinePipe,
        channel: UserChannel,
        cwd: Path,
        session_id: SessionId,
        new_id: Callable[[], str],
        *,
        is_resumed: bool = False,
    ) -> None:
        self._pipe = pipe
        self._cwd = cwd
        self._new_id = new_id
        self._calls = Calls(pipe)
        self._requests = Requests(pipe, channel, cwd, new_id().replace("-", "")[:8], self._spawn)
        self._translator = Translator(started({}, session_id, cwd), is_resumed=is_resumed)
        self._mailbox = Mailbox()
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_open = False
        self._is_closing = False
        self._has_result = False
        self._unknown: set[str] = set()
        self._group: asyncio.TaskGroup | None = None
        self._main = asyncio.create_task(self._run(), name="claude session")

    @property
    def session_id(self) -> SessionId | None:
        return self._translator.started.session_id

    @property
    def is_durable(self) -> bool:
        """A turn has ended, so the program has certainly written the session down."""
        return self._has_result

    @property
    def pid(self) -> int | None:
        return self._pipe.pid

    @property
    def last_heard(self) -> float:
        return self._pipe.last_heard

    @property
    def events(self) -> AsyncIterator[AgentEvent]:
        return self._mailbox

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call back once when the process is gone."""
        self._main.add_done_callback(lambda _: callback())

    async def begin(self) -> Json:
        """The handshake. Raises what ``AgentBackend.open`` raises; the session must then be closed."""
        try:
            response = await self._calls.call("initialize", START_TIMEOUT, hooks=None, sdkMcpServers=[HUB_SERVER])
        except AgentGoneError as error:
            await asyncio.wait({self._main}, timeout=END_TIMEOUT)  # until its last words are read
            raise self._gone() from error
        check_version(wire.text_of(response, "claude_code_version"))
        check_login(response)
        if not await self._requests.wait_for_tools(TOOLS_TIMEOUT):
            logger.warning("claude did not ask for the hub's tools; sending files may not work in the first turn")
        self._is_open = True
        old = self._translator.started
        self._translator.started = started(response, old.session_id, self._cwd)
        self._put([self._translator.started])
        return response

    async def prompt(self, prompt: Prompt) -> InputId:
        input_id = InputId(self._new_id())
        await self._send_input(prompt, input_id, self._translator.prompted)
        return input_id

    async def steer(self, prompt: Prompt) -> InputId | None:
        if not self._translator.is_running or prompt.is_command:
            return None
        input_id = InputId(self._new_id())
        await self._send_input(prompt, input_id, self._translator.steered)
        return input_id

    async def interrupt(self) -> None:
        if self._translator.is_busy:
            self._spawn(self._insist())  # first: the program may not even read what follows
            await self._calls.send("interrupt", cancel_queued=True)

    async def stop_background(self) -> None:
        for task in self._translator.background:
            await self._calls.call("stop_task", task_id=task.id)

    async def set_mode(self, mode: str) -> None:
        response = await self._calls.call("set_permission_mode", mode=mode)
        self._put(self._translator.mode_is(wire.text_of(response, "mode") or mode))

    async def set_model(self, model: str) -> None:
        await self._calls.call("set_model", model=None if model == "default" else model)

    async def set_effort(self, effort: str) -> None:
        await self._calls.call("apply_flag_settings", settings={"effortLevel": effort})

    async def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            try:
                with contextlib.suppress(HubError, TimeoutError):
                    async with asyncio.timeout(LEAVE_TIMEOUT):
                        await self._leave()
            finally:  # also when the caller waits no longer: a deaf program must not live on
                await self._pipe.stop(END_TIMEOUT)
        await asyncio.wait({self._main}, timeout=END_TIMEOUT)
        if not self._main.done():
            self._main.cancel()
            await asyncio.wait({self._main})

    async def _leave(self) -> None:
        """Deny what is open, stop the turn, say what is lost, ask the program to end: it then ends its shells."""
        await self._requests.deny_all()
        if self._translator.is_busy:
            await self._calls.send("interrupt", cancel_queued=True)
            await self._wait_idle(END_TIMEOUT)
        await self._calls.send("end_session")
        await asyncio.wait({self._main}, timeout=END_TIMEOUT)

    async def _send_input(self, prompt: Prompt, input_id: InputId, note: Callable[[InputId], None]) -> None:
        if prompt.files or prompt.images:
            line = await asyncio.to_thread(prompt_line, prompt, input_id)
        else:
            line = prompt_line(prompt, input_id)
        note(input_id)  # before the bytes: the program's receipt may overtake the end of the write
        self._idle.clear()
        try:
            await self._pipe.send(line)
        except AgentGoneError:
            self._translator.forgotten(input_id)
            raise

    async def _insist(self) -> None:
        if not await self._wait_idle(INTERRUPT_TIMEOUT):
            logger.warning("claude did not stop its turn within %.0f s; the program is ended", INTERRUPT_TIMEOUT)
            await self._pipe.stop(END_TIMEOUT)

    async def _wait_idle(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def _run(self) -> None:
        """Read until the program is gone; owns every task of the session."""
        try:
            async with asyncio.TaskGroup() as self._group:
                await self._read()
                await self._settle_end()
                self._calls.fail(self._gone())
                await self._requests.deny_all()
                self._idle.set()
        finally:
            self._group = None
            await self._end()

    async def _settle_end(self) -> None:
        """The last words on stderr may come after the end of stdout."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_TIMEOUT):
                await self._pipe.wait()

    async def _read(self) -> None:
        try:
            async for line in self._pipe.lines:
                self._handle(wire.parse(line))
        except LineTooLongError as error:
            logger.warning("claude: %s (%s)", error.title, error.detail)
            await self._pipe.stop(END_TIMEOUT)

    def _handle(self, message: Message) -> None:
        match message:
            case Response():
                self._calls.settle(message)
            case ToolPermission() | McpMessage() | OtherRequest():
                self._requests.take(message, plan=self._translator.last_text, helper=self._helper(message))
            case Cancelled():
                self._requests.cancelled(message)
            case Stray(text):
                logger.debug("claude wrote on stdout: %s", text[:200])
            case Result(is_error=True) if not self._is_open:
                self._calls.fail(self._not_opened("; ".join(message.errors) or message.text))
            case _:
                self._translate(message)

    def _put(self, events: Iterable[AgentEvent]) -> None:
        for event in events:
            self._mailbox.put(event)

    def _helper(self, message: ToolPermission | McpMessage | OtherRequest) -> str:
        if not isinstance(message, ToolPermission) or not message.agent_id:
            return ""
        return self._translator.helpers.get(message.agent_id, "sub-agent")

    def _translate(self, message: Message) -> None:
        if isinstance(message, Unknown) and message.name not in self._unknown:
            self._unknown.add(message.name)
            logger.info("claude said something this version does not know: %s", message.name)
        self._has_result = self._has_result or isinstance(message, Result)
        self._put(self._translator.events(message))
        if self._translator.is_busy:
            self._idle.clear()
        else:
            self._idle.set()

    def _spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None] | None:
        if self._group is None:
            work.close()
            return None
        task = self._group.create_task(self._guarded(work))
        task.add_done_callback(lambda _: work.close())  # one cancelled before its first step never began it
        return task

    async def _guarded(self, work: Coroutine[object, object, None]) -> None:
        """The outermost edge of a task: one that breaks must not take the session along."""
        try:
            await work
        except AgentGoneError:
            logger.debug("claude was gone before it could be answered")
        except Exception:
            logger.exception("a task of a claude session failed")

    async def _end(self) -> None:
        code = await self._pipe.stop(END_TIMEOUT)
        if self._is_open:
            self._put(self._translator.unanswered("The agent ended."))
        hint = "" if self._is_closing else sentence("Send a message to start it again.")
        self._put([ProcessExited(code, self._is_closing, hint, self._pipe.stderr_tail)])
        self._mailbox.close()

    def _gone(self) -> HubError:
        if self._is_open:
            return AgentGoneError(
                sentence("Claude Code ended."),
                hint=sentence("Send the message again to start it anew."),
                detail=self._pipe.stderr_tail,
            )
        return self._not_opened(self._pipe.stderr_tail)

    def _not_opened(self, why: str) -> HubError:
        if "No conversation found" in why:
            return SessionNotFoundError(
                sentence("Claude Code does not know this session any more."),
                hint=sentence("Begin a new one with /new."),
                detail=why,
            )
        return AgentGoneError(
            sentence("Claude Code ended while it started."),
            hint=sentence("Run claude in a terminal to see what is wrong."),
            detail=why,
        )
