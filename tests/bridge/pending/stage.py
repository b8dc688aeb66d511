"""A desk with a real database, a clock moved by hand, and an outbox that only remembers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.contract import AskId, Choice, Decision, HubError, PermissionRequest, Question, QuestionRequest, ToolKind
from bridge.config import BridgeConfig, Role
from bridge.delivery import DeliveryState, MessageClass, Outgoing
from bridge.inbound import ButtonPress, IncomingMessage, Person, Place, ReactionChange
from bridge.markdown.part import Part
from bridge.messenger import Keyboard
from bridge.pending import AskDesk, AskOrigin, PressReply
from bridge.pending.equipment import RemoteLock
from bridge.store import Database
from tests.bridge.clocks import HandClock

CHAT = -1001
TOPIC = Place(CHAT, 7)
OTHER_TOPIC = Place(CHAT, 8)
ANNA = Person(501, "Anna")
OLEG = Person(502, "Oleg")
STRANGER = Person(999, "Mallory")
USERS: Mapping[int, Role] = {501: Role.OWNER, 502: Role.OPERATOR}
FOLDER = Path("/home/anna/shop")


def configuration(**changes: object) -> BridgeConfig:
    config = BridgeConfig(frozenset({CHAT}), USERS, (FOLDER,), "claude")
    return replace(config, **changes)  # type: ignore[arg-type]


@dataclass
class Shown:
    """One message as the phone shows it now."""

    message: Outgoing
    id: int
    part: Part
    keyboard: Keyboard
    looks: list[str] = field(default_factory=list)


class RememberingDelivery:
    """Takes messages as an outbox without a budget would, and keeps every look of each."""

    def __init__(self) -> None:
        self.shown: dict[str, Shown] = {}
        self._ids = itertools.count(70)
        self._unnamed = itertools.count()
        self.failure = ""

    def post(self, message: Outgoing) -> str:
        key = message.key or f"unnamed:{next(self._unnamed)}"
        assert key not in self.shown, "a key names one message"
        self.shown[key] = Shown(message, next(self._ids), message.part, message.keyboard, [message.part.text])
        return key

    def revise(
        self, key: str, part: Part, *, keyboard: Keyboard = (), klass: MessageClass = MessageClass.CLOSING
    ) -> None:
        shown = self.shown.get(key)
        if shown is not None and (shown.part, shown.keyboard) != (part, keyboard):
            shown.part, shown.keyboard = part, keyboard
            shown.looks.append(part.text)

    def drop(self, key: str) -> None:
        self.shown.pop(key, None)

    async def outcome(self, key: str) -> DeliveryState:
        return DeliveryState(None, self.failure) if self.failure else DeliveryState(self.shown[key].id)

    def has_edit_waiting(self, key: str) -> bool:
        del key
        return False

    def is_known(self, key: str) -> bool:
        return key in self.shown

    def key_of(self, chat_id: int, message_id: int) -> str | None:
        for key, shown in self.shown.items():
            if shown.message.place.chat_id == chat_id and shown.id == message_id:
                return key
        return None

    def confirm(self, key: str, message_id: int) -> None:
        raise AssertionError("every message of this delivery is known")

    def typing(self, place: Place) -> None:
        raise AssertionError("the desk never types")


class KnownSecret:
    """The keyring of these tests."""

    def __init__(self) -> None:
        self.secret = b""
        self.trouble: HubError | None = None

    async def read(self) -> bytes:
        if self.trouble is not None:
            raise self.trouble
        return self.secret

    async def make(self) -> bytes:
        self.secret = await self.read() or b"a secret of the tests"
        return self.secret


@dataclass
class Stage:
    """The desk and everything round it. ``config`` may be exchanged; ``notes`` is the turn's log."""

    database: Database
    delivery: RememberingDelivery
    clock: HandClock
    config: BridgeConfig
    lock: RemoteLock | None = None
    notes: list[str] = field(default_factory=list)
    seals: KnownSecret = field(default_factory=KnownSecret)
    ids: itertools.count[int] = field(default_factory=itertools.count)
    updates: itertools.count[int] = field(default_factory=lambda: itertools.count(900))

    def new_desk(self, files: Path | None = None) -> AskDesk:
        """A desk of another run of the hub."""
        desk = AskDesk(
            config=lambda: self.config,
            database=self.database,
            delivery=self.delivery,
            clock=self.clock,
            new_id=lambda: f"id{next(self.ids)}",
            lock=self.lock,
            note=lambda _place, line: self.notes.append(line),
            files=files,
        )
        desk.rules.seals = self.seals
        return desk

    # --- the phone

    @property
    def cards(self) -> list[Shown]:
        return [shown for key, shown in self.delivery.shown.items() if key.startswith("card:")]

    @property
    def card(self) -> Shown:
        """The only card."""
        (card,) = self.cards
        return card

    @property
    def notices(self) -> list[str]:
        return [shown.part.text for key, shown in self.delivery.shown.items() if not key.startswith("card:")]

    def press_of(self, label: str, person: Person = ANNA, card: Shown | None = None) -> ButtonPress:
        """A press on the button whose label holds ``label``."""
        card = card or self.cards[-1]
        (data,) = [button.data for row in card.keyboard for button in row if label in button.label]
        return self.press_with(data, person, card)

    def press_with(self, data: str, person: Person = ANNA, card: Shown | None = None) -> ButtonPress:
        card = card or self.cards[-1]
        number = next(self.updates)
        return ButtonPress(number, card.message.place, card.id, person, f"press{number}", data)

    def text(
        self, text: str, person: Person = ANNA, *, reply_to: Shown | None = None, place: Place = TOPIC
    ) -> IncomingMessage:
        number = next(self.updates)
        reply = reply_to.id if reply_to else None
        return IncomingMessage(number, place, 5000 + number, person, self.clock.now(), text, reply)

    def reaction(self, emoji: str, person: Person = ANNA, card: Shown | None = None) -> ReactionChange:
        card = card or self.cards[-1]
        return ReactionChange(next(self.updates), CHAT, card.id, person, (emoji,) if emoji else ())


