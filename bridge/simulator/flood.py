"""Flood control as Telegram does it: a budget per chat, short waits absorbed, then 429 with a growing penalty."""

from __future__ import annotations

import math
from collections import deque

from bridge.clock import Clock
from bridge.simulator.errors import too_many_requests
from bridge.simulator.limits import Limits


class Window:
    """A sliding window: at most ``calls`` slots in any ``seconds``."""

    def __init__(self, calls: int, seconds: float) -> None:
        self.calls = calls
        self.seconds = seconds
        self._slots: deque[float] = deque(maxlen=calls)

    def free_at(self, now: float) -> float:
        """When the next slot is free; ``now`` when one is free already."""
        return max(now, self._slots[0] + self.seconds) if len(self._slots) == self.calls else now

    def take(self, at: float) -> None:
        self._slots.append(at)

    def used(self, now: float) -> int:
        """Slots of the last ``seconds``, those reserved for held calls included."""
        return sum(slot > now - self.seconds for slot in self._slots)


class ChatBudget:
    """One chat's window and its penalty."""

    def __init__(self, calls: int, limits: Limits) -> None:
        self.window = Window(calls, limits.window)
        self._limits = limits
        self.penalty_until = 0.0
        self.refused = 0

    def reserve(self, now: float) -> float:
        """Seconds to hold the call; raises 429 when that is more than the server absorbs."""
        limits = self._limits
        if now < self.penalty_until:
            left = min(limits.penalty_cap, (self.penalty_until - now) * limits.growth + limits.growth_step)
            raise self._refuse(now, left)
        free = self.window.free_at(now)
        if free - now > limits.hold:
            raise self._refuse(now, free - now)
        self.window.take(free)
        return free - now

    def _refuse(self, now: float, left: float) -> Exception:
        self.penalty_until = now + left
        self.refused += 1
        return too_many_requests(math.ceil(left))


class Flood:
    """Budgets of all chats. Sends and edits share one, typing has its own, answers to presses are free."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._budgets: dict[int, ChatBudget] = {}
        self._typing: dict[int, tuple[Window, ...]] = {}
        self._overall = Window(limits.calls_per_second, 1.0)

    def budget(self, chat_id: int) -> ChatBudget:
        """The chat's budget; private chats have positive ids."""
        if chat_id not in self._budgets:
            calls = self._limits.private_calls if chat_id > 0 else self._limits.group_calls
            self._budgets[chat_id] = ChatBudget(calls, self._limits)
        return self._budgets[chat_id]

    async def pay(self, chat_id: int, calls: int = 1) -> None:
        """Wait as the server does, or raise 429. An album costs as many calls as it has items."""
        now = self._clock.monotonic()
        budget = self.budget(chat_id)
        wait = max(budget.reserve(now) for _ in range(calls))
        self._overall.take(start := self._overall.free_at(now))
        wait = max(wait, start - now)
        if wait > 0:
            await self._clock.sleep(wait)

    async def pay_typing(self, chat_id: int) -> None:
        """Chat actions: their own family, of which the server absorbs two seconds."""
        now = self._clock.monotonic()
        windows = self._typing.setdefault(chat_id, tuple(Window(n, s) for n, s in self._limits.typing_windows))
        free = max(window.free_at(now) for window in windows)
        if free - now > self._limits.typing_hold:
            raise too_many_requests(math.ceil(free - now))
        for window in windows:
            window.take(free)
        if free > now:
            await self._clock.sleep(free - now)

    def used(self, chat_id: int) -> int:
        """Calls of the last window."""
        return self.budget(chat_id).window.used(self._clock.monotonic())

    def penalty_left(self, chat_id: int) -> float:
        """Seconds until the chat may be called again; 0 when it may."""
        return max(0.0, self.budget(chat_id).penalty_until - self._clock.monotonic())
