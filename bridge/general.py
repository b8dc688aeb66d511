"""General: the place for commands about all topics. Texts here never reach an agent."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Protocol

from agents.contract import HubError
from bridge.commands.parsing import nearest, parse_command
from bridge.commands.readers import count_readers, readers_line
from bridge.commands.status import inbox, overview
from bridge.commands.table import Call, CommandTable, Where
from bridge.commands.topic import help_part, parse_target
from bridge.context import HubContext
from bridge.inbound import IncomingMessage, Place
from bridge.sheet import clip, lines
from bridge.texts import tr, trn
from bridge.topics.inbox import Interrupted, Item
from bridge.topics.texts import late_command_text
from bridge.topics.topic import Topic

log = logging.getLogger(__name__)

CREATE_TIMEOUT = 60.0
NAME_LIMIT = 100


def nameless_text() -> str:
    """What somebody hears whom Telegram does not name."""
    return tr(
        "You write as an anonymous administrator or as a channel, so I can't know who you are. "
        "Write under your own name."
    )


class House(Protocol):
    """What General needs of the hub."""

    @property
    def commands(self) -> CommandTable: ...

    def topics(self) -> list[Topic]: ...

    def tell(self, place: Place, item: Item) -> None: ...

    def open_topic(
        self,
        place: Place,
        *,
        name: str,
        is_named_by_hand: bool,
        agent: str | None = None,
        cwd: Path | None = None,
    ) -> None: ...


class General:
    """Runs General's commands; each in a task of the hub's, because making a topic waits for Telegram."""

    def __init__(self, context: HubContext, house: House) -> None:
        self._context = context
        self._house = house

    def text(self, message: IncomingMessage) -> None:
        """A text that is no command of the hub's."""
        command = parse_command(message.text)
        if command is not None:
            close = nearest(command.name, self._house.commands.names(Where.GENERAL))
            hint = (
                tr("Did you mean {names}?", names=", ".join(f"/{name}" for name in close))
                if close
                else tr("See /help.")
            )
            self._context.say(message.place, tr("There is no command /{name} here.", name=command.name) + " " + hint)
            return
        self._context.say(
            message.place,
            tr("No agent listens in General. Write in a topic, or send /new [agent] [folder] to make one. See /help."),
            reply_to=message.message_id,
        )

    def edited(self, message: IncomingMessage) -> None:
        """A message was changed where no session is: only a command that it became has to be answered."""
        if parse_command(message.text) is not None:
            self._context.say(message.place, late_command_text(), reply_to=message.message_id)

    async def run(self, call: Call) -> None:
        """Run one command and be done with its update. Errors are said."""
        try:
            async with asyncio.timeout(CREATE_TIMEOUT):
                await self._run(call)
        except HubError as error:
            self._context.say_error(call.place, error)
        except TimeoutError:
            self._context.say(call.place, tr("Telegram did not answer. Try again."))
        finally:
            self._context.finish((call.message.update_id,))

    async def _run(self, call: Call) -> None:
        topics = [topic for topic in self._house.topics() if topic.place.chat_id == call.place.chat_id]
        match call.command.name:
            case "new":
                await self._new(call)
            case "status":
                await count_readers(self._context, call.place.chat_id)
                part = lines(overview(self._context, topics), readers_line(self._context, call.place.chat_id))
                self._context.say(call.place, part)
            case "inbox":
                self._context.say(call.place, inbox(topics))
            case "stopall":
                running = [topic for topic in topics if topic.is_busy]
                for topic in running:
                    self._house.tell(topic.place, Interrupted())
                count = len(running)
                stopped = trn("{count} turn is being stopped.", "{count} turns are being stopped.", count)
                self._context.say(call.place, "⏹ " + stopped if count else tr("Nothing is running."))
            case _:
                self._context.say(call.place, help_part(self._house.commands, Where.GENERAL))

    async def _new(self, call: Call) -> None:
        context = self._context
        agent, folder = parse_target(call.arguments, context.backends.keys(), context.config.roots)
        kind = agent or context.config.default_agent
        backend = context.backend(kind)
        await backend.locate()
        title = backend.traits.title
        folder = folder or (context.config.roots[0] if context.config.roots else None)
        if folder is None:
            raise HubError(tr("No work folder is set."), tr("Add one in the window: Settings, Folders."))
        name = clip(f"{folder.name or folder} · {title}", NAME_LIMIT)
        chat_id = call.place.chat_id
        topic_id = await context.delivery.paced(chat_id, lambda: context.messenger.create_topic(chat_id, name))
        self._house.open_topic(Place(chat_id, topic_id), name=name, is_named_by_hand=False, agent=kind, cwd=folder)
        context.say(call.place, tr("Made the topic “{title}”. Write your task there.", title=name))
