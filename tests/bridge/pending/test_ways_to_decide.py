"""Reactions, replies, commands, lists, the window: every way ends at the same door."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.contract import AskId, Decision, Verdict
from bridge.commands.approvals import approve, deny, list_open
from bridge.inbound import Person
from bridge.pending import DESK_OWNER, DecisionWay, Ruling
from tests.bridge.pending.stage import (
    ANNA,
    OLEG,
    OTHER_TOPIC,
    STRANGER,
    TOPIC,
    agent,
    command,
    edit,
    pressed,
    settle,
    stage,
)


@pytest.mark.asyncio
@pytest.mark.parametrize(("emoji", "verdict"), [("👍", Verdict.ALLOW), ("👎", Verdict.DENY)])
async def test_a_thumb_on_the_card_decides(tmp_path: Path, emoji: str, verdict: Verdict) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        assert await desk.react(scene.reaction(emoji))
        assert (await asking).verdict is verdict


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("emoji", "person"),
    [
        ("❤", ANNA),
        ("", ANNA),
        ("👍", STRANGER),
        ("👍", Person(501, "Anna", is_bot=True)),
        ("👍", Person(0, "", False, True)),
    ],
)
async def test_other_reactions_and_other_peoples_change_nothing(tmp_path: Path, emoji: str, person: Person) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        await desk.react(scene.reaction(emoji, person))
        await settle()
        assert not asking.done()
        assert len(scene.card.looks) == 1
        await pressed(desk, scene.press_of("Deny"))
        await asking


@pytest.mark.asyncio
async def test_a_reply_to_the_card_denies_with_its_words_for_the_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        assert await desk.reply(scene.text("use yarn instead", reply_to=scene.card))
        assert await asking == Decision(Verdict.DENY, "use yarn instead")
        assert scene.card.part.text.startswith("⛔ Denied by Anna ·")
        assert "use yarn instead" in scene.card.part.text


@pytest.mark.asyncio
@pytest.mark.parametrize("text", ["ok", "Да!", "yes", "👍"])
async def test_a_reply_that_means_yes_neither_allows_nor_denies(tmp_path: Path, text: str) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        assert await desk.reply(scene.text(text, reply_to=scene.card))
        assert scene.notices[0].startswith("Nothing was decided.")
        assert not asking.done()
        await pressed(desk, scene.press_of("Deny"))
        await asking


@pytest.mark.asyncio
async def test_a_reply_to_a_closed_card_is_text_for_the_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        await pressed(desk, scene.press_of("Allow"))
        await asking
        assert not await desk.reply(scene.text("and now the docs", reply_to=scene.card))


@pytest.mark.asyncio
async def test_approve_acts_on_the_only_open_request_of_its_topic(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        elsewhere = asyncio.ensure_future(agent(desk, command(ask_id="other"), place=OTHER_TOPIC))
        await settle()
        reply = await approve(desk, scene.text("/approve"), "")
        assert await asking == Decision(Verdict.ALLOW)
        assert "delivered" in reply.part.text
        assert not elsewhere.done()
        await desk.void(OTHER_TOPIC, "end of test")
        await elsewhere


@pytest.mark.asyncio
async def test_deny_acts_on_the_card_replied_to_and_carries_its_reason(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        first = asyncio.ensure_future(agent(desk, command(ask_id="1")))
        second = asyncio.ensure_future(agent(desk, command(ask_id="2")))
        await settle()
        await deny(desk, scene.text("/deny", reply_to=scene.cards[1]), "not now")
        assert await second == Decision(Verdict.DENY, "not now")
        assert not first.done()
        await desk.void(TOPIC, "end of test")
        await first


@pytest.mark.asyncio
async def test_approve_with_several_open_lists_them_and_decides_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        tasks = [asyncio.ensure_future(agent(desk, command(ask_id=str(number)))) for number in range(2)]
        await settle()
        reply = await approve(desk, scene.text("/approve"), "")
        assert reply.part.text.startswith("2 requests wait for you")
        assert not any(task.done() for task in tasks)
        await desk.void(TOPIC, "end of test")
        await asyncio.gather(*tasks)


@pytest.mark.asyncio
async def test_allow_all_shown_leaves_out_what_is_destructive_and_what_came_later(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        easy = [asyncio.ensure_future(agent(desk, edit(f"src/{n}.py", ask_id=f"e{n}"))) for n in range(2)]
        bad = asyncio.ensure_future(agent(desk, command("rm -rf build", ask_id="bad")))
        await settle()
        listed = await list_open(desk, scene.text("/approvals"), "")
        later = asyncio.ensure_future(agent(desk, edit("src/late.py", ask_id="late")))
        await settle()
        (button,) = listed.keyboard[-1]
        assert button.label == "✅ Allow all shown (2)"
        toast = await pressed(desk, scene.press_with(button.data))
        assert [(await task).verdict for task in easy] == [Verdict.ALLOW, Verdict.ALLOW]
        assert toast == "2 allowed."
        assert not bad.done()
        assert not later.done()
        await desk.void(TOPIC, "end of test")
        await asyncio.gather(bad, later)


@pytest.mark.asyncio
async def test_a_stranger_can_not_use_the_list(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        tasks = [asyncio.ensure_future(agent(desk, edit(f"src/{n}.py", ask_id=f"e{n}"))) for n in range(2)]
        await settle()
        listed = await list_open(desk, scene.text("/approvals"), "")
        toast = await pressed(desk, scene.press_with(listed.keyboard[-1][0].data, STRANGER))
        assert "not on this hub's list" in toast
        assert not any(task.done() for task in tasks)
        await desk.void(TOPIC, "end of test")
        await asyncio.gather(*tasks)


@pytest.mark.asyncio
async def test_whoever_answers_first_wins_and_the_other_side_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        press = scene.press_of("Allow", OLEG)
        outcome = await desk.decide(AskId("rq-1"), Verdict.DENY, DESK_OWNER, DecisionWay.DESKTOP)
        assert outcome.ruling is Ruling.DECIDED
        assert (await asking).verdict is Verdict.DENY
        assert (await pressed(desk, press)).startswith("Already decided: you, at the computer chose “Deny”")


@pytest.mark.asyncio
async def test_an_operator_decides_like_an_owner(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        await pressed(desk, scene.press_of("Allow", OLEG))
        assert (await asking).verdict is Verdict.ALLOW
        assert "Allowed by Oleg" in scene.card.part.text


@pytest.mark.asyncio
async def test_an_anonymous_administrator_is_told_why_it_does_not_count(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        toast = await pressed(desk, scene.press_of("Allow", Person(1, "Group", is_anonymous=True)))
        assert "anonymous administrator" in toast
        assert not asking.done()
        await desk.void(TOPIC, "end of test")
        await asking


@pytest.mark.asyncio
async def test_a_plan_is_approved_or_sent_back_with_a_comment(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("", plan="1. Do it\n2. Test it")))
        await settle()
        assert [button.label for button in scene.card.keyboard[0]] == ["✅ Approve", "📝 Keep planning"]
        assert "Do it" in scene.card.part.text
        await desk.reply(scene.text("first the tests", reply_to=scene.card))
        assert await asking == Decision(Verdict.DENY, "first the tests")
        assert scene.card.part.text.startswith("📝 Keep planning: Anna ·")


@pytest.mark.asyncio
async def test_after_a_gap_open_cards_come_anew_below_and_both_decide_the_same_request(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        old = scene.press_of("Allow")
        desk.show_again()
        first, second = scene.cards
        assert first.part.text.startswith("🔁 Asked again below")
        assert first.keyboard == ()
        assert second.message.rings
        await pressed(desk, old)
        assert (await asking).verdict is Verdict.ALLOW
        assert second.part.text.startswith("✅ Allowed by Anna")
        assert second.keyboard == ()
