"""What a text in a topic means: the first rule that fits, and never the end of a running turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.contract import (
    AgentCommand,
    AskId,
    Choice,
    InputConsumed,
    Question,
    QuestionKind,
    QuestionRequest,
    ReasonPath,
    SessionId,
    SessionStarted,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    Verdict,
)
from bridge.inbound import Person, TopicChange, TopicEvent
from bridge.pending import DESK_OWNER, DecisionWay
from tests.bridge.scripted_agent import ScriptedSession
from tests.bridge.topics.stage import OTHER, TOPIC, Stage, stage


async def asking(hub: Stage, session: ScriptedSession, command: str = "make") -> asyncio.Task[object]:
    """An open permission request."""
    task: asyncio.Task[object] = asyncio.create_task(session.ask_permission(command=command))
    await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
    return task


async def questioned(hub: Stage, session: ScriptedSession) -> asyncio.Task[object]:
    """An open question that takes free text."""
    question = Question("why", "Which name?", kind=QuestionKind.TEXT)
    task: asyncio.Task[object] = asyncio.create_task(session.channel.ask(QuestionRequest(AskId("q1"), (question,))))
    await hub.until(lambda: hub.hub.context.desk.open_asks(TOPIC))
    return task


@pytest.mark.asyncio
async def test_a_reply_to_an_open_card_denies_with_these_words_and_the_agent_gets_no_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        task = await asking(hub, session)
        card = next(shown for key, shown in hub.delivery.shown.items() if key.startswith("card:"))
        await hub.say("use the other folder", reply_to=card.id)
        decision = await task
        assert decision.verdict is Verdict.DENY
        assert decision.reason == "use the other folder"
        assert session.steered == []


@pytest.mark.asyncio
async def test_a_denials_words_follow_as_a_text_where_the_protocol_cannot_carry_them(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.reason_path = ReasonPath.FOLLOW_UP
        session = await hub.started_turn()
        task = await asking(hub, session)
        card = next(shown for key, shown in hub.delivery.shown.items() if key.startswith("card:"))
        await hub.say("use the other folder", reply_to=card.id)
        await task
        await hub.until(lambda: [prompt.text for _number, prompt in session.steered] == ["use the other folder"])


@pytest.mark.asyncio
async def test_a_denial_by_the_button_sends_no_text_after_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.reason_path = ReasonPath.FOLLOW_UP
        session = await hub.started_turn()
        task = await asking(hub, session)
        [found] = hub.hub.context.desk.open_asks(TOPIC)
        await hub.hub.context.desk.decide(found.id, Verdict.DENY, DESK_OWNER, DecisionWay.BUTTON)
        await task
        assert session.steered == []


@pytest.mark.asyncio
async def test_a_command_in_reply_to_a_card_stays_a_command(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        task = await asking(hub, session)
        card = next(shown for key, shown in hub.delivery.shown.items() if key.startswith("card:"))
        await hub.say("/status", reply_to=card.id)
        assert not task.done()
        assert "Waits for your answer" in hub.last()


@pytest.mark.asyncio
async def test_a_command_comes_before_the_answer_to_a_question(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        task = await questioned(hub, session)
        await hub.say("/status")
        assert not task.done()


@pytest.mark.asyncio
async def test_a_text_answers_the_open_question_and_is_not_steered(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        task = await questioned(hub, session)
        await hub.say("call it orion")
        answers = await task
        assert answers.answers[0].values == ("call it orion",)
        assert session.steered == []


@pytest.mark.asyncio
async def test_an_open_question_in_one_topic_does_not_swallow_a_text_of_another(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        task = await questioned(hub, session)
        await hub.say("something else", place=OTHER)
        assert not task.done()
        assert hub.session.prompts[0].text == "something else"


@pytest.mark.asyncio
async def test_a_text_while_a_permission_is_open_is_queued_visibly_and_given_after_the_answer(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        task = await asking(hub, session)
        await hub.say("and mind the tests")
        assert "Waits until you have answered" in hub.last()
        assert session.steered == []
        await hub.press("Allow")
        await task
        await hub.settle()
        assert [prompt.text for _, prompt in session.steered] == ["and mind the tests"]


@pytest.mark.asyncio
async def test_an_open_question_with_buttons_only_does_not_take_the_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        question = Question("pick", "Which?", choices=(Choice("a"), Choice("b")), allows_free_text=False)
        task = asyncio.create_task(session.channel.ask(QuestionRequest(AskId("q2"), (question,))))
        await hub.until(lambda: hub.hub.context.desk.open_asks(TOPIC))
        await hub.say("by the way")
        assert not task.done()
        assert [prompt.text for _, prompt in session.steered] == ["by the way"]


@pytest.mark.asyncio
async def test_a_text_during_a_turn_is_steered_where_the_agent_can(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("also this")
        assert [prompt.text for _, prompt in session.steered] == ["also this"]
        assert session.calls == []


@pytest.mark.asyncio
async def test_a_text_during_a_turn_waits_visibly_where_the_agent_can_not_be_steered(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/agent codex")
        await hub.say("do it")
        session = hub.codex.sessions[-1]
        await hub.say("also this")
        assert "Waits until this turn is done" in hub.last()
        assert "Drop" in hub.buttons()
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["do it", "also this"]


@pytest.mark.asyncio
async def test_a_text_that_the_agent_would_not_take_now_waits_for_the_end_of_the_turn(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("also this")
        assert "Waits until this turn is done" in hub.last()
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["do it", "also this"]


@pytest.mark.asyncio
async def test_a_steered_text_that_comes_back_runs_after_the_turn(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("also this")
        session.give_back()
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["do it", "also this"]


@pytest.mark.asyncio
async def test_a_consumed_text_is_finished_with_its_turn_and_never_run_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("also this")
        session.consume()
        session.answer()
        await hub.settle()
        await hub.pass_time(30)
        assert [prompt.text for prompt in session.prompts] == ["do it"]
        assert hub.hub.topics()[0].line.entries == []


@pytest.mark.asyncio
async def test_a_given_text_of_which_nothing_was_heard_is_asked_about_and_not_repeated(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("also this")
        session.answer()
        await hub.settle()
        await hub.pass_time(15)
        assert [prompt.text for prompt in session.prompts] == ["do it"]
        assert "Send it again?" in hub.last()


@pytest.mark.asyncio
async def test_texts_are_taken_in_the_order_they_were_written(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("one")
        session.takes_steering = False
        for text in ("two", "three"):
            hub.clock.move(5)
            await hub.say(text)
        session.answer()
        await hub.settle()
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["one", "two", "three"]


@pytest.mark.asyncio
async def test_parts_of_one_thought_written_while_the_agent_starts_are_one_turn(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.gate = asyncio.Event()
        await hub.say("first part")
        hub.clock.move(1)
        await hub.say("second part")
        hub.claude.gate.set()
        await hub.settle()
        assert [prompt.text for prompt in hub.session.prompts] == ["first part\n\nsecond part"]


@pytest.mark.asyncio
async def test_a_command_of_the_agents_own_is_passed_through_as_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = SessionStarted(SessionId("s"), hub.root, commands=(AgentCommand("compact", "Shorten"),))
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        await hub.say("/compact keep the plan")
        prompt = hub.session.prompts[-1]
        assert prompt.text == "/compact keep the plan"
        assert prompt.is_command


@pytest.mark.asyncio
async def test_an_agents_command_during_a_turn_waits_and_runs_alone(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = SessionStarted(SessionId("s"), hub.root, commands=(AgentCommand("compact"),))
        session = await hub.started_turn()
        await hub.settle()
        await hub.say("/compact")
        await hub.say("after that")
        assert session.steered == []
        session.answer()
        await hub.settle()
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["do it", "/compact", "after that"]


@pytest.mark.asyncio
async def test_give_it_now_steers_a_waiting_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("also this")
        session.takes_steering = True
        await hub.press("Give it now")
        assert [prompt.text for _, prompt in session.steered] == ["also this"]


@pytest.mark.asyncio
async def test_a_dropped_text_never_runs(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("also this")
        await hub.press("Drop")
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["do it"]


@pytest.mark.asyncio
async def test_an_edit_of_a_waiting_text_counts(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        message = await hub.say("also this")
        await hub.say("also that", edits=message.message_id)
        session.answer()
        await hub.settle()
        assert session.prompts[-1].text == "also that"


@pytest.mark.asyncio
async def test_an_edit_of_a_text_that_the_agent_has_is_said_as_not_applied(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        message = await hub.say("do it")
        await hub.say("do something else", edits=message.message_id)
        assert "not applied" in hub.last()
        assert [prompt.text for prompt in hub.session.prompts] == ["do it"]
        assert hub.session.steered == []


@pytest.mark.asyncio
async def test_an_edit_that_changed_no_word_is_not_worth_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        message = await hub.say("see https://example.test")
        before = len(hub.texts())
        await hub.say("see https://example.test", edits=message.message_id)
        assert len(hub.texts()) == before


@pytest.mark.asyncio
async def test_stop_interrupts_and_what_waited_is_offered_not_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("also this")
        await hub.say("/stop")
        assert session.calls == ["interrupt"]
        await hub.pass_time(30)
        assert [prompt.text for prompt in session.prompts] == ["do it"]
        await hub.press("Run")
        assert session.prompts[-1].text == "also this"


@pytest.mark.asyncio
async def test_a_steered_text_that_an_interrupt_gives_back_is_held(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("also this")
        await hub.say("/stop")
        session.give_back()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["do it"]
        assert "also this" in hub.last()


@pytest.mark.asyncio
async def test_a_second_stop_ends_a_turn_that_would_not_stop(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.prompts.clear()  # so that interrupt has no effect
        await hub.say("/stop")
        await hub.say("/stop")
        assert session.calls == ["interrupt", "stop_background", "close"]
        await hub.say("go on")
        assert hub.session is not session
        assert hub.session.spec.resume == session.session_id


@pytest.mark.asyncio
async def test_an_agents_own_turn_with_the_given_texts_is_shown_like_any_other(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("also this")
        session.answer("first")
        session.say(*own_turn(session, "second"))
        await hub.settle()
        assert [text.split("\n")[0] for text in hub.ringing()] == ["first", "second"]
        assert hub.hub.topics()[0].line.entries == []


def own_turn(session: ScriptedSession, answer: str) -> tuple[object, ...]:
    return (
        TurnStarted(),
        InputConsumed(session.steered[-1][0]),
        TurnFinished(TurnOutcome.COMPLETED, answer),
    )


@pytest.mark.asyncio
async def test_a_held_text_has_one_set_of_buttons(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("also this")
        await hub.say("/stop")
        assert hub.buttons() == ["Run", "Drop"]


@pytest.mark.asyncio
async def test_the_hubs_own_service_messages_are_no_refusals(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        event = TopicEvent(1, TOPIC, Person(77, "hub", is_bot=True), TopicChange.RENAMED, "new name")
        await hub.hub.handle(event)
        assert hub.hub.status().refused == 0
        assert hub.texts() == []
