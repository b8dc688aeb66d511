"""Accidents that users of such bridges reported, played again from the wire of Telegram to the agent.

Real poller, journal, outbox, desk and hub; the agent is scripted, the messenger answers as the scene says. A crash is
a copy of the database as it lay on the disk at that moment.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agents.contract import AskId, PermissionRequest, ToolKind, Verdict
from bridge.audit import audit_lines
from bridge.bindings import TopicState
from bridge.config import BridgeConfig, Role
from bridge.context import HubContext
from bridge.delivery import ChatMovedTo, DeliveryEvent, TopicLost
from bridge.hub import Hub
from bridge.inbound import Place
from bridge.messenger import ChatMovedError, RefusedError, TopicGoneError
from bridge.outbox import Outbox
from bridge.pending import AskDesk
from bridge.recovery import Pending
from bridge.store import Database
from bridge.telegram.poller import Poller
from bridge.telegram.updates import parse_update
from tests.bridge.clocks import HandClock
from tests.bridge.messengers import FakeMessenger, Made
from tests.bridge.scripted_agent import ScriptedBackend, ScriptedSession

CHAT = -1001234500001
ANNA, STRANGER = 501, 999
Update = Mapping[str, Any]


class Wire:
    """The server's side of getUpdates: hands out what the scene puts in, once or again."""

    def __init__(self) -> None:
        self.batches: deque[list[Update]] = deque()
        self._more = asyncio.Event()

    def put(self, *updates: Update) -> None:
        self.batches.append(list(updates))
        self._more.set()

    async def updates(self, offset: int | None, timeout: int) -> list[Mapping[str, object]]:  # noqa: ASYNC109
        del offset, timeout
        while not self.batches:
            self._more.clear()
            await self._more.wait()
        return [dict(update) for update in self.batches.popleft()]

    async def renew_polls(self) -> None:
        return None


class FilesMessenger(FakeMessenger):
    """Also has files to fetch; a slow one is slow by the hand's clock."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__(clock, latency=0.0)
        self.files: dict[str, bytes] = {}
        self.slow: set[str] = set()

    async def download(self, file_id: str, to: Path) -> None:
        if file_id in self.slow:
            await self.clock.sleep(3.0)
        if file_id not in self.files:
            raise RefusedError("Telegram says the file is too big.")
        await asyncio.to_thread(to.write_bytes, self.files[file_id])


class Life:
    """One life of the hub."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene = scene
        self.wire = Wire()
        self.database = Database.open(folder / "hub.db", scene.clock)
        self.outbox = Outbox(
            scene.messenger, self.database, scene.clock, random=Random(1), on_event=self._heard, make_key=scene.new_id
        )
        self.desk = AskDesk(
            config=lambda: scene.config,
            database=self.database,
            delivery=self.outbox,
            clock=scene.clock,
            new_id=scene.new_id,
        )
        self.hub = Hub(
            HubContext(
                config=scene.config,
                messenger=scene.messenger,
                delivery=self.outbox,
                database=self.database,
                backends={"claude": scene.claude},
                desk=self.desk,
                clock=scene.clock,
                new_id=scene.new_id,
                data=folder,
            )
        )
        self.desk.note = self.hub.note
        journal = self.hub.context.journal
        self.poller = Poller(self.wire, journal, scene.clock, random=Random(2), on_update=self.hub.handle)
        self.tasks: list[asyncio.Task[None]] = []

    def _heard(self, event: DeliveryEvent) -> None:
        if isinstance(event, TopicLost):
            self.hub.topic_lost(event.place, is_closed=event.is_closed)
        elif isinstance(event, ChatMovedTo):
            self.hub.chat_moved(event.old_chat_id, event.new_chat_id)

    async def begin(self) -> None:
        entries = self.hub.context.journal.unfinished()
        await self.hub.start([Pending(parse_update(entry.body), entry.state) for entry in entries])
        self.tasks = [asyncio.create_task(self.outbox.run()), asyncio.create_task(self.poller.run())]
        await self.scene.settle()

    async def end(self) -> None:
        await self.hub.stop()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.database.close()


