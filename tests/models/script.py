"""What the scripted model says and does, said once for every wire format. Standard library only.

A prompt that contains ``play:NAME`` chooses a script: a row of answers. The answer is chosen from the request alone
(how many answers of the model follow that prompt), so it survives retries, resumed sessions and parallel requests.
Past the end of a script, or without a mark, the model echoes the last text it was told.

A server for a wire format turns a request into ``Said`` entries (consecutive items of the model are ONE entry), asks
``ScriptedModel.answer`` and writes the parts in its own form; tool calls go through ``ToolNames`` of the agent.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Say:
    """Text in ``chunks`` pieces with ``delay`` seconds between them."""

    text: str
    chunks: int = 2
    delay: float = 0.0

    @property
    def pieces(self) -> list[str]:
        size = max(1, -(-len(self.text) // max(1, self.chunks)))
        return [self.text[start : start + size] for start in range(0, len(self.text), size)]


@dataclass(frozen=True, slots=True)
class Think:
    """Thinking, where the wire format has such a thing."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """Run a shell command in the working folder."""

    command: str
    in_background: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """Read a file."""

    path: str


@dataclass(frozen=True, slots=True)
class Write:
    """Write a whole file."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a text in a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the person; ``choices`` are labels."""

    question: str
    choices: tuple[str, ...] = ()
    is_multiple: bool = False


@dataclass(frozen=True, slots=True)
class SendFile:
    """Hand a file to the person by the hub's own tool."""

    path: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class ProposePlan:
    """Leave the planning mode with a plan."""

    plan: str


@dataclass(frozen=True, slots=True)
class Fail:
    """Refuse the request with an HTTP error the first ``times`` times (None = always); then the rest of the answer."""

    status: int
    kind: str
    message: str = "scripted error"
    times: int | None = None
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection in the middle."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Say nothing for so many seconds, with the connection open."""

    seconds: float


Call = Run | Read | Write | Edit | Ask | SendFile | ProposePlan
Part = Say | Think | Call | Fail | Cut | Hang
Answer = tuple[Part, ...]
Script = tuple[Answer, ...]
ToolNames = Callable[[Call], tuple[str, Mapping[str, object]]]
"""An agent's name and arguments for a call."""

LARGE = 3_000_000
"""Letters of the largest answer."""
SLEEP = "touch begun.txt && sleep 30"
"""Needs a permission everywhere; Claude Code refuses a bare ``sleep 30`` (measured on 2.1.332)."""
SCRIPTS: Mapping[str, Script] = {
    "hello": ((Say("Hello **world**.", chunks=4),),),
    "think": ((Think("Let me think."), Say("Done thinking.")),),
    "run": ((Say("Running."), Run("touch made.txt")), (Say("finished"),)),
    "two": ((Run("touch one.txt"), Run("touch two.txt")), (Say("both done"),)),
    "write": (
        (Write("notes.txt", "one\ntwo\n"),),
        (Edit("notes.txt", "two", "three"),),
        (Say("written"),),
    ),
    "ask": ((Ask("Which library?", ("httpx", "requests")),), (Say("thanks"),)),
    "send": ((SendFile("report.txt", "The report"),), (Say("sent"),)),
    "slow": ((Say("word " * 200, chunks=100, delay=0.05),),),
    "sleep": ((Say("Sleeping."), Run(SLEEP)), (Say("slept"),)),
    "nap": ((Run("sleep 2"),), (Say("napped"),)),
    "large": ((Say("x" * LARGE, chunks=30),),),
    "background": ((Run("sleep 300", in_background=True),), (Say("started"),)),
    "short-background": ((Run("sleep 1; echo done", in_background=True),), (Say("started"),)),
    "plan": ((Say("1. Do this\n2. Do that"), ProposePlan("1. Do this\n2. Do that")), (Say("planned"),)),
    "limited": ((Fail(429, "rate_limit_error", times=1, retry_after=1), Say("recovered")),),
    "refused": ((Fail(400, "invalid_request_error", "scripted refusal"),),),
    "denied": ((Fail(401, "authentication_error", "scripted: no such key"),),),
    "overloaded": ((Fail(529, "overloaded_error", times=1), Say("recovered")),),
    "cut": ((Say("half an answer"), Cut()),),
    "hang": ((Hang(60),),),
}

_MARK = re.compile(r"play:([a-z0-9_-]+)")


class Role(StrEnum):
    """Who said something in a request."""

    USER = "user"
    MODEL = "model"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Said:
    """One entry of the conversation a request carries."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """One request to the model."""

    conversation: tuple[Said, ...]
    body: str = field(repr=False)


class ScriptedModel:
    """Chooses answers and remembers what it was told. Used from the threads of a server."""

    def __init__(self, scripts: Mapping[str, Script] = SCRIPTS) -> None:
        self._scripts = scripts
        self._lock = threading.Lock()
        self._hits: dict[tuple[str, int], int] = {}
        self.heard: list[Heard] = []

    @property
    def scripts(self) -> Mapping[str, Script]:
        return self._scripts

    def answer(self, conversation: Sequence[Said], body: str) -> Answer:
        """The parts of the next answer; a ``Fail`` in front of them is already counted."""
        name, index, last = _place(conversation)
        script = self._scripts.get(name, ())
        answer = script[index] if index < len(script) else (Say(f"echo: {last[-300:]}"),)
        with self._lock:
            self.heard.append(Heard(tuple(conversation), body))
            hits = self._hits[name, index] = self._hits.get((name, index), 0) + 1
        first = answer[0] if answer else None
        if isinstance(first, Fail) and first.times is not None:
            return (first,) if hits <= first.times else answer[1:]
        return answer

    def was_told(self, text: str) -> bool:
        """Whether any request carried ``text`` (in a prompt, a tool's result or a note of the agent)."""
        with self._lock:
            return any(text in said.text for heard in self.heard for said in heard.conversation)


def _place(conversation: Sequence[Said]) -> tuple[str, int, str]:
    """The script, the number of the answer in it, and the last text of the user."""
    name, index, last = "", 0, ""
    for said in conversation:
        if said.role is Role.MODEL:
            index += 1
        elif said.role is Role.USER:
            last = said.text or last
            marks = _MARK.findall(said.text)
            if marks:
                name, index = marks[-1], 0
    return name, index, last
