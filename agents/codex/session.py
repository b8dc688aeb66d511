"""One conversation with Codex: a thread of the shared process.

Everything runs in the engine's event loop. What the thread tells is handled in the reader, in order; what takes time
(stopping commands, asking the person without a turn) runs in tasks the session owns. No wire shape is known here.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.codex.asking import Asking
from agents.codex.modes import chosen, offered
from agents.codex.server import CALL_LIMIT, AppServer, gone
from agents.codex.translate import Translation
from agents.codex.wire import calls
from agents.codex.wire.events import CodexEvent, ItemCompleted, RequestResolved, SettingsChanged, TurnEnded
from agents.codex.wire.items import AgentMessage, AsyncQuestion
from agents.codex.wire.requests import CodexRequest
from agents.contract import (
    AgentChoice,
    AgentCommand,
    AgentError,
    AgentEvent,
    AgentGoneError,
    FailureKind,
    InputConsumed,
    InputId,
    InputReturned,
    ModeChanged,
    ProcessExited,
    Prompt,
    SessionId,
    SessionStarted,
    TurnFailed,
    UserChannel,
    sentence,
)
from agents.jsonrpc import Request, RpcError
from agents.mailbox import Chores, Mailbox

logger = logging.getLogger(__name__)

STOP_LIMIT = 10.0
"""Seconds for a turn to end after an interrupt; 0.01 s was measured."""
LEAVE_LIMIT = 12.0
"""Seconds for all of leaving a thread; the hub waits 20 for a close."""
COMMANDS = (
    AgentCommand("compact", "Shorten the history of this conversation"),
    AgentCommand("review", "Review the changes in this folder that are not committed"),
)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is made of once its thread is open."""

    server: AppServer
    thread: calls.Thread
    settings: calls.Settings
    models: tuple[calls.Model, ...]
    configured_mode: str | None
    version: str
    cwd: Path
    release: Callable[[], Awaitable[None]]
    new_id: Callable[[], str]


