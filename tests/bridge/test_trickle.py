"""How much of a turn is shown on its way with verbosity "full". Pure."""

from __future__ import annotations

from bridge.trickle import BURST, EVERY, MOST, Trickle


def taken(trickle: Trickle, seconds: float, step: float, busy: int = 1, start: float = 0.0) -> int:
    """How many of one message a ``step`` pass in ``seconds``."""
    return sum(trickle.take(start + number * step, busy) for number in range(int(seconds / step)))


def test_the_first_messages_pass_at_once() -> None:
    trickle = Trickle(0.0)
    assert [trickle.take(0.0, 1) for _ in range(BURST + 1)] == [True] * BURST + [False]


def test_a_minute_of_a_chatty_turn_leaves_room_in_the_groups_budget() -> None:
    trickle = Trickle(0.0)
    assert taken(trickle, 60.0, 0.1) <= BURST + 60.0 / EVERY
    assert taken(trickle, 60.0, 0.1, start=60.0) <= 60.0 / EVERY + 1


def test_busy_topics_share() -> None:
    alone, shared = Trickle(0.0), Trickle(0.0)
    assert taken(shared, 120.0, 0.5, busy=4) < taken(alone, 120.0, 0.5)


def test_a_turn_of_hours_ends_at_its_cap() -> None:
    trickle = Trickle(0.0)
    assert taken(trickle, 3 * 3600.0, 1.0) == MOST


def test_what_is_left_out_is_counted_and_told_once() -> None:
    trickle = Trickle(0.0)
    taken(trickle, 1.0, 0.1)
    assert trickle.told() == 10 - BURST
    assert trickle.told() == 0
    assert trickle.missing == 10 - BURST
