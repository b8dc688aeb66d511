"""What the servers of all wire formats do alike: find the answer, refuse when the script says so, pause, break off."""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from tests.models.script import Answer, Call, Cut, Fail, Hang, Said, Say, ScriptedModel, Think, ToolNames
from tests.models.server import Body, Reply


class ScriptedWire(ABC):
    """One wire format: ``PATH`` is where it is asked; the rest is how it is written."""

    PATH: ClassVar[str]

    def __init__(self, model: ScriptedModel, tools: ToolNames) -> None:
        self.model = model
        self._tools = tools
        self._ids = itertools.count(1)

    def post(self, path: str, headers: Mapping[str, str], body: Body, reply: Reply) -> None:
        if not path.endswith(self.PATH):
            reply.whole(404, self.error("not_found_error", path))
        elif self.is_auxiliary(body):
            self._send(body, (Say("auxiliary answer"),), reply)
        else:
            self._send(body, self.model.answer(self.conversation(body), json.dumps(body)), reply)

    def is_auxiliary(self, body: Body) -> bool:
        """Whether the agent asks for something beside the conversation: a title, a suggestion, a summary."""
        return not body.get("tools")

    def _send(self, body: Body, answer: Answer, reply: Reply) -> None:
        first = answer[0] if answer else None
        if isinstance(first, Fail):
            after = {} if first.retry_after is None else {"retry-after": str(first.retry_after)}
            reply.whole(first.status, self.error(first.kind, first.message), after)
        elif body.get("stream"):
            self.stream(body, answer, reply)
        else:
            self.whole(body, answer, reply)

    @abstractmethod
    def conversation(self, body: Body) -> list[Said]:
        """The request's messages as neutral entries."""

    @abstractmethod
    def stream(self, body: Body, answer: Answer, reply: Reply) -> None:
        """The answer as events."""

    @abstractmethod
    def whole(self, body: Body, answer: Answer, reply: Reply) -> None:
        """The answer as one document."""

    @abstractmethod
    def error(self, kind: str, message: str) -> dict[str, object]:
        """The document of a refusal."""


def spoken(answer: Answer, reply: Reply) -> Iterator[Say | Think | Call]:
    """The parts to write, one after the other; a wait and a break in between happen here."""
    for part in answer:
        if isinstance(part, Hang):
            reply.wait(part.seconds)
        elif isinstance(part, Cut):
            reply.cut()
        elif not isinstance(part, Fail):
            yield part
