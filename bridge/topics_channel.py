"""The human's side of one session's life: requests go to the desk, files through the outbox with a true answer."""

from __future__ import annotations

import asyncio
import logging
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from agents.contract import (
    Answers,
    AskId,
    Decision,
    Declined,
    FileDelivery,
    OutgoingFile,
    PermissionRequest,
    QuestionRequest,
)
from bridge.context import HubContext
from bridge.delivery import MessageClass, Outgoing
from bridge.messenger import FileUpload
from bridge.pending import AskOrigin
from bridge.sheet import clip, plain
from bridge.topics_inbox import AskClosed, Item

log = logging.getLogger(__name__)

FILE_LIMIT = 50_000_000
"""Bytes; Bot API: sendDocument."""
PHOTO_LIMIT = 10_000_000
PHOTO_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})
CAPTION_LIMIT = 900
OUTCOME_WAIT = 600.0
"""Seconds an agent waits for Telegram's answer about a file."""


class FileRefused(Exception):
    """Why a file does not go out; the text is for the agent."""


class TopicChannel:
    """``UserChannel`` of one epoch; ``put`` wakes the topic when something it asked is closed.

    ``open_asks`` counts what waits for a person: an agent that waits is not silent.
    """

    def __init__(self, context: HubContext, origin: AskOrigin, put: Callable[[Item], None]) -> None:
        self._context = context
        self._origin = origin
        self._put = put
        self.open_asks = 0

    async def request(self, ask: PermissionRequest) -> Decision:
        self.open_asks += 1
        try:
            return await self._context.desk.request(self._origin, ask)
        finally:
            self.open_asks -= 1
            self._put(AskClosed())

    async def ask(self, ask: QuestionRequest) -> Answers | Declined:
        self.open_asks += 1
        try:
            return await self._context.desk.ask(self._origin, ask)
        finally:
            self.open_asks -= 1
            self._put(AskClosed())

    async def told(self, ask_id: AskId, *, delivered: bool) -> None:
        await self._context.desk.told(ask_id, delivered=delivered)

    async def withdrawn(self, ask_id: AskId, why: str) -> None:
        await self._context.desk.withdrawn(ask_id, why)

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        context = self._context
        folder = context.data / "outgoing" / context.new_id()
        try:
            copy = await asyncio.to_thread(take_copy, file.path, self._origin.cwd, folder)
        except FileRefused as refused:
            return FileDelivery(is_delivered=False, detail=str(refused))
        key = context.delivery.post(
            Outgoing(
                place=self._origin.place,
                part=plain(clip(file.caption, CAPTION_LIMIT)),
                klass=MessageClass.FINAL,
                files=(FileUpload(copy, copy.name, is_photo=is_photo(copy)),),
            )
        )
        try:
            async with asyncio.timeout(OUTCOME_WAIT):
                outcome = await context.delivery.outcome(key)
        except TimeoutError:
            return FileDelivery(is_delivered=False, detail="The file waits to be sent; Telegram is slow at the moment.")
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if outcome.message_id is None:
            return FileDelivery(is_delivered=False, detail=f"{copy.name} was not sent: {outcome.failure}")
        return FileDelivery(is_delivered=True, detail=f"{copy.name} was sent to the user.")


def take_copy(path: Path, cwd: Path, folder: Path) -> Path:
    """Copy a file of the session's folder into ``folder``, so that what was checked is what is sent.

    Blocks; raises FileRefused.
    """
    try:
        base = cwd.resolve(strict=True)
        real = (base / path).resolve(strict=True)
        facts = real.stat()
    except (OSError, RuntimeError, ValueError) as error:
        raise FileRefused(f"There is no readable file {path}.") from error
    if not real.is_relative_to(base):
        raise FileRefused(f"{path} is outside the session's folder {base}; only files inside it can be sent.")
    if not stat.S_ISREG(facts.st_mode):
        raise FileRefused(f"{path} is not a file.")
    if facts.st_size > FILE_LIMIT:
        raise FileRefused(f"{path} has {facts.st_size} bytes; Telegram takes at most {FILE_LIMIT}.")
    if facts.st_size == 0:
        raise FileRefused(f"{path} is empty; Telegram does not take empty files.")
    copy = folder / real.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(real, copy, follow_symlinks=False)
    except OSError as error:
        raise FileRefused(f"{path} could not be read: {error.strerror}") from error
    if copy.is_symlink() or copy.stat().st_size > FILE_LIMIT:
        shutil.rmtree(folder, ignore_errors=True)
        raise FileRefused(f"{path} changed while it was read.")
    return copy


def is_photo(path: Path) -> bool:
    return path.suffix.lower() in PHOTO_SUFFIXES and path.stat().st_size <= PHOTO_LIMIT
