"""A whole hub with a real database and desk, scripted agents, a clock moved by hand and an outbox that remembers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from bridge.config import BridgeConfig, Role
from bridge.context import HubContext
from bridge.hub import Hub
from bridge.inbound import (
    ButtonPress,
    IncomingFile,
    IncomingMessage,
    Person,
    Place,
    TopicChange,
    TopicEvent,
)
from bridge.messenger import Messenger, RefusedError
from bridge.pending import AskDesk
from bridge.recovery import Pending
from bridge.store import Database, Journal
from tests.bridge.clocks import HandClock
from tests.bridge.pending.stage import RememberingDelivery, Shown
from tests.bridge.scripted_agent import ScriptedBackend, ScriptedSession

T = TypeVar("T")
CHAT = -1001
GENERAL = Place(CHAT)
TOPIC = Place(CHAT, 7)
OTHER = Place(CHAT, 9)
ANNA = Person(501, "Anna")
OLEG = Person(502, "Oleg")
STRANGER = Person(999, "Mallory")


class RecordingDelivery(RememberingDelivery):
    """Sends at once, so that nothing can be dropped any more; also counts typing."""

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[Place] = []
        self.resumed: list[Place] = []
        self.rehomed: list[tuple[Place, Place]] = []
        self.edits_wait = False

    def has_edit_waiting(self, key: str) -> bool:
        return self.edits_wait and key in self.shown

    def drop(self, key: str) -> None:
        del key

    def typing(self, place: Place) -> None:
        self.typed.append(place)

    def resume(self, place: Place) -> None:
        self.resumed.append(place)

    def rehome(self, old: Place, new: Place) -> None:
        self.rehomed.append((old, new))

    def resume_chat(self, chat_id: int) -> None:
        del chat_id

    def move_chat(self, old_chat_id: int, new_chat_id: int) -> None:
        for shown in self.shown.values():
            if shown.message.place.chat_id == old_chat_id:
                shown.message = replace(shown.message, place=Place(new_chat_id, shown.message.place.topic_id))

    async def paced(self, chat_id: int, call: Callable[[], Awaitable[T]]) -> T:
        del chat_id
        return await call()


@dataclass
class RecordingMessenger:
    """The calls that do not go through the outbox."""

    answers: list[tuple[str, str, bool]] = field(default_factory=list)
    renamed: list[tuple[Place, str]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    menus: dict[int, list[str]] = field(default_factory=dict)
    members: int = 2

    async def answer_press(self, press_id: str, text: str = "", *, is_alert: bool = False) -> None:
        self.answers.append((press_id, text, is_alert))

    async def rename_topic(self, place: Place, name: str) -> None:
        self.renamed.append((place, name))

    async def create_topic(self, chat_id: int, name: str) -> int:
        self.topics.append(name)
        return 700 + len(self.topics)

    async def count_members(self, chat_id: int) -> int:
        return self.members

    async def set_commands(self, chat_id: int, commands: Sequence[tuple[str, str]], language: str = "") -> None:
        self.menus[chat_id] = [name for name, _ in commands]

    async def download(self, file_id: str, to: Path) -> None:
        if file_id not in self.files:
            raise RefusedError("Telegram says the file is too big.")
        await asyncio.to_thread(to.write_bytes, self.files[file_id])


@dataclass
class Switch:
    """The second factor as desk and hub see it, turned by hand."""

    is_locked: bool = False

    def touch(self) -> None:
        """It never locks by itself."""


@dataclass
class Stage:
    """``life`` begins a hub; several lives may follow each other on one database."""

    root: Path
    data: Path
    clock: HandClock
    database: Database
    delivery: RecordingDelivery
    messenger: RecordingMessenger
    claude: ScriptedBackend
    codex: ScriptedBackend
    config: BridgeConfig
    ids: itertools.count[int] = field(default_factory=itertools.count)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(900))
    lock: Switch = field(default_factory=Switch)
    hub: Hub = field(init=False)

    async def begin(self, unfinished: tuple[Pending, ...] = ()) -> None:
        """A new life of the hub."""
        desk = AskDesk(
            config=lambda: self.config,
            database=self.database,
            delivery=self.delivery,
            clock=self.clock,
            new_id=self.new_id,
            lock=self.lock,
        )
        messenger: Messenger = self.messenger  # type: ignore[assignment]
        self.hub = Hub(
            HubContext(
                config=self.config,
                messenger=messenger,
                delivery=self.delivery,
                database=self.database,
                backends={"claude": self.claude, "codex": self.codex},
                desk=desk,
                clock=self.clock,
                new_id=self.new_id,
                data=self.data,
                bot_name="our_bot",
            )
        )
        desk.note = self.hub.note
        await self.hub.start(unfinished)
        await self.settle()

    async def end(self) -> None:
        await self.hub.stop()

    def new_id(self) -> str:
        return f"id{next(self.ids)}"

    # --- time

    async def settle(self) -> None:
        """Let everything that can happen without time passing happen."""
        for _ in range(60):
            await asyncio.sleep(0)

    async def until(self, condition: Callable[[], object]) -> None:
        """For what needs a worker thread."""
        for _ in range(400):
            if condition():
                return
            await asyncio.sleep(0.005)
        raise AssertionError(f"it never happened; shown last: {self.texts()[-3:]}")

    async def pass_time(self, seconds: float, step: float = 1.0) -> None:
        while seconds > 0:
            self.clock.move(min(step, seconds))
            seconds -= step
            await self.settle()

    async def turn_lock(self, *, is_locked: bool) -> None:
        """Lock or unlock the hub, as a code or the idle time would."""
        self.lock.is_locked = is_locked
        self.hub._lock_changed()
        await self.settle()

    # --- people

    def message(
        self,
        text: str = "",
        *,
        place: Place = TOPIC,
        person: Person = ANNA,
        reply_to: int | None = None,
        age: float = 0.0,
        files: tuple[IncomingFile, ...] = (),
        album: str = "",
        other: str = "",
        edits: int | None = None,
        update_id: int | None = None,
    ) -> IncomingMessage:
        number = next(self.numbers)
        return IncomingMessage(
            update_id or number,
            place,
            edits or number,
            person,
            self.clock.now() - age,
            text,
            reply_to=reply_to,
            files=files,
            album_id=album,
            other=other,
            is_edit=edits is not None,
        )

    async def say(self, text: str = "", **about: object) -> IncomingMessage:
        message = self.message(text, **about)  # type: ignore[arg-type]
        await self.hub.handle(message)
        await self.settle()
        return message

    async def press(self, label: str, *, person: Person = ANNA, shown: Shown | None = None) -> str:
        """Press the newest button whose label holds ``label``; returns the toast."""
        shown = shown or next(
            shown
            for shown in reversed(list(self.delivery.shown.values()))
            if any(label in button.label for row in shown.keyboard for button in row)
        )
        data = next(button.data for row in shown.keyboard for button in row if label in button.label)
        return await self.press_data(data, person=person, shown=shown)

    async def press_data(self, data: str, *, person: Person = ANNA, shown: Shown | None = None) -> str:
        number = next(self.numbers)
        place, message_id = (shown.message.place, shown.id) if shown else (TOPIC, 1)
        await self.hub.handle(ButtonPress(number, place, message_id, person, f"press{number}", data))
        await self.until(lambda: any(answer[0] == f"press{number}" for answer in self.messenger.answers))
        await self.settle()
        return next(text for press_id, text, _ in self.messenger.answers if press_id == f"press{number}")

    async def topic_event(self, change: TopicChange, *, place: Place = TOPIC, name: str = "") -> None:
        await self.hub.handle(TopicEvent(next(self.numbers), place, ANNA, change, name))
        await self.settle()

    # --- looking

    @property
    def session(self) -> ScriptedSession:
        """The newest session of the default agent."""
        return self.claude.sessions[-1]

    def texts(self, place: Place = TOPIC) -> list[str]:
        """What each message in a topic shows now, oldest first."""
        return [shown.part.text for shown in self.delivery.shown.values() if shown.message.place == place]

    def last(self, place: Place = TOPIC) -> str:
        return self.texts(place)[-1]

    def ringing(self, place: Place = TOPIC) -> list[str]:
        return [
            shown.part.text
            for shown in self.delivery.shown.values()
            if shown.message.place == place and shown.message.rings
        ]

    def buttons(self, place: Place = TOPIC) -> list[str]:
        """Labels of all buttons that can be pressed in a topic."""
        return [
            button.label
            for shown in self.delivery.shown.values()
            if shown.message.place == place
            for row in shown.keyboard
            for button in row
        ]

    async def started_turn(self, text: str = "do it") -> ScriptedSession:
        """A turn that runs."""
        await self.say(text)
        return self.session


@asynccontextmanager
async def stage(tmp_path: Path, **changes: object) -> AsyncIterator[Stage]:
    """A hub that lives; ``changes`` are settings."""
    root = tmp_path / "work"
    root.mkdir(exist_ok=True)
    clock = HandClock()
    config = BridgeConfig(frozenset({CHAT}), {501: Role.OWNER, 502: Role.OPERATOR}, (root,), "claude")
    config = replace(config, **changes)  # type: ignore[arg-type]
    database = Database.open(tmp_path / "data" / "hub.db", clock)
    made = Stage(
        root,
        tmp_path / "data",
        clock,
        database,
        RecordingDelivery(),
        RecordingMessenger(),
        ScriptedBackend("claude", clock.monotonic),
        ScriptedBackend("codex", clock.monotonic, can_steer=False),
        config,
    )
    try:
        await made.begin()
        yield made
    finally:
        await made.end()
        database.close()


async def journalled(stage: Stage, *updates: IncomingMessage) -> None:
    """Write updates down as the poller does."""
    await Journal(stage.database, stage.clock).record([{"update_id": update.update_id} for update in updates])


Scene = Callable[[Stage], Awaitable[None]]