class CodexSession:
    """See ``agents.contract.AgentSession``."""

    def __init__(self, opening: Opening, channel: UserChannel) -> None:
        self._opening = opening
        self._server = opening.server
        self._thread = opening.thread.id
        self._settings = opening.settings
        self._model = opening.thread.model
        self._mailbox = Mailbox()
        self._chores = Chores("codex session")
        self._translation = Translation(self._thread)
        self._asking = Asking(channel, opening.cwd, self._translation, opening.new_id, self._explain)
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopped = asyncio.Event()
        self._stopped.set()
        self._announced: str | None = None
        self._ended: str | None = None
        self._own_inputs: dict[InputId, str] = {}
        """Answers handed to the turn by this adapter itself: the hub knows nothing of them."""
        self._is_leaving = False
        self._is_closed = False
        self._last_heard = time.monotonic()
        self._server.attach(self._thread, self)
        self._mailbox.put(self._started())

    @property
    def session_id(self) -> SessionId | None:
        return SessionId(self._thread)

    @property
    def pid(self) -> int | None:
        return None if self._is_closed else self._server.pid

    @property
    def last_heard(self) -> float:
        """Of this thread, not of the process: another topic's noise is no sign of life here."""
        return self._last_heard

    @property
    def events(self) -> AsyncIterator[AgentEvent]:
        return self._mailbox

    @property
    def turn_id(self) -> str | None:
        return self._translation.turn_id

    # -- what the hub wants

    async def prompt(self, prompt: Prompt) -> InputId:
        input_id = InputId(self._opening.new_id())
        if prompt.is_command:
            await self._begin(*self._command(prompt.text))
            return input_id
        params = calls.start_turn(self._thread, prompt, input_id, self._settings, self._model)
        if not params["input"]:
            # Codex takes it and calls the model without a message (measured).
            raise AgentError(sentence("The message is empty."), hint=sentence("Write what is to be done."))
        await self._begin("turn/start", params)
        return input_id

    def _command(self, text: str) -> tuple[str, dict[str, Any]]:
        name = text.removeprefix("/").split(" ")[0]
        if name == "compact":
            return "thread/compact/start", {"threadId": self._thread}
        if name == "review":
            target = {"type": "uncommittedChanges"}
            return "review/start", {"threadId": self._thread, "target": target, "delivery": "inline"}
        raise AgentError(
            sentence("Codex has no command /{name} here.", name=name), hint=sentence("It has /compact and /review.")
        )

    async def _begin(self, method: str, params: dict[str, Any]) -> None:
        """Start a turn. What Codex refuses is the end of that turn; raises AgentGoneError when it is not there."""
        was_running = self._translation.turn_id
        self._translation.expect_turn()
        try:
            answer = await self._call_loaded(method, params)
        except RpcError as error:
            self._translation.unexpect_turn()
            self._mailbox.put(_refused(error))
            return
        except AgentGoneError:
            if self._translation.turn_id not in {None, was_running}:
                return  # the answer was lost, the turn was not
            self._translation.unexpect_turn()
            if self._server.is_gone or self._is_closed:
                raise
            self._mailbox.put(_unanswered())
            return
        turn = calls.read_turn_id(answer)
        if turn and turn == was_running:
            self._translation.unexpect_turn()  # it became part of the turn that ran
        elif turn and turn != self._ended:
            self._announced = turn
            self._idle.clear()

    async def _call_loaded(self, method: str, params: dict[str, Any]) -> Any:
        try:
            return await self._call(method, params)
        except RpcError as error:
            if "thread not found" not in error.message:
                raise
        resume = calls.resume_thread(self._thread, self._opening.cwd, self._settings)
        await self._call("thread/resume", resume)
        return await self._call(method, params)

    async def _call(self, method: str, params: dict[str, Any], within: float = CALL_LIMIT) -> Any:
        if self._is_closed or self._server.is_gone:
            raise gone(self._server)
        return await self._server.call(method, params, within=within)

    async def steer(self, prompt: Prompt) -> InputId | None:
        input_id = InputId(self._opening.new_id())
        return input_id if await self._steer(prompt, input_id) else None

    async def _steer(self, prompt: Prompt, input_id: InputId) -> bool:
        turn = self._translation.turn_id
        if turn is None or prompt.is_command or self._is_closed:
            return False
        params = calls.steer_turn(self._thread, turn, prompt, input_id)
        if not params["input"]:
            return False
        self._translation.steered(input_id)
        try:
            await self._call("turn/steer", params)
        except RpcError as error:
            logger.debug("codex does not take a text now: %s", error.message[:200])
            self._translation.not_steered(input_id)
            return False
        except AgentGoneError:
            if self._server.is_gone:
                self._translation.not_steered(input_id)
                raise
            # No answer is no refusal: the end of the turn tells whether it was read.
        return True

    async def _explain(self, thread: str, turn: str, words: str) -> None:
        """Give the reason of a denial to the turn that asked, before the denial itself."""
        params = calls.steer_turn(thread, turn, Prompt(words), self._opening.new_id())
        try:
            await self._call("turn/steer", params)
        except AgentError as error:
            logger.info("codex did not take the reason of a denial: %s", type(error).__name__)

    async def interrupt(self) -> None:
        turn = self._translation.turn_id or self._announced
        if turn is None or self._is_closed:
            return
        left = self._translation.running_commands()
        await self._stop_turn(self._thread, turn)
        for helper, its_turn in list(self._translation.helper_turns.items()):
            await self._stop_turn(helper, its_turn)
        await self._asking.withdraw_all(sentence("The turn was stopped."))
        self._stopped.clear()
        self._chores.start(self._finish_stop(left))

    async def _stop_turn(self, thread: str, turn: str) -> None:
        try:
            await self._call("turn/interrupt", {"threadId": thread, "turnId": turn}, within=STOP_LIMIT)
        except RpcError as error:
            logger.debug("codex has nothing to interrupt: %s", error.message[:200])
        except AgentGoneError as error:
            logger.info("codex does not answer a stop: %s", error.detail)  # whoever waits for the turn's end says so

    async def _finish_stop(self, left: set[str]) -> None:
        """An interrupt leaves a running command running: end what this turn had started."""
        if not await self._wait_for(self._idle):
            logger.warning("codex did not stop its turn within %.0f s", STOP_LIMIT)
            hint = sentence("Close the session with /stop and go on with a new message.")
            self._mailbox.put(TurnFailed(FailureKind.OTHER, sentence("Codex does not stop."), hint))
        try:
            await self._terminate(left)
        except AgentError as error:
            logger.info("codex did not end a command of a stopped turn: %s", type(error).__name__)
        finally:
            self._stopped.set()

    async def _terminate(self, items: set[str]) -> None:
        if not items:
            return
        answer = await self._call("thread/backgroundTerminals/list", {"threadId": self._thread})
        for terminal in calls.read_terminals(answer):
            if terminal.item in items:
                params = {"threadId": self._thread, "processId": terminal.process}
                await self._call("thread/backgroundTerminals/terminate", params)

    async def stop_background(self) -> None:
        await self._call("thread/backgroundTerminals/clean", {"threadId": self._thread})
        self._tell(self._translation.forget_background({task.id for task in self._translation.tasks}))

    async def set_mode(self, mode: str) -> None:
        wanted = chosen(mode, self._opening.configured_mode)
        await self._change(replace(self._settings, mode=wanted))
        self._mailbox.put(ModeChanged(mode))

    async def set_model(self, model: str) -> None:
        await self._change(replace(self._settings, model=model, effort=None))

    async def set_effort(self, effort: str) -> None:
        await self._change(replace(self._settings, effort=effort))

    async def _change(self, settings: calls.Settings) -> None:
        """Every turn brings the settings anyway; this makes them hold for one that runs."""
        params = {"threadId": self._thread, **calls.settings_of(settings, self._model)}
        try:
            await self._call_loaded("thread/settings/update", params)
        except RpcError as error:
            raise AgentError(
                sentence("Codex did not take this setting."), sentence("Choose another one."), error.message[:500]
            ) from error
        self._settings = settings

    async def close(self) -> None:
        if self._is_closed or self._is_leaving:
            return
        self._is_leaving = True
        try:
            async with asyncio.timeout(LEAVE_LIMIT):
                await self._leave()
        except (AgentError, TimeoutError) as error:
            logger.info("codex could not be left in order: %s", type(error).__name__)
        finally:  # also when the caller waits no longer: the process must not be held for ever
            self._server.detach(self._thread)
            self._end(ProcessExited(None, was_expected=True))
            try:
                await self._chores.close()
            finally:
                await self._opening.release()

    async def _leave(self) -> None:
        """Stop the turn, say what is lost, and let go of the thread: another program may then write to it."""
        await self._asking.withdraw_all(sentence("The session was closed."))
        turn = self._translation.turn_id or self._announced
        if turn is not None:
            await self._stop_turn(self._thread, turn)
            await self._wait_for(self._idle)
        await self._wait_for(self._stopped)
        for method in ("thread/backgroundTerminals/clean", "thread/unsubscribe"):
            await self._call(method, {"threadId": self._thread}, within=STOP_LIMIT)

    # -- what the server tells

    def hear(self, event: CodexEvent) -> None:
        self._last_heard = time.monotonic()
        self._tell(self._translation.translate(event))
        if self._translation.turn_id is not None:
            self._idle.clear()
        match event:
            case TurnEnded():
                self._turn_ended(event)
            case RequestResolved():
                self._chores.start(self._asking.resolved(event.request_id))
            case SettingsChanged(thread=self._thread):
                self._settings_changed(event)
            case ItemCompleted(item=AgentMessage(questions=questions)) if questions:
                self._chores.start(self._ask_aside(questions))
            case _:
                return

    def take(self, request: Request, asked: CodexRequest) -> Coroutine[Any, Any, None]:
        self._last_heard = time.monotonic()
        return self._asking.take(request, asked)

    def lost(self, exit_code: int | None, stderr: str, *, was_expected: bool) -> None:
        if self._is_closed:
            return
        self._tell(self._translation.lost())
        hint = "" if was_expected else sentence("Send a message to start it again.")
        self._chores.start(self._end_lost(ProcessExited(exit_code, was_expected, hint, stderr)))

    async def _end_lost(self, exited: ProcessExited) -> None:
        await self._asking.withdraw_all(sentence("Codex has ended."))
        self._end(exited)
        await self._opening.release()

    def _turn_ended(self, event: TurnEnded) -> None:
        self._chores.start(self._asking.turn_over(event.thread))
        if event.thread == self._thread:
            self._ended, self._announced = event.turn, None
            self._idle.set()

    def _settings_changed(self, event: SettingsChanged) -> None:
        if event.model and event.model != self._model:
            self._model = event.model
            self._mailbox.put(self._started())

    async def _ask_aside(self, questions: tuple[AsyncQuestion, ...]) -> None:
        """The turn goes on meanwhile; the answer is ordinary text, as Codex wants it."""
        await self._asking.put(questions, self._say)

    async def _say(self, text: str) -> None:
        """Give a text to the turn that runs, or begin one with it."""
        input_id = InputId(self._opening.new_id())
        self._own_inputs[input_id] = text
        if await self._steer(Prompt(text), input_id):
            return
        del self._own_inputs[input_id]
        params = calls.start_turn(self._thread, Prompt(text), input_id, self._settings, self._model)
        await self._call_loaded("turn/start", params)

    # -- small things

    def _tell(self, events: list[AgentEvent]) -> None:
        for event in events:
            match event:
                case InputConsumed(input_id=input_id) if input_id in self._own_inputs:
                    del self._own_inputs[input_id]
                case InputReturned(input_id=input_id) if input_id in self._own_inputs:
                    self._chores.start(self._say(self._own_inputs.pop(input_id)))
                case _:
                    self._mailbox.put(event)

    def _end(self, exited: ProcessExited) -> None:
        self._is_closed = True
        self._idle.set()
        self._mailbox.put(exited)
        self._mailbox.close()

    async def _wait_for(self, event: asyncio.Event) -> bool:
        try:
            async with asyncio.timeout(STOP_LIMIT):
                await event.wait()
        except TimeoutError:
            return False
        return True

    def _started(self) -> SessionStarted:
        opening = self._opening
        models = tuple(AgentChoice(model.id, model.label, model.description) for model in opening.models)
        efforts = next((model.efforts for model in opening.models if model.id == self._model), ())
        return SessionStarted(
            session_id=SessionId(self._thread),
            cwd=opening.cwd,
            version=opening.version,
            model=self._model,
            mode=self._settings.mode.id,
            commands=COMMANDS,
            models=models,
            modes=offered(opening.configured_mode),
            efforts=tuple(AgentChoice(effort, effort, told) for effort, told in efforts),
        )


def _unanswered() -> TurnFailed:
    hint = sentence("Look at what it does next; send the message again if it does nothing.")
    return TurnFailed(FailureKind.OTHER, sentence("Codex did not answer."), hint)


def _refused(error: RpcError) -> TurnFailed:
    """A turn that did not begin. The message may hold a long list of method names: only its beginning is kept."""
    if isinstance(error.data, dict) and error.data.get("input_error_code") == "input_too_large":
        hint = sentence("Send it as a file, or in parts.")
        return TurnFailed(FailureKind.TOO_LONG, sentence("The message is too long for Codex."), hint)
    return TurnFailed(
        FailureKind.OTHER,
        sentence("Codex did not take the message."),
        sentence("Send it again; see the details."),
        error.message[:500],
    )
