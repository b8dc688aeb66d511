"""The human on the other side, as the promises need one: decides by a rule, remembers everything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agents.contract import (
    Answer,
    Answers,
    AskId,
    Decision,
    Declined,
    FileDelivery,
    OutgoingFile,
    PermissionRequest,
    QuestionRequest,
    Verdict,
)

ALLOW = Decision(Verdict.ALLOW)
Rule = Callable[[PermissionRequest], Decision | None]


class Person:
    """A ``UserChannel``. ``decide`` giving None means: never answers, until the agent takes the request back."""

    def __init__(self, decide: Rule = lambda _: ALLOW, answer: Declined | str = "httpx") -> None:
        self.decide = decide
        self.answer = answer
        self.requests: list[PermissionRequest] = []
        self.questions: list[QuestionRequest] = []
        self.told_of: list[tuple[AskId, bool]] = []
        self.withdrawals: list[AskId] = []
        self.files: list[OutgoingFile] = []
        self._pending: dict[AskId, asyncio.Event] = {}
        self._news = asyncio.Event()

    async def request(self, ask: PermissionRequest) -> Decision:
        self.requests.append(ask)
        self._news.set()
        decision = self.decide(ask)
        if decision is not None:
            return decision
        gone = self._pending[ask.id] = asyncio.Event()
        await gone.wait()
        return Decision(Verdict.DENY, "withdrawn")

    async def ask(self, ask: QuestionRequest) -> Answers | Declined:
        self.questions.append(ask)
        self._news.set()
        if isinstance(self.answer, Declined):
            return self.answer
        return Answers(tuple(Answer(question.key, (self.answer,)) for question in ask.questions))

    async def told(self, ask_id: AskId, *, delivered: bool) -> None:
        self.told_of.append((ask_id, delivered))
        self._news.set()

    async def withdrawn(self, ask_id: AskId, why: str) -> None:
        self.withdrawals.append(ask_id)
        if ask_id in self._pending:
            self._pending[ask_id].set()
        self._news.set()

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        self.files.append(file)
        self._news.set()
        return FileDelivery(is_delivered=True, detail="The person has report.txt now.")

    async def until(self, is_so: Callable[[], bool], seconds: float = 20) -> None:
        """Wait until something the person saw makes it so."""
        async with asyncio.timeout(seconds):
            while not is_so():
                self._news.clear()
                await self._news.wait()