@asynccontextmanager
async def stage(path: Path, **changes: object) -> AsyncIterator[Stage]:
    clock = HandClock()
    database = Database.open(path / "hub.db", clock)
    try:
        yield Stage(database, RememberingDelivery(), clock, configuration(**changes))
    finally:
        database.close()


def origin(place: Place = TOPIC, epoch: str = "e1", cwd: Path = FOLDER) -> AskOrigin:
    return AskOrigin(place, "claude", "Claude Code", epoch, cwd)


def command(text: str = "npm test", ask_id: str = "rq-1", **changes: object) -> PermissionRequest:
    ask = PermissionRequest(AskId(ask_id), "Bash", ToolKind.EXECUTE, "Run the tests", text, FOLDER)
    return replace(ask, **changes)  # type: ignore[arg-type]


def edit(path: str = "src/a.py", ask_id: str = "rq-2", **changes: object) -> PermissionRequest:
    ask = PermissionRequest(AskId(ask_id), "Write", ToolKind.EDIT, "Write a file", path, FOLDER, diff="-x\n+y\n")
    return replace(ask, **changes)  # type: ignore[arg-type]


def choice(*labels: str, key: str = "db", is_multiple: bool = False, **changes: object) -> Question:
    question = Question(key, "Which database?", "Database", choices=tuple(Choice(label) for label in labels))
    return replace(question, is_multiple=is_multiple, **changes)  # type: ignore[arg-type]


def questions(*asked: Question, ask_id: str = "qu-1") -> QuestionRequest:
    return QuestionRequest(AskId(ask_id), asked)


async def settle(rounds: int = 20) -> None:
    """Let everything run that can run now, threads of the database included."""
    for _ in range(rounds):
        await asyncio.sleep(0.0005)


async def pressed(desk: AskDesk, press: ButtonPress) -> str:
    """The toast of a press that is the desk's."""
    reply: PressReply | None = await desk.press(press)
    assert reply is not None
    assert len(reply.text) <= 200
    return reply.text


async def agent(desk: AskDesk, ask: PermissionRequest, *, hears: bool = True, place: Place = TOPIC) -> Decision:
    """An agent that asks and, when its process takes the answer, says so."""
    decision = await desk.request(origin(place), ask)
    await desk.told(ask.id, delivered=hears)
    return decision
