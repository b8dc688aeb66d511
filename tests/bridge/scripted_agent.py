"""An agent whose every word is spoken by the test: implements the contract, starts no process."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from agents.contract import (
    AgentBackend,
    AgentEvent,
    AgentHealth,
    AgentNotFoundError,
    AgentTraits,
    AskId,
    AssistantText,
    Decision,
    HubError,
    InputConsumed,
    InputId,
    InputReturned,
    PermissionRequest,
    ProcessExited,
    Prompt,
    ReasonPath,
    SessionArchive,
    SessionId,
    SessionSpec,
    SessionStarted,
    ToolFinished,
    ToolId,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UserChannel,
)

_END = object()


class ScriptedSession:
    """Remembers what it was asked; ``say`` puts words into its mouth."""

    def __init__(self, spec: SessionSpec, channel: UserChannel, now: Callable[[], float], number: int) -> None:
        self.spec = spec
        self.channel = channel
        self.prompts: list[Prompt] = []
        self.steered: list[tuple[InputId, Prompt]] = []
        self.calls: list[str] = []
        self.takes_steering = True
        self.prompt_error: HubError | None = None
        self.is_closed = False
        self.session_id: SessionId | None = spec.resume or SessionId(f"session-{number}")
        self.pid: int | None = 4000 + number
        self.last_heard = now()
        self._now = now
        self._inputs = itertools.count(1)
        self._events: asyncio.Queue[object] = asyncio.Queue()

    # --- the contract

    @property
    def events(self) -> AsyncIterator[AgentEvent]:
        return self._stream()

    async def _stream(self) -> AsyncIterator[AgentEvent]:
        while (event := await self._events.get()) is not _END:
            yield event  # type: ignore[misc]

    async def prompt(self, prompt: Prompt) -> InputId:
        if self.prompt_error is not None:
            raise self.prompt_error
        self.prompts.append(prompt)
        self.say(TurnStarted())
        return InputId(f"in{next(self._inputs)}")

    async def steer(self, prompt: Prompt) -> InputId | None:
        if not self.takes_steering:
            return None
        input_id = InputId(f"in{next(self._inputs)}")
        self.steered.append((input_id, prompt))
        return input_id

    async def interrupt(self) -> None:
        self.calls.append("interrupt")
        if self.prompts:
            self.say(TurnFinished(TurnOutcome.INTERRUPTED))

    async def stop_background(self) -> None:
        self.calls.append("stop_background")

    async def set_mode(self, mode: str) -> None:
        self.calls.append(f"mode {mode}")

    async def set_model(self, model: str) -> None:
        self.calls.append(f"model {model}")

    async def set_effort(self, effort: str) -> None:
        self.calls.append(f"effort {effort}")

    async def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.calls.append("close")
            self.end()

    # --- the script

    def say(self, *events: AgentEvent) -> None:
        self.last_heard = self._now()
        for event in events:
            self._events.put_nowait(event)

    def answer(self, text: str = "Done.") -> None:
        """End the turn with an answer."""
        self.say(AssistantText(text), TurnFinished(TurnOutcome.COMPLETED, text))

    def tool(self, name: str = "Bash", subject: str = "make", status: ToolStatus = ToolStatus.OK) -> None:
        tool_id = ToolId(f"tool{next(self._inputs)}")
        self.say(ToolStarted(tool_id, name, ToolKind.EXECUTE, name, subject), ToolFinished(tool_id, status, "output"))

    def consume(self, index: int = -1) -> None:
        self.say(InputConsumed(self.steered[index][0]))

    def give_back(self, index: int = -1) -> None:
        self.say(InputReturned(self.steered[index][0], "the turn was over"))

    def die(self, exit_code: int = 1, hint: str = "") -> None:
        self.pid = None
        self.say(ProcessExited(exit_code, was_expected=False, hint=hint, stderr="boom"))
        self.end()

    def end(self) -> None:
        self._events.put_nowait(_END)

    async def ask_permission(self, ask_id: str = "ask1", command: str = "rm -r build") -> Decision:
        ask = PermissionRequest(AskId(ask_id), "Bash", ToolKind.EXECUTE, "Run", command, self.spec.cwd)
        decision = await self.channel.request(ask)
        await self.channel.told(ask.id, delivered=True)
        return decision


@dataclass
class ScriptedBackend:
    """Opens scripted sessions; ``errors`` are raised by the next openings, one each."""

    kind: str = "claude"
    now: Callable[[], float] = lambda: 0.0
    started: SessionStarted | None = None
    can_steer: bool = True
    reason_path: ReasonPath = ReasonPath.IN_PROTOCOL
    errors: list[HubError] = field(default_factory=list)
    sessions: list[ScriptedSession] = field(default_factory=list)
    gate: asyncio.Event | None = None
    """Openings wait for it when it is set."""
    archive: SessionArchive | None = None
    is_installed: bool = True
    default_mode: str = ""
    runs_unasked: str = ""

    @property
    def traits(self) -> AgentTraits:
        return AgentTraits(
            self.kind.title(),
            self.reason_path,
            self.can_steer,
            is_process_shared=False,
            default_mode=self.default_mode,
            runs_unasked=self.runs_unasked,
        )

    async def locate(self) -> None:
        if not self.is_installed:
            raise AgentNotFoundError(f"{self.kind.title()} is not on this computer.", f"Install it: {self.kind}")

    async def probe(self) -> AgentHealth:
        return AgentHealth(self.kind, self.kind.title(), is_usable=True)

    async def open(self, spec: SessionSpec, channel: UserChannel) -> ScriptedSession:
        if self.gate is not None:
            await self.gate.wait()
        if self.errors:
            raise self.errors.pop(0)
        session = ScriptedSession(spec, channel, self.now, len(self.sessions) + 1)
        self.sessions.append(session)
        assert session.session_id is not None
        session.say(self.started or SessionStarted(session.session_id, spec.cwd, version="1.2.3", model="large"))
        return session

    async def close(self) -> None:
        for session in self.sessions:
            await session.close()


def as_backend(backend: ScriptedBackend) -> AgentBackend:
    """The type checker's proof that the script keeps the contract."""
    return backend
