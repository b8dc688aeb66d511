"""The budget as arithmetic: never more than the server allows, and no longer waits than that takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.budget import GROUP, NEVER, PRIVATE, ChatBudget, TypingBudget, limits_of
from bridge.delivery import MessageClass


def spend(budget: ChatBudget, now: float, klass: MessageClass = MessageClass.FINAL, count: int = 1) -> float:
    """Make calls as soon as they may start, each of them instant; returns the time of the last."""
    for _ in range(count):
        while (delay := budget.delay(klass, now)) > 0:
            now += delay
        budget.begin(now, klass)
        budget.end(now)
    return now


def test_four_calls_go_at_once_and_then_one_a_second() -> None:
    budget = ChatBudget(GROUP, 0.0)
    assert spend(budget, 0.0, count=4) == 0.0
    assert spend(budget, 0.0) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("klass", "ceiling"),
    [
        (MessageClass.PROMPT, 20),
        (MessageClass.REPLY, 20),
        (MessageClass.FINAL, 20),
        (MessageClass.STATUS, 18),
        (MessageClass.CLOSING, 17),
        (MessageClass.PROGRESS, 15),
    ],
)
def test_each_class_stops_at_its_ceiling(klass: MessageClass, ceiling: int) -> None:
    budget = ChatBudget(GROUP, 0.0)
    now = spend(budget, 0.0, count=ceiling)
    assert now < 60
    assert budget.delay(klass, now) > 30
    assert budget.delay(klass, 60.5) == 0.0


def test_a_429_takes_15_percent_off_and_a_quiet_spell_gives_2_back() -> None:
    budget = ChatBudget(GROUP, 0.0)
    budget.begin(0.0)
    resume_at = budget.flooded(100, 0.0)
    assert resume_at == 101.0
    assert budget.scale == pytest.approx(0.85)
    assert budget.delay(MessageClass.PROMPT, 50.0) == pytest.approx(51.0)
    budget.delay(MessageClass.PROMPT, 301.0)
    assert budget.scale == pytest.approx(0.87)


def test_many_429s_never_take_more_than_half() -> None:
    budget = ChatBudget(GROUP, 0.0)
    for _ in range(20):
        budget.begin(0.0)
        budget.flooded(1, 0.0)
    assert budget.scale == 0.5


def test_a_shorter_wait_never_ends_a_longer_one() -> None:
    budget = ChatBudget(GROUP, 0.0)
    for seconds in (1000, 5):
        budget.begin(0.0)
        budget.flooded(seconds, 0.0)
    assert budget.resume_at == 1001.0


def test_after_a_wait_the_rate_is_half_for_a_minute() -> None:
    budget = ChatBudget(GROUP, 0.0)
    budget.begin(0.0)
    budget.flooded(10, 0.0)
    now = spend(budget, 11.0, count=9)
    assert now < 30
    assert budget.delay(MessageClass.PROMPT, now) > 20
    assert budget.delay(MessageClass.PROMPT, 71.5) == 0.0


def test_a_call_that_never_reached_the_server_costs_nothing_of_the_window() -> None:
    budget = ChatBudget(GROUP, 0.0)
    now = 0.0
    for _ in range(19):
        now = spend(budget, now)
    budget.begin(now + 1)
    assert budget.delay(MessageClass.FINAL, now + 2) == pytest.approx(58.3 - now, abs=1)
    budget.withdraw()
    assert budget.delay(MessageClass.FINAL, now + 2) == 0.0


def test_calls_under_way_count_and_nothing_can_be_said_before_they_end() -> None:
    budget = ChatBudget(GROUP, 0.0)
    for second in range(20):
        budget.begin(float(second))
    assert budget.delay(MessageClass.PROMPT, 100.0) == NEVER


def test_in_a_busy_minute_closing_edits_keep_their_distance_and_prompts_do_not() -> None:
    budget = ChatBudget(GROUP, 0.0)
    now = spend(budget, 0.0, count=14) + 1
    budget.begin(now, MessageClass.CLOSING)
    budget.end(now)
    assert budget.delay(MessageClass.CLOSING, now + 1) == pytest.approx(1.5)
    assert budget.delay(MessageClass.PROMPT, now + 1) == 0.0


def test_in_a_quiet_minute_closing_edits_go_at_once() -> None:
    budget = ChatBudget(GROUP, 0.0)
    assert spend(budget, 0.0, MessageClass.CLOSING, 3) == 0.0


def test_what_a_former_life_sent_in_the_last_minute_counts() -> None:
    budget = ChatBudget(GROUP, 100.0)
    for second in range(20):
        budget.remember(50.0 + second)
    assert budget.delay(MessageClass.PROMPT, 100.0) > 1


def test_private_chats_have_limits_of_their_own() -> None:
    assert limits_of(501) is PRIVATE
    assert limits_of(-100501) is GROUP


@given(st.lists(st.tuples(st.sampled_from(MessageClass), st.floats(0.0, 20.0)), max_size=120))
def test_no_sixty_seconds_hold_more_than_twenty_calls(steps: list[tuple[MessageClass, float]]) -> None:
    budget = ChatBudget(GROUP, 0.0)
    now, made = 0.0, []
    for klass, pause in steps:
        now += pause
        if budget.delay(klass, now) == 0.0:
            budget.begin(now, klass)
            budget.end(now + 0.1)
            made.append(now)
    assert all(later - earlier > GROUP.window for earlier, later in zip(made, made[20:], strict=False))


def test_typing_is_at_most_one_in_three_seconds_for_the_chat_and_five_for_a_topic() -> None:
    typing = TypingBudget()
    assert typing.take(7, 0.0)
    assert not typing.take(9, 2.9)
    assert typing.take(9, 3.0)
    assert not typing.take(9, 7.0)
    assert typing.take(7, 7.0)
