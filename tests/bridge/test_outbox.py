"""The outbox: what is posted arrives once, in its topic and in order, whatever happens on the way."""

from __future__ import annotations

import asyncio
import contextlib
import html
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from bridge.delivery import (
    ChatMovedTo,
    DeliveryEvent,
    MessageClass,
    Outgoing,
    RightsLost,
    StoreTrouble,
    TokenRefused,
    TopicLost,
    WaitingUntil,
)
from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import (
    Button,
    ChatMovedError,
    FileUpload,
    FloodWaitError,
    ForbiddenError,
    MarkupRefusedError,
    MessageGoneError,
    MessengerError,
    NotModifiedError,
    OutcomeUnknownError,
    RefusedError,
    TooLongError,
    TopicClosedError,
    TopicGoneError,
    UnauthorizedError,
    UnreachableError,
)
from bridge.outbox import Outbox
from bridge.store import Database, StoreFullError
from tests.bridge.clocks import VirtualClock, run_virtually
from tests.bridge.messengers import FakeMessenger, Made

GROUP = -1001234500001
OTHER = -1009990000001
KEYS = ((Button("Allow", "p:a:1"),),)
P, R, F = MessageClass.PROMPT, MessageClass.REPLY, MessageClass.FINAL
S, C, G = MessageClass.STATUS, MessageClass.CLOSING, MessageClass.PROGRESS


@dataclass
class House:
    """An outbox at work on virtual time, with everything a test looks at."""

    path: Path
    clock: VirtualClock
    messenger: FakeMessenger
    events: list[DeliveryEvent] = field(default_factory=list)
    database: Database = field(init=False)
    outbox: Outbox = field(init=False)

    @contextlib.asynccontextmanager
    async def life(self) -> AsyncIterator[Outbox]:
        """One life of the hub; ending it is a crash: nothing is finished first."""
        self.database = Database.open(self.path, self.clock)
        self.outbox = Outbox(self.messenger, self.database, self.clock, random=Random(1), on_event=self.events.append)
        task = asyncio.create_task(self.outbox.run())
        await asyncio.sleep(0)
        try:
            yield self.outbox
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            self.database.close()

    def post(self, text: str, klass: MessageClass = F, topic: int | None = 7, key: str = "", **more: object) -> str:
        chat = more.pop("chat", GROUP)
        assert isinstance(chat, int)
        return self.outbox.post(
            Outgoing(Place(chat, topic), Part(text, text), klass, key=key, **more)  # type: ignore[arg-type]
        )


def play(tmp_path: Path, scene: Callable[[House], Awaitable[None]]) -> House:
    clock = VirtualClock()
    house = House(tmp_path / "hub.db", clock, FakeMessenger(clock))
    run_virtually(scene(house))  # type: ignore[arg-type]
    return house


def fail_once(error: MessengerError, kind: str = "send") -> Callable[[Made], None]:
    """The first call of a kind fails."""
    failed: list[Made] = []

    def answer(made: Made) -> None:
        if made.kind == kind and not failed:
            failed.append(made)
            raise error

    return answer


# --- the straight way ---------------------------------------------------------------------------------------------


