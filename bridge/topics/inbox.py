"""The line of work in front of one topic, and the one alarm that wakes it when nothing comes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.contract import AgentEvent, AgentSession, HubError, Prompt
from bridge.buttons import Pressed
from bridge.clock import Clock
from bridge.inbound import IncomingMessage
from bridge.pending import DueWords

if TYPE_CHECKING:
    from bridge.commands.table import Call
    from bridge.topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Said:
    """A text or files for the agent. ``is_old``: written while the hub was off."""

    message: IncomingMessage
    is_old: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """A person changed a message."""

    message: IncomingMessage


@dataclass(frozen=True, slots=True)
class Called:
    """A command for this topic."""

    call: Call


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of the hub's own buttons was pressed."""

    pressed: Pressed
    message_id: int


@dataclass(frozen=True, slots=True)
class Choosing:
    """A choice of model, mode or effort that waited for the agent's offers."""

    what: str
    value: str


@dataclass(frozen=True, slots=True)
class Offered:
    """What a former life left in this topic was put in line; it is offered in one notice."""

    reason: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """/stopall: stop what runs here."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The files of a waiting text lie in the session's folder now."""

    entry_id: str
    prompt: Prompt
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """The session is there."""

    epoch: str
    session: AgentSession


@dataclass(frozen=True, slots=True)
class OpenFailed:
    """The session could not be opened."""

    epoch: str
    error: HubError


@dataclass(frozen=True, slots=True)
class Heard:
    """The agent said something."""

    epoch: str
    event: AgentEvent


@dataclass(frozen=True, slots=True)
class Silenced:
    """The session's events ended."""

    epoch: str


@dataclass(frozen=True, slots=True)
class AskClosed:
    """A request or question of this topic is no longer open: what was queued behind it may go on."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A person's words with a denial, for an agent whose protocol can't carry them: they follow as a text.

    ``is_old``: said in a former life of the hub; they are offered instead of given.
    """

    words: DueWords
    is_old: bool = False


@dataclass(frozen=True, slots=True)
class TopicGone:
    """The topic was deleted or can't be written to."""


@dataclass(frozen=True, slots=True)
class TopicShut:
    """The topic was closed (or reopened) in Telegram."""

    is_closed: bool


@dataclass(frozen=True, slots=True)
class TopicNamed:
    """A person named the topic."""

    name: str


@dataclass(frozen=True, slots=True)
class Reset:
    """Forget the session (from the window)."""


@dataclass(frozen=True, slots=True)
class Hibernate:
    """Close an idle session's process (from the window)."""


@dataclass(frozen=True, slots=True)
class Release:
    """Let the session go to a terminal; ``answer`` gets command and folder, or a HubError."""

    answer: asyncio.Future[tuple[tuple[str, ...], str]]


@dataclass(frozen=True, slots=True)
class HandOver:
    """Another topic wants this lost one's session and what waits here: ``take`` gets both, in one step, or ``failed``.

    ``is_sure``: also if a turn has to be stopped for it.
    """

    take: Callable[[Topic], None]
    failed: Callable[[HubError], None]
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Resumed:
    """The hub goes on after a pause."""


@dataclass(frozen=True, slots=True)
class Quit:
    """The hub stops; the topic lets its session go."""


Item = (
    Said
    | Edited
    | Called
    | Chosen
    | Choosing
    | Offered
    | Interrupted
    | Prepared
    | Opened
    | OpenFailed
    | Heard
    | Silenced
    | AskClosed
    | Explained
    | TopicGone
    | TopicShut
    | TopicNamed
    | Reset
    | Hibernate
    | Release
    | HandOver
    | Resumed
    | Quit
)


class Inbox:
    """First in, first out; one reader."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._items: deque[Item] = deque()
        self._bell = asyncio.Event()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at = 0.0

    def put(self, item: Item) -> None:
        self._items.append(item)
        self._bell.set()

    async def next(self, deadline: float | None) -> Item | None:
        """The next item, or None once ``deadline`` (monotonic seconds) has come first."""
        while not self._items:
            if deadline is not None and self._clock.monotonic() >= deadline:
                return None
            self._bell.clear()
            self._set_alarm(deadline)
            await self._bell.wait()
        return self._items.popleft()

    @property
    def is_empty(self) -> bool:
        return not self._items

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    def _set_alarm(self, deadline: float | None) -> None:
        """An alarm that rings early does no harm, so a later deadline keeps the earlier alarm."""
        if deadline is None or (self._alarm is not None and not self._alarm.done() and self._alarm_at <= deadline):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = deadline
        self._alarm = asyncio.create_task(self._ring(deadline - self._clock.monotonic()), name="alarm")

    async def _ring(self, seconds: float) -> None:
        await self._clock.sleep(max(0.0, seconds))
        self._bell.set()
