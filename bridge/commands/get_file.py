"""/get: a file of the session's folder, because the person wants it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agents.contract import HubError
from bridge.commands.table import Call
from bridge.delivery import MessageClass, Outgoing
from bridge.file_copies import FileRefused, take_copy, upload_of
from bridge.sheet import EMPTY
from bridge.texts import tr
from bridge.topics.topic import Topic


async def get_file(topic: Topic, call: Call) -> None:
    """``/get PATH``, relative to the session's folder and never outside it. Raises HubError."""
    wish = call.arguments.strip().strip("\"'")
    if not wish:
        raise HubError(tr("Which file?"), tr("Send /get and a path inside {folder}.", folder=topic.binding.cwd))
    folder = topic.context.data / "outgoing" / topic.context.new_id()
    try:
        copy = await asyncio.to_thread(take_copy, Path(wish), topic.binding.cwd, folder)
    except FileRefused as refused:
        raise HubError(tr("That file can't be sent."), str(refused)) from refused
    topic.context.delivery.post(Outgoing(topic.place, EMPTY, MessageClass.REPLY, files=(upload_of(copy),)))