class Scene:
    """What outlives the hub: the phone's side, the agent's program, the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "work"
        self.root.mkdir()
        self.clock = HandClock()
        self.messenger = FilesMessenger(self.clock)
        self.claude = ScriptedBackend("claude", self.clock.monotonic)
        self.config = BridgeConfig(frozenset({CHAT}), {ANNA: Role.OWNER}, (self.root,), "claude")
        self._ids = itertools.count()
        self._lives = itertools.count(1)
        self.life: Life | None = None
        self.disk = folder / "data1"

    def new_id(self) -> str:
        return f"id{next(self._ids)}"

    @property
    def now(self) -> Life:
        assert self.life is not None
        return self.life

    @property
    def session(self) -> ScriptedSession:
        return self.claude.sessions[-1]

    @property
    def prompts(self) -> list[str]:
        return [prompt.text for session in self.claude.sessions for prompt in session.prompts]

    async def live(self) -> None:
        self.life = Life(self, self.disk)
        await self.life.begin()

    async def crash(self) -> None:
        """The next life finds the disk as it is now; the old one is cleared away without a trace on it."""
        old, former = self.now, self.disk
        self.disk = self.folder / f"data{next(self._lives) + 1}"
        shutil.copytree(former, self.disk)
        messenger, self.messenger.calls = self.messenger.calls, []
        await old.end()
        self.messenger.calls = messenger

    async def settle(self) -> None:
        for _ in range(40):
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)

    async def until(self, condition: Callable[[], object]) -> None:
        for _ in range(400):
            if condition():
                return
            await asyncio.sleep(0.005)
        raise AssertionError(f"it never happened; calls: {self.messenger.calls[-4:]}")

    async def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds * 2)):
            self.clock.move(0.5)
            await self.settle()

    def sent(self, topic: int | None = 7, chat: int = CHAT) -> list[Made]:
        return [made for made in self.messenger.of_kind("send") if made.place == Place(chat, topic)]

    def labels(self, made: Made) -> list[str]:
        return [button.label for row in made.keyboard for button in row]

    def data_of(self, label: str) -> str:
        """The data of the newest button with that label, and of no other."""
        return next(
            button.data
            for made in reversed(self.messenger.of_kind("send", "edit"))
            for row in made.keyboard
            for button in row
            if label in button.label
        )

    # --- updates as they come over the wire

    def text(self, number: int, text: str, *, topic: int = 7, age: float = 0.0, **more: object) -> Update:
        message = {
            "message_id": number - 800,
            "from": {"id": ANNA, "is_bot": False, "first_name": "Anna"},
            "chat": {"id": CHAT, "type": "supergroup", "is_forum": True},
            "date": int(self.clock.now() - age),
            "message_thread_id": topic,
            "is_topic_message": True,
            **({"text": text} if text else {}),
            **more,
        }
        return {"update_id": number, "message": message}

    def photo(self, number: int, file_id: str, caption: str = "") -> Update:
        sizes = [{"file_id": file_id, "file_unique_id": f"u{file_id}", "width": 8, "height": 6, "file_size": 90}]
        about: dict[str, object] = {"media_group_id": "g1", "photo": sizes}
        if caption:
            about["caption"] = caption
        return self.text(number, "", **about)

    def press(self, number: int, data: str, *, person: int = ANNA, topic: int = 7) -> Update:
        message = {
            "message_id": 101,
            "chat": {"id": CHAT, "type": "supergroup", "is_forum": True},
            "date": int(self.clock.now()),
            "message_thread_id": topic,
            "is_topic_message": True,
        }
        who = {"id": person, "is_bot": False, "first_name": "Anna"}
        query = {"id": f"q{number}", "from": who, "data": data, "message": message, "chat_instance": "1"}
        return {"update_id": number, "callback_query": query}


@asynccontextmanager
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    made = Scene(tmp_path)
    await made.live()
    try:
        yield made
    finally:
        await made.now.end()


def bash(ask_id: str, command: str, cwd: Path) -> PermissionRequest:
    return PermissionRequest(AskId(ask_id), "Bash", ToolKind.EXECUTE, "Run", command, cwd)


# --- updates


@pytest.mark.asyncio
@pytest.mark.parametrize("is_third_refused", [False, True])
async def test_an_album_with_a_slow_and_a_refused_picture_is_one_prompt(tmp_path: Path, is_third_refused: bool) -> None:
    async with scene(tmp_path) as play:
        play.messenger.files = {"F51": b"1", "F52": b"2"} | ({} if is_third_refused else {"F53": b"3"})
        play.messenger.slow = {"F51"}
        for number, file_id, caption, gap in (
            (900, "F51", "", 0.18),
            (901, "F52", "сравни эти три", 0.47),
            (902, "F53", "", 0.0),
        ):
            play.now.wire.put(play.photo(number, file_id, caption))
            await play.settle()
            play.clock.move(gap)
        await play.pass_time(6)
        await play.until(lambda: play.prompts)
        (prompt,) = play.session.prompts
        assert prompt.text == "сравни эти три"
        assert [image.data for image in prompt.images] == [b"1", b"2", *([] if is_third_refused else [b"3"])]
        assert any("left out" in made.text for made in play.sent()) is is_third_refused


@pytest.mark.asyncio
async def test_a_redelivered_update_is_one_prompt_even_over_a_restart(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        update = play.text(920, "сделай коммит")
        play.now.wire.put(update)
        await play.until(lambda: play.prompts)
        play.session.answer("готово")
        await play.settle()
        await play.now.end()
        await play.live()
        play.now.wire.put(update)
        play.now.wire.put(play.text(921, "next"))
        await play.until(lambda: "next" in play.prompts)
        assert play.prompts == ["сделай коммит", "next"]


@pytest.mark.asyncio
async def test_a_double_press_decides_once_and_both_are_answered(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(920, "do it"))
        await play.until(lambda: play.prompts)
        asking = asyncio.create_task(play.session.ask_permission(command="make"))
        await play.until(lambda: any("Allow" in label for made in play.sent() for label in play.labels(made)))
        data = play.data_of("Allow")
        play.now.wire.put(play.press(921, data), play.press(922, data))
        await play.until(lambda: len(play.messenger.of_kind("press")) == 2)
        assert (await asking).verdict is Verdict.ALLOW
        toasts = [made.text for made in play.messenger.of_kind("press")]
        assert sum("already" in toast.lower() for toast in toasts) == 1
        await play.settle()
        verdicts = [made for made in play.messenger.of_kind("edit") if "Allowed by" in made.text]
        assert len(verdicts) == 1


@pytest.mark.asyncio
async def test_what_was_written_while_the_hub_was_off_is_offered_and_never_run_twice(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(
            play.text(940, "запусти тесты", age=7200),
            play.text(941, "и пришли лог", topic=9, age=7000),
            play.press(942, "ask:allow:of-a-former-life"),
        )
        await play.until(lambda: play.messenger.of_kind("press"))
        await play.pass_time(4)
        assert play.prompts == []
        assert any("запусти тесты" in made.text for made in play.sent(7))
        assert any("и пришли лог" in made.text for made in play.sent(9))
        await play.crash()
        await play.live()
        await play.pass_time(4)
        assert play.prompts == []
        play.now.wire.put(play.press(943, play.data_of("Run"), topic=9))
        await play.until(lambda: play.prompts)
        assert len(play.prompts) == 1


@pytest.mark.asyncio
async def test_a_turn_cut_off_by_a_crash_is_offered_and_not_run_again(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(950, "long work"))
        await play.until(lambda: play.prompts)
        session_id = play.session.session_id
        await play.crash()
        await play.live()
        await play.pass_time(2)
        assert play.prompts == ["long work"]
        last = play.sent()[-1]
        assert "Continue" in play.labels(last)
        assert not last.is_silent
        play.now.wire.put(play.press(951, play.data_of("Continue")))
        await play.until(lambda: len(play.prompts) == 2)
        assert play.session.spec.resume == session_id


# --- a scenario with two requests, a stranger and a crash


@pytest.mark.asyncio
async def test_two_requests_a_stranger_and_a_crash_leave_the_truth_on_every_card(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(960, "clean up"))
        await play.until(lambda: play.prompts)
        channel = play.session.channel
        first = asyncio.create_task(channel.request(bash("rq-1", "make clean", play.root)))
        await play.until(lambda: any("make clean" in made.text for made in play.sent()))
        of_first = play.data_of("Allow")
        second = asyncio.create_task(channel.request(bash("rq-2", "make all", play.root)))
        await play.until(lambda: any("make all" in made.text for made in play.sent()))
        of_second = play.data_of("Allow")

        play.now.wire.put(play.press(961, of_second, person=STRANGER))
        await play.until(lambda: len(play.messenger.of_kind("press")) == 1)
        assert not first.done()
        assert not second.done()
        play.now.wire.put(play.press(962, of_second))
        assert (await second).verdict is Verdict.ALLOW
        await channel.told(AskId("rq-2"), delivered=True)
        assert not first.done()
        await play.until(lambda: len(play.messenger.of_kind("press")) == 2)

        await play.crash()
        assert not (await first).is_allowed
        before = len(play.messenger.of_kind("edit"))
        await play.live()
        await play.pass_time(8)
        closed = [made for made in play.messenger.of_kind("edit")[before:] if "make clean" in made.text]
        assert "Nothing was allowed" in closed[-1].text
        assert play.labels(closed[-1]) == []
        play.now.wire.put(play.press(963, of_first))
        await play.until(lambda: len(play.messenger.of_kind("press")) == 3)
        assert play.prompts == ["clean up"]
        events = [line.event.value for line in audit_lines(play.now.database)]
        assert len(events) == 4
        assert events[0] == "refused"
        assert events[1] == "allowed"
        assert events[3] == "late"


# --- what Telegram answers


@pytest.mark.asyncio
async def test_a_deleted_topic_parks_its_session_without_a_word_in_general_but_one_notice(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(970, "do it"))
        await play.until(lambda: play.prompts)

        def gone(made: Made) -> None:
            if made.place == Place(CHAT, 7) and made.kind in {"send", "edit", "files"}:
                raise TopicGoneError("The topic is gone.")

        play.messenger.answer = gone
        play.session.answer("the secret answer")
        await play.pass_time(20)
        assert len(play.sent(7)) == 1  # no loop of tries
        (notice,) = play.sent(None)
        assert "parked" in notice.text
        assert "the secret answer" not in notice.text
        assert play.session.is_closed
        binding = play.now.hub.context.bindings.get(Place(CHAT, 7))
        assert binding is not None
        assert binding.state is TopicState.LOST

        play.messenger.answer = lambda made: None
        play.now.wire.put(play.text(971, "/parked", topic=9))
        await play.pass_time(3)
        play.now.wire.put(play.press(972, play.data_of("#7"), topic=9))
        await play.pass_time(6)
        assert any("the secret answer" in made.text for made in play.sent(9))
        former = play.session.session_id
        play.now.wire.put(play.text(973, "go on", topic=9))
        await play.until(lambda: "go on" in play.prompts)
        assert play.session.spec.resume == former


@pytest.mark.asyncio
async def test_a_text_that_waited_in_a_deleted_topic_goes_on_where_its_session_went_over_a_crash(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(970, "do it"))
        await play.until(lambda: play.prompts)
        play.session.takes_steering = False
        play.now.wire.put(play.text(971, "then this"))
        await play.pass_time(3)

        def gone(made: Made) -> None:
            if made.place == Place(CHAT, 7) and made.kind in {"send", "edit", "files"}:
                raise TopicGoneError("The topic is gone.")

        play.messenger.answer = gone
        play.now.wire.put(play.text(972, "/stop"))
        await play.settle()
        play.session.answer("what was done so far")
        await play.pass_time(20)
        play.now.wire.put(play.text(973, "/parked", topic=9))
        await play.pass_time(3)
        play.now.wire.put(play.press(974, play.data_of("#7"), topic=9))
        await play.pass_time(6)
        assert any("Stopped" in made.text for made in play.sent(9))
        assert sum("then this" in made.text for made in play.sent(9)) == 1
        tries = len(play.sent(7))
        await play.crash()
        await play.live()
        await play.pass_time(30)
        assert len(play.sent(7)) == tries, "nothing is said in the topic that is gone"
        assert play.prompts == ["do it"]
        former = play.session.session_id
        play.now.wire.put(play.press(975, play.data_of("Run"), topic=9))
        await play.until(lambda: "then this" in play.prompts)
        assert play.session.spec.resume == former


@pytest.mark.asyncio
async def test_a_text_that_waited_when_its_group_became_a_supergroup_is_found_there_after_a_crash(
    tmp_path: Path,
) -> None:
    new = -1009876500002
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(980, "long work"))
        await play.until(lambda: play.prompts)
        play.session.takes_steering = False
        play.now.wire.put(play.text(981, "then this"))
        await play.pass_time(3)
        play.now.hub.chat_moved(CHAT, new)
        former = play.session.session_id
        await play.crash()
        await play.live()
        await play.until(lambda: "then this" in play.prompts)
        assert play.session.spec.resume == former
        play.session.answer("here it is")
        await play.pass_time(6)
        assert any("here it is" in made.text for made in play.sent(7, new))
        assert play.now.hub.context.bindings.get(Place(CHAT, 7)) is None


@pytest.mark.asyncio
async def test_a_group_that_became_a_supergroup_loses_neither_text_nor_session(tmp_path: Path) -> None:
    new = -1009876500002
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(980, "do it"))
        await play.until(lambda: play.prompts)

        def moved(made: Made) -> None:
            if made.kind == "send" and made.place.chat_id == CHAT:
                raise ChatMovedError(new)

        play.messenger.answer = moved
        play.session.answer("here it is")
        await play.pass_time(6)
        assert any("here it is" in made.text for made in play.sent(7, new))
        play.now.hub.chat_moved(CHAT, new)
        binding = play.now.hub.context.bindings.get(Place(new, 7))
        assert binding is not None
        assert binding.session_id == play.session.session_id


@pytest.mark.asyncio
async def test_a_text_given_to_a_turn_that_a_crash_cut_off_is_offered(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(990, "long work"))
        await play.until(lambda: play.prompts)
        play.now.wire.put(play.text(991, "mind the tests"))
        await play.until(lambda: play.session.steered)
        await play.crash()
        await play.live()
        await play.pass_time(4)
        assert any("mind the tests" in made.text for made in play.sent())
        assert play.prompts == ["long work"]


@pytest.mark.asyncio
async def test_a_text_that_only_waited_for_the_end_of_a_cut_off_turn_is_not_lost(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        play.now.wire.put(play.text(992, "long work"))
        await play.until(lambda: play.prompts)
        play.session.takes_steering = False
        play.now.wire.put(play.text(993, "then this"))
        await play.until(lambda: any("Waits" in made.text for made in play.sent()))
        await play.crash()
        await play.live()
        await play.until(lambda: "then this" in play.prompts)
        assert play.prompts == ["long work", "then this"]
