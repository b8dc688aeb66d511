"""Which letter of a chat goes next. Pure: state and the time in, a letter and a waiting time out.

Prompts, replies and finals of one topic are one lane in the order of posting, and a lane is as urgent as the most
urgent letter in it: a prompt therefore overtakes the status of its topic, never an earlier final. Within a class the
topic that was served longest ago is next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bridge.budget import NEVER, ChatBudget, TypingBudget
from bridge.delivery import MessageClass
from bridge.letters import Letter

STUCK_AFTER = 2.0
"""Seconds after which a call under way no longer holds back other topics: its reply may never come."""
MOST_STUCK = 3
PROGRESS_GAP = 5.0
PROGRESS_GAP_PER_TOPIC = 5.0
LONG_FOR_CLOSING = 260.0
"""Seconds."""
BUSY_SPELL = 15.0
"""Seconds since its last progress during which a topic counts as busy."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The letter to start now, or None and the seconds until it is worth to look again."""

    letter: Letter | None
    wait: float = NEVER


class ChatQueue:
    """All open letters of one chat, its budget and what was served when."""

    def __init__(self, chat_id: int, budget: ChatBudget) -> None:
        self.chat_id = chat_id
        self.budget = budget
        self.typing = TypingBudget()
        self.letters: dict[int, Letter] = {}
        self.parked_topics: set[int | None] = set()
        self.blocked_until = -NEVER
        """On the monotonic clock; the chat refuses everything until then."""
        self._served: dict[tuple[MessageClass, int | None], int] = {}
        self._turn = 0
        self._shown_at: dict[int | None, float] = {}
        self._busy_at: dict[int | None, float] = {}

    def note_progress(self, topic_id: int | None, now: float) -> None:
        """A turn of this topic has something new to show."""
        self._busy_at[topic_id] = now

    def note_served(self, letter: Letter, now: float) -> None:
        """A letter was started."""
        self._turn += 1
        self._served[letter.klass, letter.place.topic_id] = self._turn
        if letter.klass is not MessageClass.REPLY:
            self._shown_at[letter.place.topic_id] = now

    def choose(self, now: float) -> Choice:
        """The next letter. No letter is started while the chat is blocked or Telegram asked to wait."""
        if now < self.blocked_until:
            return Choice(None, self.blocked_until - now)
        best: tuple[int, float, int] | None = None
        chosen: Letter | None = None
        wait = NEVER
        candidates = list(self._candidates())
        is_line_busy = {True: self._line_wait(now, sends=True), False: self._line_wait(now, sends=False)}
        delays = {klass: self.budget.delay(klass, now) for klass in {urgency for _, urgency in candidates}}
        holds_progress = any(urgency <= MessageClass.CLOSING for _, urgency in candidates)
        for letter, urgency in candidates:
            delay = max(letter.not_before - now, delays[urgency], is_line_busy[letter.is_send])
            if urgency is MessageClass.PROGRESS:
                delay = max(delay, NEVER if holds_progress else self._progress_wait(letter, now))
            if delay > 0:
                wait = min(wait, delay)
                continue
            rank = self._rank(letter, urgency, now)
            if best is None or rank < best:
                best, chosen = rank, letter
        return Choice(chosen, 0.0) if chosen else Choice(None, wait)

    def _rank(self, letter: Letter, urgency: MessageClass, now: float) -> tuple[int, float, int]:
        """Lowest first. Topics take turns, but a closing edit that has waited long goes first, whichever topic.

        Edits carry the live status: the topic that has shown nothing new for longest is next. Progress is worth most
        where the person looks: in the newest message of its topic.
        """
        if urgency is MessageClass.CLOSING and now - letter.waits_since > LONG_FOR_CLOSING:
            return (urgency, -1, letter.id)
        order = -letter.id if urgency is MessageClass.PROGRESS else letter.id
        if urgency >= MessageClass.CLOSING:
            return (urgency, self._shown_at.get(letter.place.topic_id, -NEVER), order)
        return (urgency, self._served.get((urgency, letter.place.topic_id), 0), order)

    def _candidates(self) -> Iterator[tuple[Letter, MessageClass]]:
        """Letters that could go but for time and budget, each with the urgency it goes by."""
        heads: dict[int | None, Letter] = {}
        urgency: dict[int | None, MessageClass] = {}
        loose = []
        for letter in self.letters.values():
            topic_id = letter.place.topic_id
            if not letter.is_open or (letter.is_send and topic_id in self.parked_topics):
                continue
            if letter.keeps_order:
                heads.setdefault(topic_id, letter)
                urgency[topic_id] = min(urgency.get(topic_id, letter.klass), letter.klass)
            elif not letter.is_in_flight:
                loose.append(letter)
        yield from ((head, urgency[topic_id]) for topic_id, head in heads.items() if not head.is_in_flight)
        yield from ((letter, letter.klass) for letter in loose)

    def _line_wait(self, now: float, *, sends: bool) -> float:
        """One send and one edit at a time, so that a crash leaves one message in doubt; a stuck one steps aside."""
        flying = [letter for letter in self._flying() if letter.is_send is sends]
        fresh = [letter.started + STUCK_AFTER - now for letter in flying if now - letter.started < STUCK_AFTER]
        if fresh:
            return max(fresh)
        return NEVER if len(flying) >= MOST_STUCK else 0.0

    def _flying(self) -> Iterable[Letter]:
        return (letter for letter in self.letters.values() if letter.is_in_flight)

    def _progress_wait(self, letter: Letter, now: float) -> float:
        busy = sum(1 for at in self._busy_at.values() if now - at < BUSY_SPELL)
        gap = max(PROGRESS_GAP, PROGRESS_GAP_PER_TOPIC * busy)
        return self._shown_at.get(letter.place.topic_id, -NEVER) + gap - now
