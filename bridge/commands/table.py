"""The table of commands: which exist, where they work, and what runs them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, Flag, auto

from bridge.commands.parsing import Command
from bridge.config import Role
from bridge.inbound import IncomingMessage, Place
from bridge.markdown.part import Part
from bridge.sheet import bold, clip, lines, together
from bridge.texts import mark, tr

MENU_LIMIT = 100
DESCRIPTION_LIMIT = 200
_MENU_NAME = re.compile(r"[a-z0-9_]{1,32}")


class Where(Flag):
    """Where a command works."""

    TOPIC = auto()
    GENERAL = auto()
    BOTH = TOPIC | GENERAL


class Section(Enum):
    """Where /help lists a command; the value is the English heading."""

    WORK = mark("Work")
    PERMISSION = mark("Permission")
    SESSIONS = mark("Sessions")
    CHOICES = mark("What it works with")
    SHOWN = mark("How much is shown")
    HUB = mark("The hub")


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command by a person who may speak here."""

    command: Command
    message: IncomingMessage
    role: Role

    @property
    def place(self) -> Place:
        return self.message.place

    @property
    def arguments(self) -> str:
        return self.command.arguments


DirectRun = Callable[[Call], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command. ``summary`` is the English sentence that is looked up when it is shown.

    ``run`` handles it at once, before the topic's own line of work (approvals must not wait); None: the topic or
    General runs it by its name. ``works_locked``: it gives the agent nothing to do and loosens nothing.
    """

    name: str
    summary: str
    where: Where = Where.TOPIC
    usage: str = ""
    needs_owner: bool = False
    run: DirectRun | None = None
    works_locked: bool = False
    section: Section = Section.WORK


class CommandTable:
    """All commands of the hub, in the order in which the menu and each section of /help show them."""

    def __init__(self, specs: Iterable[CommandSpec] = ()) -> None:
        self._specs: dict[str, CommandSpec] = {}
        for spec in specs:
            self.add(spec)

    def add(self, spec: CommandSpec) -> None:
        """Raises ValueError for a name that is taken."""
        if spec.name in self._specs:
            raise ValueError(f"command /{spec.name} exists already")
        self._specs[spec.name] = spec

    def find(self, name: str) -> CommandSpec | None:
        return self._specs.get(name)

    def names(self, where: Where = Where.BOTH) -> list[str]:
        return [spec.name for spec in self._specs.values() if spec.where & where]

    def menu(self, where: Where = Where.BOTH) -> list[tuple[str, str]]:
        """Names and translated summaries, for Telegram's command menu and /help."""
        return [(spec.name, tr(spec.summary)) for spec in self._specs.values() if spec.where & where]

    def whole_menu(self, foreign: Mapping[str, str]) -> list[tuple[str, str]]:
        """The hub's commands and those of its agents that Telegram can show (Bot API: setMyCommands)."""
        own = self.menu()
        others = [
            (name, clip(description, DESCRIPTION_LIMIT) or name)
            for name, description in foreign.items()
            if _MENU_NAME.fullmatch(name) and name not in self._specs
        ]
        return [*own, *others][:MENU_LIMIT]

    def help_part(self, where: Where) -> Part:
        """What works there, section by section."""
        return together((self._section_part(section, where) for section in Section), "\n\n")

    def _section_part(self, section: Section, where: Where) -> Part:
        listed = [
            f"/{spec.name}{' ' + tr(spec.usage) if spec.usage else ''} — {tr(spec.summary)}"
            for spec in self._specs.values()
            if spec.where & where and spec.section is section
        ]
        return lines(bold(tr(section.value)), *listed) if listed else lines()
