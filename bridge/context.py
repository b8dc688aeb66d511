"""What every topic is given to work with. Built once by the hub; holds no logic beyond small look-ups."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agents.contract import AgentBackend, AgentCommand, HubError, SessionStarted
from bridge.bindings import Bindings
from bridge.buttons import ButtonBook
from bridge.cards import error_notice
from bridge.clock import Clock
from bridge.config import BridgeConfig
from bridge.delivery import Delivery, MessageClass, Outgoing
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import Keyboard, Messenger
from bridge.pending import AskDesk
from bridge.sheet import plain
from bridge.snapshots import Shelf
from bridge.spending import Ledger
from bridge.store import Database, Journal
from bridge.texts import tr
from bridge.turns import Turns
from bridge.uploads import Uploads

if TYPE_CHECKING:
    from bridge.topics.topic import Topic


class HandingOver(Protocol):
    """Gives ``take`` all of a lost topic. Raises HubError."""

    def __call__(self, place: Place, take: Callable[[Topic], None], *, is_sure: bool) -> Awaitable[None]: ...


@dataclass(slots=True)
class HubContext:
    """``offers`` holds what each kind of agent last said it can be set to; ``data`` is the hub's own folder.

    ``members`` says how many each chat has, as last counted.
    ``new_id`` makes random ids of at most 40 letters and digits.
    """

    config: BridgeConfig
    messenger: Messenger
    delivery: Delivery
    database: Database
    backends: Mapping[str, AgentBackend]
    desk: AskDesk
    clock: Clock
    new_id: Callable[[], str]
    data: Path
    bot_name: str = ""
    is_paused: bool = False
    offers: dict[str, SessionStarted] = field(default_factory=dict)
    members: dict[int, int] = field(default_factory=dict)
    busy_topics: Callable[[], int] = lambda: 1
    changed: Callable[[], None] = lambda: None
    session_opened: Callable[[], None] = lambda: None
    commands_changed: Callable[[], None] = lambda: None
    topics: Callable[[], list[Topic]] = list
    hand_over: HandingOver = field(init=False)
    journal: Journal = field(init=False)
    bindings: Bindings = field(init=False)
    turns: Turns = field(init=False)
    buttons: ButtonBook = field(init=False)
    intake: Uploads = field(init=False)
    shelf: Shelf = field(init=False)
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.journal = Journal(self.database, self.clock)
        self.bindings = Bindings(self.database, self.clock, self.new_id)
        self.turns = Turns(self.database, self.clock)
        self.buttons = ButtonBook(self.database, self.clock, self.new_id)
        self.intake = Uploads(self.messenger)
        self.ledger = Ledger(self.database, self.clock)
        self.shelf = Shelf(self.data / "snapshots", self.clock, self.new_id)

    @property
    def may_start_turns(self) -> bool:
        return not self.is_paused and not self.desk.is_locked

    def backend(self, kind: str) -> AgentBackend:
        """Raises HubError for an agent that is not there (any more)."""
        found = self.backends.get(kind)
        if found is None:
            raise HubError(
                tr("There is no agent named {agent}.", agent=kind),
                tr("Known: {agents}", agents=", ".join(sorted(self.backends)) or "-"),
            )
        return found

    # --- what agents offer

    def learn_offers(self, agent: str, started: SessionStarted) -> None:
        """Remember what an agent said of itself; its commands also for the next life of the hub."""
        former = self.offers.get(agent)
        self.offers[agent] = started
        if started.commands and (former is None or former.commands != started.commands):
            names = json.dumps([[command.name, command.description] for command in started.commands])
            self.database.execute("INSERT OR REPLACE INTO agent_commands (agent, names) VALUES (?, ?)", (agent, names))
            self.commands_changed()

    def agent_commands(self, agent: str) -> tuple[AgentCommand, ...]:
        """The slash commands of an agent as it last told them, () when it never ran here."""
        offered = self.offers.get(agent)
        if offered is not None and offered.commands:
            return offered.commands
        row = self.database.row("SELECT names FROM agent_commands WHERE agent = ?", (agent,))
        return tuple(AgentCommand(*pair) for pair in json.loads(row["names"])) if row else ()

    def all_agent_commands(self) -> dict[str, str]:
        """Names and descriptions of the commands of all agents that ever ran here."""
        found: dict[str, str] = {}
        for row in self.database.rows("SELECT names FROM agent_commands ORDER BY agent"):
            found.update(json.loads(row["names"]))
        return found

    # --- speaking

    def say(
        self,
        place: Place,
        part: Part | str,
        *,
        keyboard: Keyboard = (),
        rings: bool = False,
        klass: MessageClass = MessageClass.REPLY,
        reply_to: int | None = None,
        key: str = "",
    ) -> str:
        """Post what the hub itself has to say; returns the key."""
        text = plain(part) if isinstance(part, str) else part
        return self.delivery.post(
            Outgoing(place=place, part=text, klass=klass, key=key, keyboard=keyboard, rings=rings, reply_to=reply_to)
        )

    def say_error(self, place: Place, error: HubError, *, keyboard: Keyboard = (), reply_to: int | None = None) -> str:
        return self.say(place, error_notice(error), keyboard=keyboard, reply_to=reply_to)

    def finish(self, update_ids: tuple[int, ...]) -> None:
        """Nothing more will come of these updates."""
        if update_ids:
            self.journal.finish(update_ids)
