"""/get: a file of the session's folder, because the person wants it. One that looks like a secret is asked about."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agents.contract import HubError
from bridge.commands.table import Call
from bridge.delivery import MessageClass, Outgoing
from bridge.file_copies import FileRefused, find, looks_secret, take_copy, upload_of
from bridge.sheet import EMPTY, bold, code, lines, row
from bridge.texts import told, tr
from bridge.topics.topic import Topic

GET = "get"


async def get_file(topic: Topic, call: Call) -> None:
    """``/get PATH``, relative to the session's folder and never outside it. Raises HubError."""
    wish = call.arguments.strip().strip("\"'")
    if not wish:
        raise HubError(tr("Which file?"), tr("Send /get and a path inside {folder}.", folder=topic.binding.cwd))
    try:
        real, _ = await asyncio.to_thread(find, Path(wish), topic.binding.cwd)
    except FileRefused as refused:
        raise not_sent(refused) from refused
    if looks_secret(real):
        ask(topic, wish)
        return
    await send(topic, wish)


def ask(topic: Topic, wish: str) -> None:
    """A chat is kept for years and read by everybody in it."""
    part = lines(
        row(bold("🔑 " + tr("This file may hold a secret: ")), code(wish)),
        tr("Everybody in the group will see it, and Telegram keeps it."),
    )
    with topic.context.database.transaction():
        keyboard = topic.context.buttons.keyboard(topic.place, GET, [(tr("Send it"), wish), (tr("Don't send"), "")])
        topic.context.say(topic.place, part, keyboard=keyboard)


async def pressed(topic: Topic, value: str, menu: str) -> None:
    """The answer to ``ask``; the file is looked at again. Raises HubError."""
    if not value:
        topic.show_menu(lines(tr("Not sent.")), (), menu)
        return
    topic.show_menu(row(tr("Sending "), code(value)), (), menu)
    await send(topic, value)


async def send(topic: Topic, wish: str) -> None:
    folder = topic.context.data / "outgoing" / topic.context.new_id()
    try:
        copy = await asyncio.to_thread(take_copy, Path(wish), topic.binding.cwd, folder)
    except FileRefused as refused:
        raise not_sent(refused) from refused
    topic.context.delivery.post(Outgoing(topic.place, EMPTY, MessageClass.REPLY, files=(upload_of(copy),)))


def not_sent(refused: FileRefused) -> HubError:
    return HubError(tr("That file can't be sent."), told(refused.why))
