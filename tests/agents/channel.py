"""A person for tests of adapters: answers as told, remembers everything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from agents.contract import (
    AgentEvent,
    AgentSession,
    Answer,
    Answers,
    AskId,
    Decision,
    Declined,
    FileDelivery,
    OutgoingFile,
    PermissionRequest,
    ProcessExited,
    QuestionRequest,
    TurnFailed,
    TurnFinished,
    Verdict,
)

ALLOW = Decision(Verdict.ALLOW)
DENY = Decision(Verdict.DENY, "not today")


@dataclass
class Person:
    """``decision`` None: thinks until withdrawn or cancelled."""

    decision: Decision | None = ALLOW
    answer: Callable[[QuestionRequest], Answers | Declined] | None = None
    requests: list[PermissionRequest] = field(default_factory=list)
    questions: list[QuestionRequest] = field(default_factory=list)
    files: list[OutgoingFile] = field(default_factory=list)
    told_of: list[tuple[AskId, bool]] = field(default_factory=list)
    withdrawn_asks: list[AskId] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: dict[AskId, asyncio.Future[None]] = field(default_factory=dict)

    async def request(self, ask: PermissionRequest) -> Decision:
        self.requests.append(ask)
        self.asked.set()
        if self.decision is None:
            await self._think(ask.id)
            return Decision(Verdict.DENY, "withdrawn")
        return self.decision

    async def ask(self, ask: QuestionRequest) -> Answers | Declined:
        self.questions.append(ask)
        self.asked.set()
        if self.answer is None:
            await self._think(ask.id)
            return Declined("withdrawn")
        return self.answer(ask)

    async def told(self, ask_id: AskId, *, delivered: bool) -> None:
        self.told_of.append((ask_id, delivered))

    async def withdrawn(self, ask_id: AskId, why: str) -> None:
        self.withdrawn_asks.append(ask_id)
        waiting = self._waiting.pop(ask_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        self.files.append(file)
        return FileDelivery(True, "The user has it.")

    async def _think(self, ask_id: AskId) -> None:
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[ask_id] = waiting
        await waiting


def first_choice(ask: QuestionRequest) -> Answers:
    """The first option of each question, or a word where there is none."""
    return Answers(
        tuple(Answer(one.key, (one.choices[0].label,) if one.choices else ("my own words",)) for one in ask.questions)
    )


async def eventually(holds: Callable[[], bool], limit: float = 10.0) -> None:
    """Wait for something a real process does; AssertionError after ``limit`` seconds."""
    for _ in range(int(limit / 0.02)):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"it did not happen within {limit} s")


class Listener:
    """Keeps the events of a session; each wait has a limit."""

    def __init__(self, session: AgentSession, limit: float = 20.0) -> None:
        self.events: list[AgentEvent] = []
        self._session = session
        self._limit = limit
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for event in self._session.events:
            self.events.append(event)
            self._news.set()

    async def until(self, fits: Callable[[AgentEvent], bool], *, since: int = 0) -> AgentEvent:
        """The first event that fits, or TimeoutError."""
        async with asyncio.timeout(self._limit):
            while True:
                for event in self.events[since:]:
                    if fits(event):
                        return event
                self._news.clear()
                await self._news.wait()

    async def turn_end(self, *, since: int = 0) -> AgentEvent:
        """How the turn ended."""
        return await self.until(lambda event: isinstance(event, TurnFinished | TurnFailed | ProcessExited), since=since)

    async def ended(self) -> list[AgentEvent]:
        """All events, once the session is over."""
        async with asyncio.timeout(self._limit):
            await self._task
        return self.events
