"""The numbers of Telegram's limits, adjustable for soak tests. Sources: Bot API, its server, and its author."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, sizes in bytes.

    ``group_calls`` per ``window`` counts sends, edits and topic creations of one group together. A call that would
    have to wait no longer than ``hold`` is held and then taken; otherwise it is refused with 429, and every call
    during the penalty multiplies what is left of it by ``growth`` and adds ``growth_step``, up to ``penalty_cap``.
    ``press_queue`` is how long a button press waits for a poll, ``press_answer`` how long it may be answered
    (the true figure is not published).
    """

    group_calls: int = 20
    private_calls: int = 60
    window: float = 60.0
    hold: float = 8.0
    growth: float = 1.1
    growth_step: float = 1.0
    penalty_cap: float = 7200.0
    calls_per_second: int = 30
    typing_windows: tuple[tuple[int, float], ...] = ((20, 5.0), (40, 30.0))
    typing_hold: float = 2.0
    typing_shown: float = 5.0
    upload: int = 50_000_000
    photo_upload: int = 10_000_000
    download: int = 20 << 20
    update_age: float = 86_400.0
    press_queue: float = 150.0
    press_answer: float = 60.0
    delete_age: float = 172_800.0
    poll_stretch: float = 3.0
    poll_narrow: float = 0.5


STRICT = Limits(group_calls=15)
"""For soak tests: a server that allows less than is planned for."""

UNLIMITED = Limits(group_calls=100_000, private_calls=100_000, calls_per_second=100_000, poll_stretch=0.0)
"""For tests that are about something else than the budget."""