def test_a_prompt_for_which_the_budget_is_free_goes_on_the_wire_at_once(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            await asyncio.sleep(5)
            key = house.post("Allow?", P, keyboard=KEYS, rings=True)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert [call.at for call in house.messenger.calls] == [pytest.approx(5, abs=1e-3)]
            state = await outbox.outcome(key)
            assert state.message_id is not None
            assert outbox.key_of(GROUP, state.message_id) == key

    house = play(tmp_path, scene)
    call = house.messenger.calls[0]
    assert (call.text, call.keyboard, call.is_silent, call.place) == ("Allow?", KEYS, False, Place(GROUP, 7))


def test_the_row_of_a_message_is_written_with_the_callers_own_commit_or_not_at_all(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            with contextlib.suppress(ValueError), house.database.transaction():
                house.post("never", P)
                raise ValueError
            await asyncio.sleep(1)
            assert house.messenger.calls == []
            with house.database.transaction():
                house.post("one", P)
                house.post("two", P)
                assert house.messenger.calls == []
            await asyncio.sleep(5)

    assert play(tmp_path, scene).messenger.texts() == ["one", "two"]


def test_revisions_before_the_send_cost_no_call_of_their_own(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            for number in range(6):
                house.post(f"{number}", F)
            house.post("status 1", S, key="status")
            outbox.revise("status", Part("status 2", "status 2"), klass=G)
            outbox.revise("status", Part("status 3", "status 3"), klass=G)
            await asyncio.sleep(60)

    house = play(tmp_path, scene)
    assert [call.text for call in house.messenger.calls if "status" in call.text] == ["status 3"]


def test_edits_of_one_message_coalesce_to_the_newest_and_an_equal_text_is_not_sent(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            key = house.post("card", P, keyboard=KEYS)
            await outbox.outcome(key)
            for text in ("a", "b", "c"):
                outbox.revise(key, Part(text, text))
            await asyncio.sleep(10)
            outbox.revise(key, Part("c", "c"))
            await asyncio.sleep(10)

    house = play(tmp_path, scene)
    assert [call.text for call in house.messenger.of_kind("edit")] == ["c"]


def test_a_revision_during_the_send_becomes_an_edit(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            key = house.post("card", P, keyboard=KEYS)
            await asyncio.sleep(0.05)
            outbox.revise(key, Part("answered", "answered"))
            await asyncio.sleep(10)

    house = play(tmp_path, scene)
    assert [(call.kind, call.text) for call in house.messenger.calls] == [("send", "card"), ("edit", "answered")]


def test_a_message_dropped_in_the_queue_is_never_sent(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            for number in range(5):
                house.post(f"{number}", F)
            key = house.post("status", S)
            outbox.drop(key)
            assert (await outbox.outcome(key)).failure
            await asyncio.sleep(60)

    assert "status" not in play(tmp_path, scene).messenger.texts()


def test_a_message_shown_again_under_its_key_is_found_by_both_ids(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            first = await outbox.outcome(house.post("card", P, key="card:1"))
            second = await outbox.outcome(house.post("card", P, key="card:1"))
            assert first.message_id
            assert second.message_id
            assert first != second
            assert {outbox.key_of(GROUP, state.message_id or 0) for state in (first, second)} == {"card:1"}

    play(tmp_path, scene)


# --- order and classes --------------------------------------------------------------------------------------------


def test_a_prompt_overtakes_status_of_its_topic_but_never_an_earlier_final(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            for number in range(4):
                house.post(f"fill {number}", F, topic=1)
            house.post("status", S, topic=7)
            house.post("final", F, topic=7)
            house.post("prompt", P, topic=7)
            await asyncio.sleep(60)

    texts = play(tmp_path, scene).messenger.texts()
    assert [text for text in texts if not text.startswith("fill")] == ["final", "prompt", "status"]
    assert texts.index("prompt") < texts.index("fill 1"), "the prompt lends its urgency to the final before it"


def test_within_a_class_topics_take_turns(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            for number in range(4):
                house.post(f"a{number}", F, topic=1)
            house.post("b0", F, topic=2)
            house.post("c0", F, topic=3)
            await asyncio.sleep(60)

    assert play(tmp_path, scene).messenger.texts() == ["a0", "b0", "c0", "a1", "a2", "a3"]


def test_no_minute_holds_more_than_twenty_calls_and_private_chats_have_limits_of_their_own(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            for number in range(60):
                house.post(f"{number}", F, topic=number % 5)
                house.post(f"p{number}", F, topic=None, chat=501)
            await asyncio.sleep(600)

    calls = play(tmp_path, scene).messenger.calls
    group = [call.at for call in calls if call.place.chat_id == GROUP]
    assert len(group) == 60
    assert all(later - earlier > 60 for earlier, later in zip(group, group[20:], strict=False))
    private = [call.at for call in calls if call.place.chat_id == 501]
    assert private[-1] < group[-1]


def test_progress_waits_for_everything_else_and_keeps_its_distance(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            key = house.post("status", S)
            await outbox.outcome(key)
            for number in range(200):
                outbox.revise(key, Part(f"{number}", f"{number}"), klass=G)
                await asyncio.sleep(0.3)

    edits = play(tmp_path, scene).messenger.of_kind("edit")
    assert all(later.at - earlier.at >= 5 for earlier, later in itertools.pairwise(edits))
    assert 9 <= len(edits) <= 13


def test_a_call_without_an_answer_holds_back_its_own_topic_only(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = lambda made: 25.0 if made.text == "stuck" else None
        async with house.life():
            house.post("stuck", F, topic=1)
            house.post("behind it", F, topic=1)
            house.post("elsewhere", P, topic=2)
            await asyncio.sleep(40)

    calls = {call.text: call.at for call in play(tmp_path, scene).messenger.calls}
    assert calls["elsewhere"] < 3
    assert calls["behind it"] > 25


# --- trouble on the way -------------------------------------------------------------------------------------------


def test_a_flood_wait_stops_that_chat_wholly_until_its_end_and_no_other(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(FloodWaitError(5827))
        async with house.life() as outbox:
            house.post("first", F)
            await asyncio.sleep(1)
            house.post("prompt", P, topic=9)
            house.post("elsewhere", F, chat=OTHER)
            for _ in range(100):
                outbox.typing(Place(GROUP, 7))
                await asyncio.sleep(60)

    house = play(tmp_path, scene)
    here = [call for call in house.messenger.calls if call.place.chat_id == GROUP and call.kind != "typing"]
    assert [call.text for call in here] == ["first", "prompt", "first"]
    assert here[1].at > 5828
    typing = [call.at for call in house.messenger.of_kind("typing")]
    assert all(at > 5828 for at in typing)
    assert [call.at < 5 for call in house.messenger.calls if call.place.chat_id == OTHER] == [True]
    waits = [event for event in house.events if isinstance(event, WaitingUntil)]
    assert [(event.chat_id, round(event.until - house.clock.wall_offset)) for event in waits] == [(GROUP, 5828)]


def test_a_flood_wait_outlives_a_restart(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(FloodWaitError(5827))
        async with house.life():
            house.post("first", F)
            await asyncio.sleep(100)
        async with house.life():
            await asyncio.sleep(6000)

    calls = play(tmp_path, scene).messenger.calls
    assert [call.text for call in calls] == ["first", "first"]
    assert calls[1].at > 5828


def test_after_a_wait_the_chat_gets_half_the_rate_for_a_minute(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(FloodWaitError(100))
        async with house.life():
            for number in range(40):
                house.post(f"{number}", F, topic=number)
            await asyncio.sleep(400)

    calls = [call.at for call in play(tmp_path, scene).messenger.calls]
    assert 5 <= sum(1 for at in calls if 101 < at < 161) <= 10


def test_a_send_whose_reply_was_lost_is_made_once_more_and_marked(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(OutcomeUnknownError("lost"))
        async with house.life() as outbox:
            key = house.post("answer", F)
            assert (await outbox.outcome(key)).message_id is not None
            await asyncio.sleep(100)

    calls = play(tmp_path, scene).messenger.calls
    assert [call.text.splitlines()[0] for call in calls] == ["answer", "answer"]
    assert "may be a repeat" not in calls[0].text
    assert "may be a repeat" in calls[1].text
    assert calls[1].at - calls[0].at >= 5


def test_a_card_a_person_has_acted_on_is_not_repeated_and_is_edited_under_its_id(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(OutcomeUnknownError("lost"))
        async with house.life() as outbox:
            key = house.post("card", P, keyboard=KEYS)
            await asyncio.sleep(1)
            outbox.confirm(key, 4711)
            outbox.revise(key, Part("allowed", "allowed"))
            assert (await outbox.outcome(key)).message_id == 4711
            await asyncio.sleep(100)
            assert outbox.key_of(GROUP, 4711) == key

    calls = play(tmp_path, scene).messenger.calls
    assert [(call.kind, call.message_id) for call in calls] == [("send", None), ("edit", 4711)]


def test_a_press_that_comes_before_the_reply_of_its_own_card_settles_the_card(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = lambda made: 20.0 if made.kind == "send" else None
        async with house.life() as outbox:
            key = house.post("card", P, keyboard=KEYS)
            await asyncio.sleep(1)
            outbox.confirm(key, 4711)
            outbox.revise(key, Part("allowed", "allowed"))
            await asyncio.sleep(60)

    calls = play(tmp_path, scene).messenger.calls
    assert [(call.kind, call.message_id) for call in calls] == [("send", None), ("edit", 4711)]
    assert calls[1].at < 3


def test_a_lost_edit_is_simply_made_again(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(OutcomeUnknownError("lost"), "edit")
        async with house.life() as outbox:
            key = house.post("card", P)
            await outbox.outcome(key)
            outbox.revise(key, Part("closed", "closed"))
            await asyncio.sleep(60)

    assert [call.text for call in play(tmp_path, scene).messenger.of_kind("edit")] == ["closed", "closed"]


def test_an_unreachable_server_is_tried_again_with_longer_pauses_and_nothing_is_marked(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        def answer(made: Made) -> None:
            if made.at < 100:
                raise UnreachableError("no network")

        house.messenger.answer = answer
        async with house.life() as outbox:
            key = house.post("answer", F)
            assert (await outbox.outcome(key)).message_id

    calls = play(tmp_path, scene).messenger.calls
    assert len(calls) < 15
    assert calls[-1].text == "answer"


def test_a_line_that_is_back_is_used_at_once(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        down = [True]

        def answer(made: Made) -> None:
            if down[0]:
                raise UnreachableError("no network")

        house.messenger.answer = answer
        async with house.life() as outbox:
            house.post("answer", F)
            await asyncio.sleep(100)
            down[0] = False
            before = house.clock.monotonic()
            outbox.wake()
            await asyncio.sleep(1)
            assert house.messenger.calls[-1].at == pytest.approx(before, abs=0.01)

    play(tmp_path, scene)


def test_refused_markup_goes_out_as_the_plain_slice(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(MarkupRefusedError("bad markup"))
        async with house.life() as outbox:
            key = outbox.post(Outgoing(Place(GROUP, 7), Part("<b>x</b> &amp;", "x &"), F))
            assert (await outbox.outcome(key)).message_id

    assert [(call.text, call.is_plain) for call in play(tmp_path, scene).messenger.calls] == [
        ("<b>x</b> &amp;", False),
        ("x &", True),
    ]


def test_a_text_that_is_too_long_is_split_again_and_nothing_comes_between(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} <&>" for number in range(500))

    async def scene(house: House) -> None:
        def answer(made: Made) -> None:
            if len(html.unescape(made.text).encode("utf-16-le")) // 2 > 4096:
                raise TooLongError("too long")

        house.messenger.answer = answer
        async with house.life() as outbox:
            key = outbox.post(Outgoing(Place(GROUP, 7), Part(html.escape(long), long), F, keyboard=KEYS))
            house.post("next", F)
            assert (await outbox.outcome(key)).message_id
            await asyncio.sleep(30)

    sent = play(tmp_path, scene).messenger.calls[1:]
    assert sent[-1].text == "next"
    slices = [html.unescape(call.text) for call in sent[:-1]]
    assert "\n".join(slices) == long
    assert [bool(call.keyboard) for call in sent[:-1]] == [False] * (len(slices) - 1) + [True]


def test_not_modified_is_as_good_as_done(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(NotModifiedError("same"), "edit")
        async with house.life() as outbox:
            key = house.post("card", P)
            await outbox.outcome(key)
            outbox.revise(key, Part("closed", "closed"))
            await asyncio.sleep(60)

    assert len(play(tmp_path, scene).messenger.of_kind("edit")) == 1


def test_a_message_that_is_gone_is_replaced_by_a_new_one(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(MessageGoneError("gone"), "edit")
        async with house.life() as outbox:
            key = house.post("status", S)
            first = await outbox.outcome(key)
            outbox.revise(key, Part("log", "log"))
            await asyncio.sleep(10)
            second = await outbox.outcome(key)
            assert first.message_id != second.message_id
            outbox.revise(key, Part("more", "more"))
            await asyncio.sleep(10)
            assert house.messenger.calls[-1].message_id == second.message_id

    assert [call.text for call in play(tmp_path, scene).messenger.of_kind("send")] == ["status", "log"]


def test_a_deleted_topic_parks_its_messages_and_nothing_goes_to_general(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        def answer(made: Made) -> None:
            if made.place.topic_id == 7:
                raise TopicGoneError("message thread not found")

        house.messenger.answer = answer
        async with house.life() as outbox:
            keys = [house.post(f"{number}", F) for number in range(5)]
            assert all([(await outbox.outcome(key)).failure for key in keys])
            later = house.post("later", F)
            assert (await outbox.outcome(later)).failure
            await asyncio.sleep(3600)
            assert len(house.messenger.calls) == 1, "no retry loop"
        async with house.life() as outbox:
            await asyncio.sleep(60)
            assert len(house.messenger.calls) == 1, "a restart does not forget"
            outbox.rehome(Place(GROUP, 7), Place(GROUP, 8))
            await asyncio.sleep(60)

    house = play(tmp_path, scene)
    assert [event for event in house.events if isinstance(event, TopicLost)] == [TopicLost(Place(GROUP, 7))]
    assert [(call.text, call.place.topic_id) for call in house.messenger.calls[1:]] == [
        *((str(number), 8) for number in range(5)),
        ("later", 8),
    ]


def test_the_live_status_of_a_lost_topic_does_not_come_along_to_another_one(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(TopicGoneError("message thread not found"))
        async with house.life() as outbox:
            answer = house.post("answer", F)
            house.post("working", MessageClass.STATUS, key="status")
            await outbox.outcome(answer)
            outbox.rehome(Place(GROUP, 7), Place(GROUP, 8))
            await asyncio.sleep(60)
            assert not outbox.is_known("status")
            assert outbox.waiting == 0

    house = play(tmp_path, scene)
    assert [(call.text, call.place.topic_id) for call in house.messenger.calls[1:]] == [("answer", 8)]


def test_letters_whose_move_could_not_be_written_wait_where_they_were(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(TopicGoneError("message thread not found"))
        async with house.life() as outbox:
            answer = house.post("answer", F)
            await outbox.outcome(answer)
            with contextlib.suppress(ValueError), house.database.transaction():
                outbox.rehome(Place(GROUP, 7), Place(GROUP, 8))
                raise ValueError("the caller fails")
            await asyncio.sleep(60)
            assert len(house.messenger.calls) == 1
            outbox.rehome(Place(GROUP, 7), Place(GROUP, 9))
            await asyncio.sleep(60)

    house = play(tmp_path, scene)
    assert [(call.text, call.place.topic_id) for call in house.messenger.calls[1:]] == [("answer", 9)]


def test_a_closed_topic_keeps_its_messages_until_it_is_opened_again(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(TopicClosedError("closed"))
        async with house.life() as outbox:
            house.post("answer", F)
            await asyncio.sleep(100)
            assert len(house.messenger.calls) == 1
            outbox.resume(Place(GROUP, 7))
            await asyncio.sleep(10)

    house = play(tmp_path, scene)
    assert house.messenger.texts() == ["answer", "answer"]
    assert TopicLost(Place(GROUP, 7), is_closed=True) in house.events


def test_an_upgraded_group_gets_its_messages_under_the_new_id_once(tmp_path: Path) -> None:
    old, new = -55, -1009876500002

    async def scene(house: House) -> None:
        def answer(made: Made) -> None:
            if made.place.chat_id == old and made.at > 50:
                raise ChatMovedError(new)

        house.messenger.answer = answer
        async with house.life() as outbox:
            card = house.post("card", P, topic=None, chat=old)
            await outbox.outcome(card)
            await asyncio.sleep(60)
            for number in range(3):
                house.post(f"{number}", F, topic=None, chat=old)
            await asyncio.sleep(60)
            outbox.move_chat(old, new)
            house.post("late", F, topic=None, chat=old)
            outbox.revise(card, Part("closed", "closed"))
            await asyncio.sleep(60)
            state = await outbox.outcome(card)
            assert state.message_id is not None
            assert outbox.key_of(new, state.message_id) == card

    house = play(tmp_path, scene)
    assert [event for event in house.events if isinstance(event, ChatMovedTo)] == [ChatMovedTo(old, new)]
    calls = [(call.text, call.place.chat_id) for call in house.messenger.calls if call.kind == "send"]
    assert calls == [("card", old), ("0", old), *((text, new) for text in ("0", "1", "2", "late", "closed"))]


def test_a_message_that_was_on_the_wire_while_its_group_moved_is_said_in_the_new_group_and_edited_there(
    tmp_path: Path,
) -> None:
    old, new = -55, -1009876500002

    async def scene(house: House) -> None:
        house.messenger.answer = lambda made: 3.0 if made.place.chat_id == old else None
        async with house.life() as outbox:
            card = house.post("card", P, topic=None, chat=old)
            status = house.post("status", P, topic=None, chat=-77)
            await outbox.outcome(status)
            outbox.move_chat(old, new)
            await asyncio.sleep(30)
            outbox.revise(card, Part("closed", "closed"))
            await asyncio.sleep(30)

    house = play(tmp_path, scene)
    calls = [call for call in house.messenger.calls if call.place.chat_id != -77]
    assert [(call.kind, call.place.chat_id) for call in calls] == [("send", old), ("send", new), ("edit", new)]
    assert "may be a repeat" in calls[1].text


def test_an_edit_that_was_on_the_wire_while_its_group_moved_is_said_in_the_new_group(tmp_path: Path) -> None:
    old, new = -55, -1009876500002

    async def scene(house: House) -> None:
        house.messenger.answer = lambda made: 3.0 if made.kind == "edit" else None
        async with house.life() as outbox:
            card = house.post("card", P, topic=None, chat=old)
            await outbox.outcome(card)
            outbox.revise(card, Part("closed", "closed"))
            await asyncio.sleep(1)
            outbox.move_chat(old, new)
            await asyncio.sleep(30)

    house = play(tmp_path, scene)
    assert [(call.kind, call.text, call.place.chat_id) for call in house.messenger.calls] == [
        ("send", "card", old),
        ("edit", "closed", old),
        ("send", "closed", new),
    ]


def test_a_chat_that_put_the_bot_out_is_said_and_kept_for_later(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        kicked = [True]

        def answer(made: Made) -> None:
            if kicked[0]:
                raise ForbiddenError("kicked")

        house.messenger.answer = answer
        async with house.life() as outbox:
            key = house.post("answer", F)
            await asyncio.sleep(600)
            assert len(house.messenger.calls) == 1
            kicked[0] = False
            outbox.resume_chat(GROUP)
            assert (await outbox.outcome(key)).message_id

    assert play(tmp_path, scene).events == [RightsLost(GROUP, "kicked")]


def test_a_right_missing_for_one_call_fails_that_message_only(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        error = ForbiddenError("no right to send documents")
        error.is_for_chat = False
        house.messenger.answer = fail_once(error, "files")
        async with house.life() as outbox:
            file = FileUpload(Path("a.txt"), "a.txt")
            key = outbox.post(Outgoing(Place(GROUP, 7), Part("", ""), F, files=(file,)))
            assert (await outbox.outcome(key)).failure == "no right to send documents"
            assert (await outbox.outcome(house.post("text", F))).message_id

    assert play(tmp_path, scene).events == [RightsLost(GROUP, "no right to send documents", is_for_chat=False)]


def test_a_revoked_token_stops_everything_and_loses_nothing(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(UnauthorizedError("revoked"))
        async with house.life() as outbox:
            key = house.post("answer", F)
            other = house.post("other", F, chat=OTHER)
            await asyncio.sleep(30)
            assert len(house.messenger.calls) <= 2
            assert (await outbox.outcome(key)).message_id
            assert (await outbox.outcome(other)).message_id

    assert TokenRefused() in play(tmp_path, scene).events


def test_any_other_refusal_is_tried_plain_once_and_then_said(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        def answer(made: Made) -> None:
            if made.text == "odd":
                raise RefusedError("odd input")

        house.messenger.answer = answer
        async with house.life() as outbox:
            key = house.post("odd", F)
            assert (await outbox.outcome(key)).failure == "odd input"
            assert (await outbox.outcome(house.post("next", F))).message_id

    assert play(tmp_path, scene).messenger.texts() == ["odd", "odd", "next"]


def test_a_caption_that_is_too_long_follows_its_file_as_a_text(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        def answer(made: Made) -> None:
            if made.kind == "files" and made.text:
                raise TooLongError("caption")

        house.messenger.answer = answer
        async with house.life() as outbox:
            file = FileUpload(Path("a.txt"), "a.txt")
            key = outbox.post(Outgoing(Place(GROUP, 7), Part("words", "words"), F, files=(file,)))
            assert (await outbox.outcome(key)).message_id

    calls = play(tmp_path, scene).messenger.calls
    assert [(call.kind, call.text) for call in calls] == [("files", "words"), ("files", ""), ("send", "words")]


def test_an_unexpected_fault_of_the_messenger_stops_nothing(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        faults = [True]

        def answer(made: Made) -> None:
            if faults and faults.pop():
                raise RuntimeError("a bug")

        house.messenger.answer = answer
        async with house.life() as outbox:
            assert (await outbox.outcome(house.post("answer", F))).message_id

    play(tmp_path, scene)


# --- restarts -----------------------------------------------------------------------------------------------------


def test_what_was_not_sent_goes_out_after_a_restart_in_order(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            for number in range(30):
                house.post(f"{number}", F)
            await asyncio.sleep(3.5)
        async with house.life():
            await asyncio.sleep(300)

    texts = play(tmp_path, scene).messenger.texts()
    plain = [text.splitlines()[0] for text in texts]
    assert list(dict.fromkeys(plain)) == [str(number) for number in range(30)]
    repeated = [text for text in texts if plain.count(text.splitlines()[0]) > 1]
    assert sum(1 for text in repeated if "may be a repeat" in text) == len(repeated) // 2 <= 1


def test_a_crash_in_the_middle_of_a_send_leads_to_one_marked_repeat(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            house.post("answer", F)
            await asyncio.sleep(0.05)
        async with house.life():
            await asyncio.sleep(60)
        async with house.life():
            await asyncio.sleep(60)

    texts = play(tmp_path, scene).messenger.texts()
    assert [text.splitlines()[0] for text in texts] == ["answer", "answer"]
    assert "may be a repeat" in texts[1]


def test_a_closing_edit_survives_a_restart_and_keys_are_found(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            state = await outbox.outcome(house.post("card", P, key="card:1", keyboard=KEYS))
            for number in range(20):
                house.post(f"{number}", F, topic=number)
            outbox.revise("card:1", Part("allowed", "allowed"))
        async with house.life() as outbox:
            assert outbox.key_of(GROUP, state.message_id or 0) == "card:1"
            assert (await outbox.outcome("card:1")) == state
            await asyncio.sleep(200)

    house = play(tmp_path, scene)
    assert {call.text for call in house.messenger.of_kind("edit")} == {"allowed"}


def test_a_restart_does_not_give_a_fresh_minute_of_budget(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life():
            for number in range(18):
                house.post(f"{number}", F, topic=number)
            await asyncio.sleep(30)
        async with house.life():
            for number in range(18, 40):
                house.post(f"{number}", F, topic=number)
            await asyncio.sleep(120)

    calls = [call.at for call in play(tmp_path, scene).messenger.calls]
    assert all(later - earlier > 60 for earlier, later in zip(calls, calls[20:], strict=False))


# --- the database in trouble --------------------------------------------------------------------------------------


def test_a_full_disk_stops_sending_says_so_and_goes_on_later(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            await outbox.outcome(house.post("before", F))
            for number in range(8):
                house.post(f"{number}" + "x" * 3000, F)
            pages = house.database.rows("PRAGMA page_count")[0][0]
            house.database.rows(f"PRAGMA max_page_count = {pages}")

            def fill() -> None:
                for number in range(100):
                    house.post("y" * 4000 + str(number), F)

            with pytest.raises(StoreFullError):
                fill()
            await asyncio.sleep(20)
            house.database.rows(f"PRAGMA max_page_count = {pages + 10000}")
            await asyncio.sleep(200)
            sent = [text[0] for text in house.messenger.texts() if "x" in text]
            assert sent == [str(number) for number in range(8)]

    play(tmp_path, scene)


def test_nothing_is_sent_while_it_can_not_be_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            key = house.post("answer", F)
            rows = outbox._dispatch.rows
            broken = StoreFullError("The disk is full")

            def refuse(*_: object) -> None:
                raise broken

            monkeypatch.setattr(rows, "save_sent", refuse)
            assert (await outbox.outcome(key)).message_id
            house.post("second", F)
            outbox.revise(key, Part("answer 2", "answer 2"))
            await asyncio.sleep(60)
            assert house.messenger.texts() == ["answer"]
            monkeypatch.undo()
            await asyncio.sleep(20)
            assert house.messenger.texts() == ["answer", "second"]

    house = play(tmp_path, scene)
    assert StoreTrouble("The disk is full") in house.events
    assert [call.text for call in house.messenger.of_kind("edit")] == ["answer 2"]


# --- other calls --------------------------------------------------------------------------------------------------


def test_creating_a_topic_counts_as_a_message(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            for number in range(10):
                await outbox.paced(GROUP, lambda number=number: house.messenger.create_topic(GROUP, f"{number}"))  # type: ignore[misc]
            for number in range(20):
                house.post(f"{number}", F)
            await asyncio.sleep(200)

    calls = [call.at for call in play(tmp_path, scene).messenger.calls]
    assert all(later - earlier > 60 for earlier, later in zip(calls, calls[20:], strict=False))


def test_typing_is_dropped_rather_than_queued(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            for _ in range(100):
                for topic in range(5):
                    outbox.typing(Place(GROUP, topic))
                await asyncio.sleep(0.1)

    calls = [call.at for call in play(tmp_path, scene).messenger.of_kind("typing")]
    assert len(calls) <= 4
    assert all(later - earlier >= 3 for earlier, later in itertools.pairwise(calls))


def test_a_quiet_end_waits_for_the_call_under_way(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        async with house.life() as outbox:
            house.post("answer", F)
            await asyncio.sleep(0.05)
            house.post("for the next life", F)
            await outbox.settle_down(1.0)
        async with house.life():
            await asyncio.sleep(60)

    assert play(tmp_path, scene).messenger.texts() == ["answer", "for the next life"]


def test_a_wait_of_two_hours_burns_nothing_and_keeps_everything_over_a_restart(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        def answer(made: Made) -> None:
            if made.kind == "send" and len(house.messenger.of_kind("send")) == 3:
                raise FloodWaitError(6775)

        house.messenger.answer = answer
        async with house.life() as outbox:
            await outbox.outcome(house.post("working", S, topic=7, key="status"))
            await outbox.outcome(house.post("hello", R, topic=9))
            house.post("third", F, topic=7)
            await asyncio.sleep(1)
            for number in range(200):
                outbox.revise("status", Part(f"step {number}", f"step {number}"), klass=G)
                await asyncio.sleep(0.3)
            house.post("final 7", F, topic=7)
            house.post("approval 9", P, topic=9, keyboard=KEYS)
            house.post("final 9", F, topic=9)
            house.post("elsewhere", F, chat=OTHER)
            await asyncio.sleep(600)
        async with house.life():
            await asyncio.sleep(7200)

    house = play(tmp_path, scene)
    here = [call for call in house.messenger.calls if call.place.chat_id == GROUP]
    waited = [call for call in here[3:] if call.at < here[2].at + 6775]
    assert waited == []
    assert [call.text for call in here[3:] if call.kind == "send"] == ["approval 9", "third", "final 9", "final 7"]
    assert len([call for call in here if call.kind == "edit"]) <= 1
    assert [call.text for call in house.messenger.calls if call.place.chat_id == OTHER] == ["elsewhere"]


def test_a_listener_that_fails_stops_nothing(tmp_path: Path) -> None:
    async def scene(house: House) -> None:
        house.messenger.answer = fail_once(TopicGoneError("gone"))
        async with house.life() as outbox:

            def fail(_event: DeliveryEvent) -> None:
                raise RuntimeError("a bug")

            outbox.listen(fail)
            assert (await outbox.outcome(house.post("lost", F))).failure
            assert (await outbox.outcome(house.post("next", F, topic=9))).message_id

    play(tmp_path, scene)
