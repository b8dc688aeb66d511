"""A messenger for tests: keeps what it was told, and answers or fails as the test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bridge.clock import Clock
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import FileUpload, Keyboard, MessengerError


@dataclass(frozen=True)
class Made:
    """One call as it was made. ``kind``: send, edit, files, typing, topic ..."""

    kind: str
    at: float
    place: Place
    text: str = ""
    keyboard: Keyboard = ()
    is_silent: bool = True
    message_id: int | None = None
    is_plain: bool = False
    reply_to: int | None = None
    files: tuple[FileUpload, ...] = ()


@dataclass
class FakeMessenger:
    """``answer`` may raise a MessengerError, or return seconds the call takes (virtual)."""

    clock: Clock
    answer: Callable[[Made], float | None] = field(default=lambda made: None)
    calls: list[Made] = field(default_factory=list)
    shown: dict[int, Made] = field(default_factory=dict)
    shown_sends: list[Made] = field(default_factory=list)
    """Sends that surely made a message; one whose reply was lost is not among them."""
    latency: float = 0.1
    last_id: int = 100

    def of_kind(self, *kinds: str) -> list[Made]:
        return [call for call in self.calls if call.kind in kinds]

    def texts(self) -> list[str]:
        return [call.text for call in self.of_kind("send")]

    async def _make(self, made: Made) -> None:
        self.calls.append(made)
        failure: MessengerError | None = None
        seconds: float | None = None
        try:
            seconds = self.answer(made)
        except MessengerError as error:
            failure = error
        await self.clock.sleep(self.latency if seconds is None else seconds)
        if failure is not None:
            raise failure

    async def send_text(
        self,
        place: Place,
        part: Part,
        *,
        keyboard: Keyboard = (),
        is_silent: bool = True,
        reply_to: int | None = None,
        as_plain: bool = False,
    ) -> int:
        text = part.text if as_plain else part.html
        made = Made(
            "send",
            self.clock.monotonic(),
            place,
            text,
            keyboard,
            is_silent=is_silent,
            is_plain=as_plain,
            reply_to=reply_to,
        )
        await self._make(made)
        self.last_id += 1
        self.shown[self.last_id] = made
        self.shown_sends.append(made)
        return self.last_id

    async def edit_text(
        self, chat_id: int, message_id: int, part: Part, *, keyboard: Keyboard = (), as_plain: bool = False
    ) -> None:
        text = part.text if as_plain else part.html
        place = self.shown[message_id].place if message_id in self.shown else Place(chat_id)
        made = Made("edit", self.clock.monotonic(), place, text, keyboard, message_id=message_id, is_plain=as_plain)
        await self._make(made)
        self.shown[message_id] = made

    async def send_files(
        self,
        place: Place,
        files: Sequence[FileUpload],
        *,
        caption: Part | None = None,
        keyboard: Keyboard = (),
        is_silent: bool = True,
    ) -> int:
        text = caption.html if caption else ""
        made = Made("files", self.clock.monotonic(), place, text, keyboard, is_silent=is_silent, files=tuple(files))
        await self._make(made)
        self.last_id += 1
        return self.last_id

    async def answer_press(self, press_id: str, text: str = "", *, is_alert: bool = False) -> None:
        await self._make(Made("press", self.clock.monotonic(), Place(0), text))

    async def show_typing(self, place: Place) -> None:
        await self._make(Made("typing", self.clock.monotonic(), place))

    async def react(self, chat_id: int, message_id: int, emoji: str) -> None:
        await self._make(Made("react", self.clock.monotonic(), Place(chat_id), emoji, message_id=message_id))

    async def create_topic(self, chat_id: int, name: str) -> int:
        await self._make(Made("topic", self.clock.monotonic(), Place(chat_id), name))
        self.last_id += 1
        return self.last_id

    async def rename_topic(self, place: Place, name: str) -> None:
        await self._make(Made("rename", self.clock.monotonic(), place, name))

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        await self._make(Made("delete", self.clock.monotonic(), Place(chat_id), message_id=message_id))

    async def download(self, file_id: str, to: Path) -> None:
        await self._make(Made("download", self.clock.monotonic(), Place(0), file_id))

    async def count_members(self, chat_id: int) -> int:
        await self._make(Made("members", self.clock.monotonic(), Place(chat_id)))
        return 2

    async def set_commands(self, chat_id: int, commands: Sequence[tuple[str, str]], language: str = "") -> None:
        await self._make(Made("commands", self.clock.monotonic(), Place(chat_id)))
