"""Texts that wait in one topic, shown as they wait. Pure state; the topic posts and revises their cards."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agents.contract import InputId, Prompt
from bridge.topics.joining import Utterance

JOIN_WITHIN = 2.0
"""Texts of one person sent within so many seconds are one thought when a turn begins with them."""


class WaitState(StrEnum):
    """Where a text stands."""

    PREPARING = "preparing"  # its files are on their way
    READY = "ready"
    HELD = "held"  # only a person lets it go on
    GIVEN = "given"  # to the running turn; the agent has not taken it yet


@dataclass(slots=True)
class Waiting:
    """One text on its way to the agent. ``said`` None: the hub's own (Continue, Try again), or words with a denial.

    ``is_after_turn``: never given to a running turn; ``card`` is the key of the message that shows it waiting;
    ``words_of`` names the denied request (at most one) whose words these are.
    """

    id: str
    prompt: Prompt
    said: Utterance | None = None
    state: WaitState = WaitState.READY
    input_id: InputId | None = None
    card: str = ""
    is_after_turn: bool = False
    words_of: tuple[str, ...] = ()
    is_held: bool = False
    """To be held as soon as its files are there."""
    resumes: str = ""
    """The turn that this goes on with or repeats."""
    button: str = ""
    """The keyboard that asked for it: used up only when the agent has it, so that a crash in between loses nothing."""

    def hold(self) -> None:
        """From now on only a person lets it go on."""
        if self.state is WaitState.PREPARING:
            self.is_held = True
        else:
            self.state = WaitState.HELD

    @property
    def is_command(self) -> bool:
        """One of the agent's own commands, sent alone."""
        return self.prompt.is_command

    @property
    def update_ids(self) -> tuple[int, ...]:
        return self.said.update_ids if self.said else ()

    @property
    def message_id(self) -> int | None:
        return self.said.message_id if self.said else None

    def holds(self, message_id: int) -> bool:
        return self.said is not None and any(message.message_id == message_id for message in self.said.messages)


@dataclass(slots=True)
class WaitingLine:
    """The order is the order of arrival."""

    entries: list[Waiting] = field(default_factory=list)

    def add(self, entry: Waiting) -> None:
        self.entries.append(entry)

    def put_first(self, entry: Waiting) -> None:
        self.entries.insert(0, entry)

    def remove(self, entry: Waiting) -> None:
        self.entries = [other for other in self.entries if other is not entry]

    def by_id(self, entry_id: str) -> Waiting | None:
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def by_input(self, input_id: InputId) -> Waiting | None:
        return next((entry for entry in self.entries if entry.input_id == input_id), None)

    def by_message(self, message_id: int) -> Waiting | None:
        return next((entry for entry in self.entries if entry.holds(message_id)), None)

    def by_turn(self, turn_id: str) -> Waiting | None:
        """What goes on with this turn, if it waits here."""
        return next((entry for entry in self.entries if turn_id and entry.resumes == turn_id), None)

    @property
    def given(self) -> list[Waiting]:
        return [entry for entry in self.entries if entry.state is WaitState.GIVEN]

    @property
    def held(self) -> list[Waiting]:
        return [entry for entry in self.entries if entry.state is WaitState.HELD]

    @property
    def open(self) -> list[Waiting]:
        """What waits by itself, in order: nothing overtakes a text whose files are still coming."""
        return [entry for entry in self.entries if entry.state in (WaitState.READY, WaitState.PREPARING)]

    def next_turn(self) -> list[Waiting]:
        """What the next turn begins with: the first text and those that belong to the same breath."""
        head: list[Waiting] = []
        for entry in self.open:
            if entry.state is not WaitState.READY or (head and not belongs(head[-1], entry)):
                break
            head.append(entry)
            if entry.is_command:
                break
        return head


def belongs(former: Waiting, later: Waiting) -> bool:
    """Whether two texts are one thought: same person, quickly after each other, no commands."""
    if former.is_command or later.is_command or former.said is None or later.said is None:
        return False
    if former.said.sender.id != later.said.sender.id:
        return False
    return abs(later.said.date - former.said.date) <= JOIN_WITHIN


def joined(entries: list[Waiting]) -> Prompt:
    """One prompt of several texts."""
    if len(entries) == 1:
        return entries[0].prompt
    return Prompt(
        text="\n\n".join(entry.prompt.text for entry in entries if entry.prompt.text),
        images=tuple(image for entry in entries for image in entry.prompt.images),
        files=tuple(file for entry in entries for file in entry.prompt.files),
    )
