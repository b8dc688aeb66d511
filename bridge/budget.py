"""How many calls a chat bears, as pure arithmetic on seconds that are handed in (any clock that never goes back).

All topics of a group share about 20 sends and edits a minute (TDLib's author; measured nowhere else), so there is one
sliding window for each chat and a ceiling for each class in it: a class may call while fewer calls than its ceiling
lie in the window. That leaves room for what must arrive without starving the rest (simulated with 8 busy topics:
prompts 0.1 / 1.1 s, finals 0.3 / 8.9 s at p50 / p95; a fixed reserve for prompts made finals wait 213 s).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from bridge.delivery import MessageClass

NEVER = math.inf


@dataclass(frozen=True, slots=True)
class Limits:
    """What a kind of chat allows: calls in ``window`` seconds by class; ``burst`` at once, then ``gap`` s apart.

    ``margin`` is added to the window, because the server dates a call a little earlier or later than we do.
    Closing edits and progress keep ``calm_gap`` seconds between them once ``calm_above`` calls lie in the window: then
    places come free one by one, and a prompt or final that finds the window full waits seconds instead of the rest of
    a burst (simulated: finals 14.9 -> 8.7 s and prompts 1.1 -> 0.2 s at p95).
    """

    ceilings: tuple[int, ...]
    window: float = 60.0
    margin: float = 0.3
    burst: int = 4
    gap: float = 1.0
    calm_gap: float = 2.5
    calm_above: int = 14


GROUP = Limits((20, 20, 20, 18, 17, 15))
PRIVATE = Limits((55, 55, 55, 50, 48, 45), calm_gap=1.0, calm_above=40)
"""Private chats: about one message a second, without the group's limit (Bot API FAQ)."""

FLOOD_FACTOR = 0.85
"""Each 429 takes 15 % off every ceiling ..."""
QUIET_STEP = 0.02
"""... and each quiet spell gives 2 % back."""
QUIET_SPELL = 300.0
LOWEST_SCALE = 0.5
AFTER_WAIT = 1.0
"""Seconds added to the time Telegram names."""
SLOW_SPELL = 60.0
"""Seconds at half rate after a wait."""


def limits_of(chat_id: int) -> Limits:
    """Private chats have positive ids."""
    return PRIVATE if chat_id > 0 else GROUP


class ChatBudget:
    """The window of one chat. ``begin`` when a call starts, then exactly one of ``end`` and ``withdraw``."""

    __slots__ = (
        "_calm_at",
        "_changed",
        "_in_flight",
        "_limits",
        "_taken",
        "_token_at",
        "_tokens",
        "resume_at",
        "scale",
    )

    def __init__(self, limits: Limits, now: float, *, scale: float = 1.0, resume_at: float = -NEVER) -> None:
        self._limits = limits
        self._taken: deque[float] = deque()
        self._in_flight = 0
        self._tokens = float(limits.burst)
        self._token_at = now
        self._changed = now
        self._calm_at = -NEVER
        self.scale = scale
        self.resume_at = resume_at

    def remember(self, taken: float) -> None:
        """A call of a former life that still lies in the window; oldest first."""
        self._taken.append(taken)
        self._tokens = max(0.0, self._tokens - 1)

    def delay(self, klass: MessageClass, now: float) -> float:
        """Seconds until a call of this class may start: 0 = now, NEVER = not before a call under way has ended."""
        self._refresh(now)
        if now < self.resume_at:
            return self.resume_at - now
        tokens = (1 - self._tokens) * self._limits.gap + 1e-6 if self._tokens < 1 - 1e-9 else 0.0
        return max(tokens, self._window_delay(klass, now))

    def _window_delay(self, klass: MessageClass, now: float) -> float:
        is_slow = now < self.resume_at + SLOW_SPELL
        room = self._limits.ceilings[klass] * self.scale / (2 if is_slow else 1)
        used = len(self._taken) + self._in_flight
        too_many = used - math.ceil(room) + 1
        if too_many <= 0:
            is_calm = klass >= MessageClass.CLOSING and used >= self._limits.calm_above * self.scale
            return max(0.0, self._calm_at + self._limits.calm_gap - now) if is_calm else 0.0
        wait = NEVER
        if too_many <= len(self._taken):
            wait = self._taken[too_many - 1] + self._limits.window + self._limits.margin - now
        if is_slow:
            wait = min(wait, self.resume_at + SLOW_SPELL - now)
        return max(wait, 1e-6)

    def begin(self, now: float, klass: MessageClass = MessageClass.REPLY) -> None:
        """A call starts; it counts from now on."""
        self._refresh(now)
        if klass >= MessageClass.CLOSING:
            self._calm_at = now
        self._tokens -= 1
        self._in_flight += 1

    def end(self, now: float) -> None:
        """The call reached the server (or may have): it stays in the window from now on."""
        self._in_flight -= 1
        self._taken.append(now)

    def withdraw(self) -> None:
        """The call surely did not reach the server."""
        self._in_flight -= 1

    def flooded(self, seconds: float, now: float) -> float:
        """Telegram asks to wait; returns the time of the next allowed call. Ends the call like ``withdraw``.

        A longer wait that is already known stays.
        """
        self._in_flight -= 1
        self._refresh(now)
        self.scale = max(LOWEST_SCALE, self.scale * FLOOD_FACTOR)
        self._changed = now
        self.resume_at = max(self.resume_at, now + seconds + AFTER_WAIT)
        return self.resume_at

    def _refresh(self, now: float) -> None:
        edge = now - self._limits.window - self._limits.margin
        while self._taken and self._taken[0] <= edge:
            self._taken.popleft()
        self._tokens = min(float(self._limits.burst), self._tokens + (now - self._token_at) / self._limits.gap)
        self._token_at = now
        if self.scale < 1 and now - self._changed > QUIET_SPELL:
            self.scale = min(1.0, self.scale + QUIET_STEP)
            self._changed = now


class TypingBudget:
    """Typing has a bucket of its own: one in 3 s for a chat, one in 5 s for a topic; what does not fit is dropped."""

    __slots__ = ("_chat_at", "_topic_at")

    CHAT_GAP = 3.0
    TOPIC_GAP = 5.0

    def __init__(self) -> None:
        self._chat_at = -NEVER
        self._topic_at: dict[int | None, float] = {}

    def take(self, topic_id: int | None, now: float) -> bool:
        """Whether "typing" may be shown now; counted if so."""
        if now - self._chat_at < self.CHAT_GAP or now - self._topic_at.get(topic_id, -NEVER) < self.TOPIC_GAP:
            return False
        self._chat_at = self._topic_at[topic_id] = now
        return True
