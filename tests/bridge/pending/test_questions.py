"""Questions of agents: what the person sees and presses, what the agent gets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.contract import Answer, Answers, Choice, Declined, Question, QuestionKind, QuestionRequest
from bridge.pending import DESK_OWNER, AskDesk, DecisionWay
from tests.bridge.pending.stage import OTHER_TOPIC, TOPIC, Stage, choice, origin, pressed, questions, settle, stage


def asking(desk: AskDesk, ask: QuestionRequest) -> asyncio.Task[Answers | Declined]:
    async def answered() -> Answers | Declined:
        answers = await desk.ask(origin(), ask)
        await desk.told(ask.id, delivered=True)
        return answers

    return asyncio.ensure_future(answered())


def given(*values: tuple[str, ...]) -> Answers:
    return Answers(tuple(Answer(f"k{number}", value) for number, value in enumerate(values)))


def labels(scene: Stage) -> list[str]:
    return [button.label for row in scene.card.keyboard for button in row]


@pytest.mark.asyncio
async def test_an_option_pressed_is_the_answer_in_full(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(choice("SQLite", "Postgres", key="k0")))
        await settle()
        toast = await pressed(desk, scene.press_of("2. Postgres"))
        assert await task == given(("Postgres",))
        assert "delivered" in toast
        assert scene.card.part.text.startswith("✅ Answered by Anna ·")
        assert "Postgres" in scene.card.part.text


@pytest.mark.asyncio
async def test_long_labels_stay_out_of_the_button_data_and_readable_in_the_text(tmp_path: Path) -> None:
    first = "Постгрес в контейнере с отдельным томом и ежедневной копией на диск"
    second = "Постгрес в контейнере с отдельным томом и ежедневной копией в облако"
    question = Question(
        "k0", "Какую базу?", "База", choices=(Choice(first, "x" * 300), Choice("SQLite"), Choice(second))
    )
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(question))
        await settle()
        data = [button.data for row in scene.card.keyboard for button in row]
        assert all(len(each.encode()) <= 64 for each in data)
        assert len(set(data)) == len(data)
        assert first in scene.card.part.text
        assert second in scene.card.part.text
        assert "x" * 300 in scene.card.part.text
        assert len(set(labels(scene))) == len(labels(scene))
        await desk.void(TOPIC, "end of test")
        await task


@pytest.mark.asyncio
async def test_several_choices_are_marked_and_given_in_the_order_of_the_options(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(choice("a", "b", "c", key="k0", is_multiple=True)))
        await settle()
        await pressed(desk, scene.press_of("3. c"))
        await pressed(desk, scene.press_of("1. a"))
        await pressed(desk, scene.press_of("2. b"))
        await pressed(desk, scene.press_of("2. b"))
        assert labels(scene)[:3] == ["☑️ 1. a", "⬜ 2. b", "☑️ 3. c"]
        await pressed(desk, scene.press_of("Done"))
        assert await task == given(("a", "c"))


@pytest.mark.asyncio
async def test_questions_come_in_order_on_one_card_and_end_as_one_answer(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        first, second = choice("a", "b", key="k0"), choice("c", "d", key="k1")
        task = asking(desk, questions(first, second))
        await settle()
        stale = scene.press_of("1. a")
        await pressed(desk, scene.press_of("1. a"))
        assert "2 of 2" in scene.card.part.text
        assert (await pressed(desk, stale)).startswith("This question is already answered")
        await pressed(desk, scene.press_of("Skip"))
        assert await task == given(("a",), ())
        assert len(scene.cards) == 1


@pytest.mark.asyncio
async def test_free_text_answers_the_oldest_open_question_of_its_own_topic_only(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(choice("a", "b", key="k0")))
        await settle()
        assert not await desk.free_text(scene.text("elsewhere", place=OTHER_TOPIC))
        assert await desk.free_text(scene.text("something else entirely"))
        assert await task == given(("something else entirely",))


@pytest.mark.asyncio
async def test_text_is_not_taken_where_only_the_options_count(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(choice("a", "b", key="k0", allows_free_text=False)))
        await settle()
        assert not await desk.free_text(scene.text("a new task"))
        assert await desk.reply(scene.text("a new task", reply_to=scene.card))
        assert scene.notices == ["Please answer this one with its buttons."]
        assert not task.done()
        await pressed(desk, scene.press_of("1. a"))
        assert await task == given(("a",))


@pytest.mark.asyncio
async def test_a_number_that_is_none_is_asked_again(tmp_path: Path) -> None:
    number = Question("k0", "How many?", kind=QuestionKind.NUMBER)
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(number))
        await settle()
        assert await desk.free_text(scene.text("a few"))
        assert scene.notices[-1].startswith("That is not a number.")
        assert await desk.free_text(scene.text("3,5"))
        assert await task == given(("3.5",))


@pytest.mark.asyncio
@pytest.mark.parametrize(("label", "value"), [("Yes", "yes"), ("No", "no")])
async def test_yes_and_no_are_buttons(tmp_path: Path, label: str, value: str) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(Question("k0", "Go on?", kind=QuestionKind.CONFIRM)))
        await settle()
        await pressed(desk, scene.press_of(label))
        assert await task == given((value,))


@pytest.mark.asyncio
async def test_a_link_is_shown_whole_and_confirmed_after_it_was_opened(tmp_path: Path) -> None:
    link = "https://example.com/login?state=abc"
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(Question("k0", "Log in", kind=QuestionKind.LINK, link=link)))
        await settle()
        assert link in scene.card.part.text
        assert [button.url for row in scene.card.keyboard for button in row if button.url] == [link]
        await pressed(desk, scene.press_of("Done"))
        assert await task == given(("yes",))


@pytest.mark.asyncio
async def test_a_required_question_can_be_declined_but_not_skipped(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(choice("a", key="k0", is_required=True)))
        await settle()
        assert "Skip" not in labels(scene)
        await pressed(desk, scene.press_of("Decline"))
        assert await task == Declined("The person declined to answer.")
        assert scene.card.part.text.startswith("⛔ Not answered: Anna ·")


@pytest.mark.asyncio
async def test_unanswered_questions_expire_as_declined(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(choice("a", key="k0")))
        await settle()
        scene.clock.move(601)
        answer = await task
        assert isinstance(answer, Declined)
        assert "Nobody answered" in answer.reason
        assert scene.card.part.text.startswith("⌛")


@pytest.mark.asyncio
async def test_the_window_answers_through_the_same_desk(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        task = asking(desk, questions(choice("a", "b", key="k0")))
        await settle()
        (ask,) = desk.open_asks(TOPIC)
        stale = scene.press_of("1. a")
        await desk.answer(ask.id, given(("b",)), DESK_OWNER, DecisionWay.DESKTOP)
        assert await task == given(("b",))
        assert "you, at the computer" in scene.card.part.text
        assert (await pressed(desk, stale)).startswith("Already decided: you, at the computer")
