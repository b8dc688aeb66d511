"""The human's side of one session's life: requests go to the desk, files through the outbox with a true answer."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
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
    ToolKind,
)
from bridge.context import HubContext
from bridge.delivery import MessageClass, Outgoing
from bridge.file_copies import FileRefused, find, looks_secret, take_copy, upload_of
from bridge.pending import AskOrigin
from bridge.sheet import clip, plain
from bridge.texts import tr
from bridge.topics.inbox import AskClosed, Item

log = logging.getLogger(__name__)

CAPTION_LIMIT = 900
OUTCOME_WAIT = 600.0
"""Seconds an agent waits for Telegram's answer about a file."""


class TopicChannel:
    """``UserChannel`` of one epoch; ``put`` wakes the topic when something it asked is closed.

    ``open_asks`` counts what waits for a person: an agent that waits is not silent.
    """

    def __init__(self, context: HubContext, origin: AskOrigin, put: Callable[[Item], None]) -> None:
        self._context = context
        self._origin = origin
        self._put = put
        self.open_asks = 0

    def follow_move(self, new_chat_id: int) -> None:
        """The group has a new id: what is asked from now on belongs there."""
        place = replace(self._origin.place, chat_id=new_chat_id)
        self._origin = replace(self._origin, place=place)

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
            await self._ask_about_secret(file.path)
            copy = await asyncio.to_thread(take_copy, file.path, self._origin.cwd, folder)
        except FileRefused as refused:
            return FileDelivery(is_delivered=False, detail=str(refused))
        key = context.delivery.post(
            Outgoing(
                place=self._origin.place,
                part=plain(clip(file.caption, CAPTION_LIMIT)),
                klass=MessageClass.FINAL,
                files=(upload_of(copy),),
            )
        )
        try:
            async with asyncio.timeout(OUTCOME_WAIT):
                outcome = await context.delivery.outcome(key)
        except TimeoutError:
            return FileDelivery(is_delivered=False, detail="The file waits to be sent; Telegram is slow at the moment.")
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if outcome.message_id is None:
            context.delivery.drop(key)  # parked with a lost topic: the agent is told "not sent", and the copy is gone
            return FileDelivery(is_delivered=False, detail=f"{copy.name} was not sent: {outcome.failure}")
        return FileDelivery(is_delivered=True, detail=f"{copy.name} was sent to the user.")

    async def _ask_about_secret(self, path: Path) -> None:
        """A file that looks like a secret goes out only with a person's word. Raises FileRefused."""
        real, _ = await asyncio.to_thread(find, path, self._origin.cwd)
        if not looks_secret(real):
            return
        ask = PermissionRequest(
            id=AskId(self._context.new_id()),
            tool="send_file",
            kind=ToolKind.OTHER,
            title=tr("Send a file that may hold a secret to this chat"),
            subject=str(real),
            cwd=self._origin.cwd,
            reason=tr("Everybody in the group will see it."),
        )
        decision = await self.request(ask)
        await self.told(ask.id, delivered=True)
        if not decision.is_allowed:
            raise FileRefused(f"The user did not allow {path.name} to be sent. {decision.reason}".strip())
