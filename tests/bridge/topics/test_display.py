"""What of a turn is shown, when, and what rings."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.contract import (
    AssistantText,
    FailureKind,
    Plan,
    PlanStep,
    Retrying,
    TextDelta,
    ToolId,
    ToolKind,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    Usage,
)
from bridge.delivery import MessageClass
from tests.bridge.pending.stage import Shown
from tests.bridge.scripted_agent import ScriptedSession
from tests.bridge.topics.stage import OTHER, TOPIC, Stage, stage


def status(hub: Stage) -> Shown:
    (shown,) = [shown for key, shown in hub.delivery.shown.items() if key.startswith("status:")]
    return shown


def has_status(hub: Stage) -> bool:
    return any(key.startswith("status:") for key in hub.delivery.shown)


@pytest.mark.asyncio
async def test_a_turn_shorter_than_five_seconds_gets_no_status_message(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.pass_time(4)
        session.answer()
        await hub.settle()
        assert not has_status(hub)


@pytest.mark.asyncio
async def test_after_five_seconds_a_silent_status_says_what_runs_and_what_is_written(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.tool("Bash", "make all")
        session.say(ToolStarted(ToolId("t9"), "Grep", ToolKind.READ, "Search", "TODO"), TextDelta("Half a **sent"))
        await hub.settle()
        await hub.pass_time(5)
        shown = status(hub)
        assert not shown.message.rings
        assert shown.message.klass is MessageClass.STATUS
        for piece in ("Search", "5 s", "make all", "Half a sent"):
            assert piece in shown.part.text


@pytest.mark.asyncio
async def test_the_outbox_gets_the_newest_status_every_second(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        for second in range(25):
            session.say(TextDelta(f"word{second} "))
            await hub.pass_time(1)
        assert len(status(hub).looks) == 1 + 20


@pytest.mark.asyncio
async def test_many_busy_topics_draw_their_status_more_rarely(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        for number in range(19):
            await hub.say("more", place=OTHER.__class__(OTHER.chat_id, 50 + number))
        for second in range(45):
            session.say(TextDelta(f"word{second} "))
            await hub.pass_time(1)
        shown = next(
            shown
            for key, shown in hub.delivery.shown.items()
            if key.startswith("status:") and shown.message.place == TOPIC
        )
        assert len(shown.looks) == 1 + 8  # every 5 s


@pytest.mark.asyncio
async def test_a_status_in_which_only_the_time_changes_is_revised_rarely(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.started_turn()
        await hub.pass_time(60)
        assert len(status(hub).looks) == 1 + 3


@pytest.mark.asyncio
async def test_typing_is_shown_until_the_status_is_there(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.started_turn()
        await hub.pass_time(20)
        assert 1 <= len(hub.delivery.typed) <= 2


@pytest.mark.asyncio
async def test_at_the_end_the_status_becomes_the_compact_log(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.say(AssistantText("First I look around."))
        session.tool("Bash", "make all")
        await hub.pass_time(6)
        session.answer("All good.")
        await hub.settle()
        text = status(hub).part.text
        assert text.startswith("✅ Done")
        assert "make all" in text
        assert "First I look around." in text
        assert "All good." not in text


@pytest.mark.asyncio
async def test_an_answered_card_carries_the_status_below_its_verdict(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        asking = asyncio.create_task(session.ask_permission(command="make"))
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        await hub.press("Allow")
        await asking
        session.say(ToolStarted(ToolId("t9"), "Bash", ToolKind.EXECUTE, "Run make", "make"))
        await hub.settle()
        await hub.pass_time(12)
        card = next(shown for key, shown in hub.delivery.shown.items() if key.startswith("card:"))
        assert card.part.text.startswith("✅ Allowed by Anna")
        assert "⏳ Run make" in card.part.text
        assert not has_status(hub)


async def two_answered_cards(hub: Stage) -> tuple[ScriptedSession, Shown, Shown]:
    """A turn whose two requests were allowed one after the other."""
    session = await hub.started_turn()
    for number, name in enumerate(("make", "make install")):
        asking = asyncio.create_task(session.ask_permission(f"rq{number}", command=name))
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        await hub.press("Allow")
        await asking
        await hub.settle()
    first, second = (shown for key, shown in hub.delivery.shown.items() if key.startswith("card:"))
    return session, first, second


@pytest.mark.asyncio
async def test_a_former_card_whose_edit_still_waits_shows_the_status_of_then_with_its_verdict(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.delivery.edits_wait = True
        session, first, second = await two_answered_cards(hub)
        session.tool("Bash", "ls")
        await hub.pass_time(5)
        for shown in (first, second):
            assert shown.part.text.startswith("✅ Allowed by Anna")
            assert "ls" in shown.part.text
        hub.delivery.edits_wait = False
        session.tool("Bash", "date")
        await hub.pass_time(5)
        assert "date" in second.part.text
        assert "date" not in first.part.text, "its edit is made: it is left alone while the turn runs"
        session.answer("All good.")
        await hub.settle()
        assert first.part.text.startswith("✅ Allowed by Anna")
        assert "ls" not in first.part.text


@pytest.mark.asyncio
async def test_at_the_end_a_former_card_whose_edit_still_waits_keeps_only_its_verdict(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.delivery.edits_wait = True
        session, first, second = await two_answered_cards(hub)
        session.tool("Bash", "ls")
        await hub.pass_time(5)
        session.answer("All good.")
        await hub.settle()
        assert "✅ Done" in second.part.text
        assert first.part.text.startswith("✅ Allowed by Anna")
        assert len(first.part.text.splitlines()) < len(second.part.text.splitlines())
        assert "ls" not in first.part.text


@pytest.mark.asyncio
async def test_a_card_of_the_last_turn_does_not_carry_the_next_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        asking = asyncio.create_task(session.ask_permission(command="make"))
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        await hub.press("Allow")
        await asking
        session.answer()
        await hub.settle()
        card = next(shown for key, shown in hub.delivery.shown.items() if key.startswith("card:"))
        before = card.part
        await hub.say("the next one")
        await hub.pass_time(12)
        assert card.part == before
        assert has_status(hub)


@pytest.mark.asyncio
async def test_only_the_end_of_a_turn_rings(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        for number in range(100):
            session.tool("Bash", f"step {number}")
        await hub.pass_time(30)
        session.answer("done")
        await hub.settle()
        assert len(hub.ringing()) == 1
        assert len(hub.texts()) == 2  # a hundred tools are one status message


@pytest.mark.asyncio
async def test_quiet_shows_nothing_but_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/quiet")
        session = await hub.started_turn()
        session.tool()
        await hub.pass_time(30)
        session.answer("done")
        await hub.settle()
        assert len(hub.texts()) == 2


@pytest.mark.asyncio
async def test_full_posts_tool_output_and_texts_on_the_way_silently_and_the_answer_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/full")
        session = await hub.started_turn()
        session.say(AssistantText("First I look around."))
        session.tool("Bash", "make")
        session.answer("All good.")
        await hub.settle()
        texts = hub.texts()
        assert any(text.startswith("First I look around.") for text in texts)
        assert any("output" in text for text in texts)
        assert sum(text.startswith("All good.") for text in texts) == 1
        assert len(hub.ringing()) == 1


@pytest.mark.asyncio
async def test_full_shows_no_more_than_a_chat_bears_and_says_how_much_was_left_out(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/full")
        session = await hub.started_turn()
        for number in range(500):
            session.tool("Bash", f"step {number}")
        session.say(AssistantText("word " * 5_000))
        session.answer("All good.")
        await hub.settle()
        outputs = [text for text in hub.texts() if "output" in text]
        assert 1 <= len(outputs) <= 10
        assert len(hub.texts()) <= 15
        assert "messages were left out: /log has all." in hub.ringing()[-1]
        await hub.say("/log")
        log = [shown.message.files[0].path for shown in hub.delivery.shown.values() if shown.message.files][-1]
        assert "step 499" in log.read_text()


@pytest.mark.asyncio
async def test_more_than_three_parts_are_the_first_part_and_a_file_that_can_be_unfolded(tmp_path: Path) -> None:
    answer = "\n\n".join(f"Paragraph {number}. " + "words " * 150 for number in range(20))
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer(answer)
        await hub.settle()
        first, file = [shown for shown in hub.delivery.shown.values() if shown.message.place == TOPIC]
        assert first.message.rings
        assert not file.message.rings
        assert file.message.files[0].path.read_text() == answer
        await hub.press("Show all here")
        joined = " ".join(hub.texts())
        assert all(f"Paragraph {number}." in joined for number in range(20))


@pytest.mark.asyncio
async def test_an_empty_answer_still_gets_an_end_line_that_rings(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.say(TurnFinished(TurnOutcome.COMPLETED, ""))
        await hub.settle()
        assert hub.ringing()[-1].startswith("✅ Done. The agent left no text.")


@pytest.mark.asyncio
async def test_an_interrupted_turn_shows_what_was_done_so_far(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.tool("Bash", "make all")
        session.say(TextDelta("I was about to"))
        await hub.settle()
        await hub.say("/stop")
        end = hub.ringing()[-1]
        for piece in ("Stopped", "1 step was done", "make all", "I was about to"):
            assert piece in end


@pytest.mark.asyncio
async def test_a_failed_turn_says_why_when_it_is_free_again_and_offers_another_try(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        resets = datetime(2027, 1, 15, 12, 0, tzinfo=UTC)
        session.say(
            TurnFailed(FailureKind.QUOTA, "The limit is reached.", "Wait or change the plan.", resets_at=resets)
        )
        await hub.settle()
        end = hub.ringing()[-1]
        assert "The limit is reached." in end
        assert "Free again at 15.01." in end
        await hub.press("Try again")
        assert [prompt.text for prompt in session.prompts] == ["build it", "build it"]


@pytest.mark.asyncio
async def test_the_footer_says_turn_time_cost_and_context(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        hub.clock.move(3)
        usage = Usage(cost_usd=0.12, context_used=20_000, context_window=200_000)
        session.say(TurnFinished(TurnOutcome.COMPLETED, "ok", usage))
        await hub.settle()
        assert hub.ringing()[-1].endswith("turn 1 · 3 s · $0.12 · context 10\u00a0%")


@pytest.mark.asyncio
async def test_plan_and_retries_are_seen_in_the_status(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.say(Plan((PlanStep("look", is_done=True), PlanStep("build", is_current=True), PlanStep("test"))))
        session.say(Retrying(2, 10, 4.0, "overloaded"))
        await hub.settle()
        await hub.pass_time(5)
        assert "1/3 build" in status(hub).part.text
        assert "Trying again (2/10): overloaded" in status(hub).part.text


@pytest.mark.asyncio
async def test_a_steered_text_is_seen_in_the_status_with_what_became_of_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("mind the tests")
        await hub.pass_time(5)
        assert "mind the tests — waits" in status(hub).part.text
        session.consume()
        await hub.settle()
        await hub.pass_time(6)
        assert "mind the tests — taken" in status(hub).part.text


@pytest.mark.asyncio
async def test_html_in_tools_and_answers_is_shown_as_it_is(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.tool("Bash", "cat <b>x</b> & y")
        session.say(AssistantText("a < b"))
        await hub.settle()
        await hub.pass_time(6)
        assert "&lt;b&gt;" in status(hub).part.html
        assert "cat <b>x</b> & y" in status(hub).part.text
