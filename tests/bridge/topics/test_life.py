"""Sessions that sleep, wake, die and are gone; hubs that pause, stop and start again."""

from __future__ import annotations

import asyncio
import itertools
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.contract import (
    AgentCommand,
    AgentGoneError,
    AgentNotFoundError,
    AssistantText,
    BackgroundTask,
    BackgroundTasks,
    FailureKind,
    ModeChanged,
    SessionId,
    SessionNotFoundError,
    SessionStarted,
    TitleChanged,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
)
from bridge.bindings import TopicState
from bridge.inbound import ButtonPress, ChatMoved, FileKind, IncomingFile, Place, TopicChange
from bridge.leftovers import sweep
from bridge.messenger import FloodWaitError
from bridge.recovery import Pending
from bridge.store import StoreFullError, UpdateState
from tests.bridge.pending.stage import Shown
from tests.bridge.topics.stage import ANNA, CHAT, GENERAL, OTHER, TOPIC, Stage, journalled, stage


async def finished_turn(hub: Stage, text: str = "do it") -> None:
    await hub.say(text)
    hub.session.answer()
    await hub.settle()


# --- sleep and wake


@pytest.mark.asyncio
async def test_an_idle_session_is_closed_and_the_next_text_resumes_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        first = hub.session
        await hub.pass_time(901, step=300)
        assert first.is_closed
        await hub.say("go on")
        assert hub.session is not first
        assert hub.session.spec.resume == first.session_id
        assert [prompt.text for prompt in hub.session.prompts] == ["go on"]


@pytest.mark.asyncio
async def test_background_tasks_keep_a_session_awake_and_are_counted_at_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.say(BackgroundTasks((BackgroundTask("b1", "npm run watch"),)))
        session.answer()
        await hub.settle()
        assert "1 task still runs" in hub.ringing()[-1]
        await hub.pass_time(1700, step=100)
        assert not session.is_closed


@pytest.mark.asyncio
async def test_background_tasks_that_outlast_their_limit_are_named_when_they_end_with_the_session(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.say(BackgroundTasks((BackgroundTask("b1", "npm run watch"),)))
        session.answer()
        await hub.settle()
        await hub.pass_time(1700, step=100)
        session.say(BackgroundTasks((BackgroundTask("b1", "npm run watch"), BackgroundTask("b2", "make all"))))
        await hub.pass_time(1700, step=100)
        assert not session.is_closed, "the younger task has its time"
        await hub.pass_time(200, step=100)
        assert session.is_closed
        assert hub.last() == "Ended together with the session: npm run watch, make all"


@pytest.mark.asyncio
async def test_a_session_that_was_opened_but_never_used_is_begun_afresh_after_a_restart_without_a_word(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/status")
        [topic] = hub.hub.topics()
        assert topic.open_session()
        await hub.settle()
        hub.session.say(SessionStarted(SessionId("s-unused"), hub.root))
        await hub.settle()
        await hub.end()
        await hub.begin()
        await hub.say("now a task")
        assert hub.session.spec.resume is None
        assert [prompt.text for prompt in hub.session.prompts] == ["now a task"]
        hub.session.say(SessionStarted(SessionId("s-used"), hub.root))
        hub.session.answer()
        await hub.settle()
        await hub.end()
        await hub.begin()
        await hub.say("and another")
        assert hub.session.spec.resume == "s-used"


@pytest.mark.asyncio
async def test_a_second_stop_ends_background_work(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.say(BackgroundTasks((BackgroundTask("b1", "npm run watch"),)))
        session.answer()
        await hub.settle()
        await hub.say("/stop")
        assert "stop_background" in session.calls
        assert "1 background task was ended" in hub.last()


@pytest.mark.asyncio
async def test_a_resumed_session_keeps_its_folder_mode_and_model(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "shop").mkdir()
        await hub.say("/cwd shop")
        await finished_turn(hub)
        await hub.say("/model opus")
        hub.session.say(ModeChanged("plan"))
        await hub.settle()
        await hub.pass_time(901, step=300)
        await hub.say("go on")
        spec = hub.session.spec
        assert (spec.cwd, spec.model, spec.mode) == (hub.root / "shop", "opus", "plan")


@pytest.mark.asyncio
async def test_a_session_id_that_the_agent_changed_is_the_one_resumed(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        hub.session.say(SessionStarted(SessionId("after-clear"), hub.root))
        await hub.settle()
        await hub.pass_time(901, step=300)
        await hub.say("go on")
        assert hub.session.spec.resume == "after-clear"


@pytest.mark.asyncio
async def test_a_running_agent_that_is_silent_is_asked_about_once_and_not_killed(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.pass_time(1300, step=100)
        notices = [text for text in hub.ringing() if "said nothing for 10 min" in text]
        assert len(notices) == 1
        assert session.calls == []


@pytest.mark.asyncio
async def test_an_agent_that_waits_for_a_person_is_not_called_silent(tmp_path: Path) -> None:
    async with stage(tmp_path, ask_timeout=100_000.0) as hub:
        session = await hub.started_turn()
        asking = asyncio.create_task(session.ask_permission())
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        await hub.pass_time(1300, step=100)
        assert not any("said nothing" in text for text in hub.texts())
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


# --- death


@pytest.mark.asyncio
async def test_a_process_that_dies_in_a_turn_is_reported_with_what_was_done_and_continue_goes_on(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        session.tool("Bash", "make all")
        session.die(137, hint="It ran out of memory.")
        await hub.settle()
        report = hub.ringing()[-1]
        assert "Claude ended unexpectedly (137)" in report
        assert "It ran out of memory." in report
        assert "make all" in report
        await hub.press("Continue")
        assert hub.session.spec.resume == session.session_id
        assert "build it" in hub.session.prompts[0].text


@pytest.mark.asyncio
async def test_two_taps_on_continue_that_come_together_go_on_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        session.tool("Bash", "make all")
        session.die(137)
        await hub.settle()
        data = continue_data(hub)
        for press_id in ("one", "two"):
            await hub.hub.handle(ButtonPress(next(hub.numbers), TOPIC, 1, ANNA, press_id, data))
        await hub.until(lambda: len(hub.claude.sessions) == 2 and hub.session.prompts)
        hub.session.answer()
        await hub.settle()
        assert [prompt.text.count("build it") for prompt in hub.session.prompts] == [1]


@pytest.mark.asyncio
async def test_text_after_the_agent_is_gone_resumes_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer()
        session.die()
        await hub.settle()
        await hub.say("again")
        assert hub.session.spec.resume == session.session_id
        assert hub.session.prompts[0].text == "again"


@pytest.mark.asyncio
async def test_an_open_request_of_a_dead_session_does_not_stay_open(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        asking = asyncio.create_task(session.ask_permission())
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        session.die()
        await hub.settle()
        assert not hub.hub.context.desk.has_open_permission(TOPIC)
        decision = await asking
        assert not decision.is_allowed


@pytest.mark.asyncio
async def test_a_session_that_can_not_be_found_is_said_and_a_fresh_one_gets_the_kept_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        await hub.pass_time(901, step=300)
        hub.claude.errors.append(SessionNotFoundError("No such session."))
        await hub.say("go on")
        assert "can't be found" in hub.last()
        await hub.press("Fresh session")
        assert hub.session.spec.resume is None
        assert [prompt.text for prompt in hub.session.prompts] == ["go on"]


@pytest.mark.asyncio
async def test_an_agent_that_is_not_installed_is_named_with_what_to_do_and_the_text_is_kept(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.errors.append(AgentNotFoundError("Claude Code is not on this computer.", "Install it."))
        await hub.say("do it")
        assert "not on this computer" in hub.last()
        assert "Install it." in hub.last()
        await hub.press("Try again")
        assert [prompt.text for prompt in hub.session.prompts] == ["do it"]


@pytest.mark.asyncio
async def test_stop_while_the_session_opens_holds_the_text_and_closes_the_late_session(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.gate = asyncio.Event()
        await hub.say("do it")
        await hub.say("/stop")
        hub.claude.gate.set()
        await hub.settle()
        assert hub.session.is_closed
        assert hub.session.prompts == []
        await hub.press("Run")
        assert [prompt.text for prompt in hub.session.prompts] == ["do it"]


# --- pause, stop, start


@pytest.mark.asyncio
async def test_paused_no_turn_starts_but_running_ones_go_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        hub.hub.pause()
        await hub.say("new task", place=OTHER)
        assert "paused" in hub.last(OTHER)
        session.answer("still here")
        await hub.settle()
        assert hub.ringing(TOPIC)[-1].startswith("still here")
        hub.hub.resume()
        await hub.settle()
        assert hub.session.prompts[0].text == "new task"


@pytest.mark.asyncio
async def test_a_turn_that_was_cut_off_is_reported_with_continue_and_never_run_by_itself(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        message = hub.message("long work")
        await journalled(hub, message)
        await hub.hub.handle(message)
        await hub.settle()
        session_id = hub.session.session_id
        await hub.end()
        await hub.begin((Pending(message, UpdateState.HANDED),))
        assert len(hub.claude.sessions) == 1
        assert "long work" in hub.ringing()[-1]
        assert hub.hub.context.journal.state_of(message.update_id) is UpdateState.FINISHED
        await hub.press("Continue")
        assert hub.session.spec.resume == session_id
        assert "long work" in hub.session.prompts[0].text
        hub.session.answer()
        await hub.settle()
        toast = await hub.press_data(continue_data(hub))
        assert "does not work any more" in toast


def continue_data(hub: Stage) -> str:
    return next(
        button.data
        for shown in hub.delivery.shown.values()
        for row in shown.keyboard
        for button in row
        if button.label == "Continue"
    )


@pytest.mark.asyncio
async def test_a_backlog_is_offered_in_one_notice_per_topic_and_runs_by_a_press(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.end()
        backlog = [hub.message("run the tests", age=7200), hub.message("and the linter", age=7100)]
        backlog.append(hub.message("send the log", place=OTHER, age=7000))
        await journalled(hub, *backlog)
        await hub.begin(tuple(Pending(message, UpdateState.RECEIVED) for message in backlog))
        assert hub.claude.sessions == []
        assert len(hub.texts(TOPIC)) == 1
        assert "run the tests" in hub.last(TOPIC)
        assert "and the linter" in hub.last(TOPIC)
        assert "send the log" in hub.last(OTHER)
        other = next(shown for shown in hub.delivery.shown.values() if shown.message.place == OTHER)
        await hub.press("Run", shown=other)
        assert [prompt.text for prompt in hub.session.prompts] == ["send the log"]


@pytest.mark.asyncio
async def test_a_backlog_that_comes_with_the_first_poll_is_offered_too(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("run the tests", age=7200)
        await hub.pass_time(3)
        assert hub.claude.sessions == []
        assert "run the tests" in hub.last()


@pytest.mark.asyncio
async def test_nothing_of_a_backlog_runs_twice_after_a_second_restart(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.end()
        message = hub.message("run the tests", age=7200)
        await journalled(hub, message)
        for _ in range(2):
            await hub.begin((Pending(message, UpdateState.RECEIVED),))
            await hub.end()
        await hub.begin((Pending(message, UpdateState.RECEIVED),))
        notices = [shown for shown in hub.delivery.shown.values() if shown.message.place == TOPIC]
        assert [bool(notice.keyboard) for notice in notices] == [False, False, True]
        stale = Shown(notices[-1].message, notices[-1].id, notices[-1].part, notices[-1].keyboard)
        await hub.press("Run")
        await hub.press("Run", shown=stale)
        assert [prompt.text for session in hub.claude.sessions for prompt in session.prompts] == ["run the tests"]


@pytest.mark.asyncio
async def test_a_dropped_backlog_is_finished(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.end()
        message = hub.message("run the tests", age=7200)
        await journalled(hub, message)
        await hub.begin((Pending(message, UpdateState.RECEIVED),))
        await hub.press("Drop")
        assert hub.hub.context.journal.unfinished() == []
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_a_backlog_runs_at_once_where_it_is_set_so(tmp_path: Path) -> None:
    async with stage(tmp_path, runs_backlog=True) as hub:
        await hub.say("run the tests", age=7200)
        assert [prompt.text for prompt in hub.session.prompts] == ["run the tests"]


@pytest.mark.asyncio
async def test_a_young_text_of_the_time_between_is_simply_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.end()
        message = hub.message("run the tests", age=20)
        await journalled(hub, message)
        await hub.begin((Pending(message, UpdateState.RECEIVED),))
        assert [prompt.text for prompt in hub.session.prompts] == ["run the tests"]


@pytest.mark.asyncio
async def test_an_old_command_is_not_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/new", age=7200)
        assert "not run" in hub.last()


@pytest.mark.asyncio
async def test_after_a_sleep_of_the_computer_old_texts_are_offered(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        hub.clock.move(8 * 3600)
        await hub.say("from the night", age=4 * 3600)
        await hub.pass_time(3)
        assert [prompt.text for prompt in hub.claude.sessions[0].prompts] == ["do it"]
        assert any("from the night" in text for text in hub.texts())


@pytest.mark.asyncio
async def test_an_absence_over_a_day_is_said(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.hub.was_away(30 * 3600)
        assert "24 hours" in hub.last(GENERAL)


@pytest.mark.asyncio
async def test_stopping_the_hub_closes_every_session(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("one")
        await hub.say("two", place=OTHER)
        await hub.end()
        assert all(session.is_closed for session in hub.claude.sessions)


# --- the topic itself


@pytest.mark.asyncio
async def test_a_created_topic_gets_a_card_that_says_what_it_runs_with(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.topic_event(TopicChange.CREATED, name="Shop")
        assert "Claude" in hub.last()
        assert hub.buttons() == ["Agent", "Folder", "Model", "Mode"]


@pytest.mark.asyncio
async def test_a_topic_named_by_hand_keeps_its_name(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.topic_event(TopicChange.CREATED, name="Shop")
        session = await hub.started_turn()
        session.say(TitleChanged("Fix the checkout"))
        await hub.settle()
        assert hub.messenger.renamed == []


@pytest.mark.asyncio
async def test_a_topic_made_by_the_hub_follows_the_sessions_title(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/new", place=GENERAL)
        place = Place(CHAT, 701)
        await hub.say("do it", place=place)
        hub.session.say(TitleChanged("Fix the checkout"))
        await hub.settle()
        assert hub.messenger.renamed == [(place, "Fix the checkout")]


@pytest.mark.asyncio
async def test_a_lost_topic_is_parked_and_general_hears_of_it_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        assert len(hub.texts(GENERAL)) == 1
        assert session.is_closed
        binding = hub.hub.context.bindings.get(TOPIC)
        assert binding is not None
        assert binding.state is TopicState.LOST
        assert binding.session_id == session.session_id


@pytest.mark.asyncio
async def test_a_closed_topic_lets_its_session_go_after_the_turn_and_a_reopened_one_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.topic_event(TopicChange.CLOSED)
        assert not session.is_closed
        session.answer()
        await hub.settle()
        assert session.is_closed
        await hub.topic_event(TopicChange.REOPENED)
        await hub.say("go on")
        assert hub.session.spec.resume == session.session_id
        assert not hub.session.is_closed


@pytest.mark.asyncio
async def test_a_card_in_a_topic_that_was_closed_meanwhile_still_decides_and_the_session_goes_after_the_turn(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        asking = asyncio.create_task(session.ask_permission(command="make"))
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        await hub.topic_event(TopicChange.CLOSED)
        assert not session.is_closed
        await hub.press("Allow")
        assert (await asyncio.wait_for(asking, 5)).is_allowed
        assert not session.is_closed
        session.answer("done")
        await hub.settle()
        assert hub.ringing()[-1].startswith("done")
        assert session.is_closed


@pytest.mark.asyncio
async def test_a_text_in_a_topic_whose_reopening_was_missed_lets_its_messages_go_out(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        hub.hub.topic_lost(TOPIC, is_closed=True)
        await hub.settle()
        assert hub.delivery.resumed == []
        await hub.say("go on")
        assert hub.delivery.resumed == [TOPIC]


@pytest.mark.asyncio
async def test_a_closed_general_topic_is_no_topic_of_an_agent_and_is_tried_again_by_the_next_text(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        hub.hub.topic_lost(GENERAL, is_closed=True)
        await hub.settle()
        assert hub.hub.topics() == []
        await hub.say("/status", place=GENERAL)
        assert hub.delivery.resumed == [GENERAL]


@pytest.mark.asyncio
async def test_a_closed_topic_lets_its_session_go_by_a_clock_that_never_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A moment that is due "now" is later than the look that compares it: the loop must not spin for ever on that."""
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        looks = itertools.count()

        def monotonic() -> float:
            assert next(looks) < 10_000, "the topic looks at the clock for ever"
            hub.clock.steady += 1e-6
            return hub.clock.steady

        monkeypatch.setattr(hub.clock, "monotonic", monotonic)
        await hub.topic_event(TopicChange.CLOSED)
        await hub.settle()
        assert session.is_closed


@pytest.mark.asyncio
async def test_an_upgraded_group_keeps_its_sessions_and_a_second_event_is_harmless(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        session = hub.session
        for _ in range(2):
            await hub.hub.handle(ChatMoved(next(hub.numbers), CHAT, -1009))
        await hub.say("go on", place=Place(-1009, 7))
        assert [prompt.text for prompt in session.prompts] == ["do it", "go on"]
        session.answer("moved")
        await hub.settle()
        assert hub.last(Place(-1009, 7)).startswith("moved")


@pytest.mark.asyncio
async def test_what_a_session_asks_after_its_group_moved_waits_in_the_group_of_now(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.hub.handle(ChatMoved(next(hub.numbers), CHAT, -1009))
        asking = asyncio.create_task(session.ask_permission())
        await hub.settle()
        desk = hub.hub.context.desk
        assert [ask.origin.place for ask in desk.open_asks()] == [Place(-1009, 7)]
        assert desk.has_open_permission(Place(-1009, 7))
        await desk.void(Place(-1009, 7), "end of test")
        assert not (await asking).is_allowed


@pytest.mark.asyncio
async def test_neither_menus_nor_counting_call_telegram_while_it_asks_to_wait(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.menus.clear()
        hub.messenger.members = 5

        async def wait(_chat_id: int, _call: object) -> None:
            raise FloodWaitError(600)

        hub.delivery.paced = wait  # type: ignore[assignment, method-assign]
        hub.hub.context.commands_changed()
        await hub.say("/status", place=GENERAL)
        assert hub.messenger.menus == {}
        assert hub.hub.context.members == {}


@pytest.mark.asyncio
async def test_stopall_stops_a_turn_whose_session_is_still_being_opened(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.gate = asyncio.Event()
        await hub.say("do it")
        await hub.say("/stopall", place=GENERAL)
        assert "1 turn is being stopped" in hub.last(GENERAL)
        hub.claude.gate.set()
        await hub.settle()
        assert [len(session.prompts) for session in hub.claude.sessions] in ([], [0])
        assert "1 message was not run" in hub.last()


@pytest.mark.asyncio
async def test_stopall_stops_every_running_turn(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("one")
        await hub.say("two", place=OTHER)
        await hub.say("/stopall", place=GENERAL)
        assert [session.calls for session in hub.claude.sessions] == [["interrupt"], ["interrupt"]]


@pytest.mark.asyncio
async def test_the_inbox_names_the_topics_that_wait_for_a_person(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.topic_event(TopicChange.CREATED, name="Shop")
        session = await hub.started_turn()
        asking = asyncio.create_task(session.ask_permission())
        await hub.until(lambda: hub.hub.context.desk.has_open_permission(TOPIC))
        await hub.say("/inbox", place=GENERAL)
        assert "Shop" in hub.last(GENERAL)
        await hub.press("Deny")
        await asking
        await hub.say("/inbox", place=GENERAL)
        assert "Nobody waits" in hub.last(GENERAL)


@pytest.mark.asyncio
async def test_a_turn_that_the_agent_begins_by_itself_is_delivered(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        hub.session.say(
            TurnStarted(is_unsolicited=True),
            AssistantText("The build is done."),
            TurnFinished(TurnOutcome.COMPLETED, "The build is done."),
        )
        await hub.settle()
        assert hub.ringing()[-1].startswith("The build is done.")


@pytest.mark.asyncio
async def test_a_process_that_died_unnoticed_is_woken_and_gets_the_text_without_a_word(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await finished_turn(hub)
        dead = hub.session
        dead.prompt_error = AgentGoneError("The process is gone.")
        before = len(hub.texts())
        await hub.say("go on")
        assert hub.session is not dead
        assert hub.session.spec.resume == dead.session_id
        assert [prompt.text for prompt in hub.session.prompts] == ["go on"]
        assert len(hub.texts()) == before


@pytest.mark.asyncio
async def test_a_late_press_on_stop_of_a_silence_notice_harms_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.pass_time(700, step=100)
        session.answer()
        await hub.settle()
        await hub.press("Stop")
        await hub.say("next")
        assert [prompt.text for prompt in session.prompts] == ["do it", "next"]


@pytest.mark.asyncio
async def test_a_hundred_topics_are_no_hundred_processes(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        for number in range(40):
            await hub.say("do it", place=Place(CHAT, 100 + number))
            hub.session.answer()
            await hub.settle()
        assert sum(not session.is_closed for session in hub.claude.sessions) <= 25
        await hub.say("go on", place=Place(CHAT, 100))
        assert hub.session.spec.resume == "session-1"


# --- a usage limit


async def limited_turn(hub: Stage) -> None:
    session = await hub.started_turn("build it")
    resets = datetime.fromtimestamp(hub.clock.now() + 3600, UTC)
    session.say(TurnFailed(FailureKind.QUOTA, "The limit is reached.", resets_at=resets))
    await hub.settle()


@pytest.mark.asyncio
async def test_a_turn_refused_by_a_limit_goes_on_by_itself_after_the_reset(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await limited_turn(hub)
        assert "goes on by itself" in hub.ringing()[-1]
        await hub.pass_time(3500, step=100)
        assert sum(len(session.prompts) for session in hub.claude.sessions) == 1
        await hub.pass_time(300, step=100)
        assert hub.session.prompts[-1].text == "build it"
        assert sum(len(session.prompts) for session in hub.claude.sessions) == 2


@pytest.mark.asyncio
async def test_a_parked_turn_outlives_a_restart_of_the_hub(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await limited_turn(hub)
        await hub.end()
        await hub.begin()
        await hub.pass_time(3800, step=100)
        assert hub.session.prompts[-1].text == "build it"


@pytest.mark.asyncio
async def test_a_cancelled_parked_turn_does_not_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await limited_turn(hub)
        await hub.press("Don't run")
        await hub.pass_time(4000, step=200)
        assert sum(len(session.prompts) for session in hub.claude.sessions) == 1


@pytest.mark.asyncio
async def test_a_turn_that_waited_for_a_limit_is_not_lost_when_the_hub_ends_while_its_session_opens(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        await limited_turn(hub)
        await hub.pass_time(1500, step=100)
        hub.claude.gate = asyncio.Event()
        await hub.pass_time(2300, step=100)
        await hub.end()
        hub.claude.gate = None
        await hub.begin()
        await hub.pass_time(600, step=100)
        assert [prompt.text for session in hub.claude.sessions for prompt in session.prompts] == ["build it"] * 2
        hub.session.answer()
        await hub.pass_time(600, step=100)
        assert [prompt.text for session in hub.claude.sessions for prompt in session.prompts] == ["build it"] * 2


@pytest.mark.asyncio
async def test_a_turn_that_waited_for_a_limit_and_was_dropped_is_not_run_by_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await limited_turn(hub)
        hub.hub.pause()
        await hub.pass_time(3800, step=100)
        await hub.press("Drop")
        hub.hub.resume()
        await hub.end()
        await hub.begin()
        await hub.pass_time(600, step=100)
        assert sum(len(session.prompts) for session in hub.claude.sessions) == 1


@pytest.mark.asyncio
async def test_continue_works_again_when_the_hub_ended_before_the_agent_had_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        session.tool("Bash", "make all")
        session.die(137)
        await hub.settle()
        hub.claude.gate = asyncio.Event()
        await hub.press("Continue")
        await hub.press("Continue")
        await hub.end()
        hub.claude.gate = None
        await hub.begin()
        await hub.press("Continue")
        assert hub.session is not session
        assert ["interrupted before" in prompt.text for prompt in hub.session.prompts] == [True]
        assert "does not work any more" in await hub.press_data(continue_data(hub))


@pytest.mark.asyncio
async def test_the_agents_own_commands_come_into_the_menu_as_far_as_telegram_can_show_them(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        commands = (AgentCommand("compact", "Shorten"), AgentCommand("mcp:review"), AgentCommand("status"))
        hub.claude.started = SessionStarted(SessionId("s"), hub.root, commands=commands)
        await finished_turn(hub)
        menu = hub.messenger.menus[CHAT]
        assert "compact" in menu
        assert "mcp:review" not in menu
        assert menu.count("status") == 1


def test_old_logs_and_copies_are_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    """Without a hub beside it: one that starts clears away in a thread of its own."""
    now = 1_800_000_000.0
    for name in ("turns/old.md", "turns/new.md", "outgoing/x/a.txt", "kept/old.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for name, age in (("turns/old.md", 100), ("outgoing/x", 100), ("kept/old.md", 100), ("turns/new.md", 0)):
        os.utime(tmp_path / name, (now - age * 86400,) * 2)
    assert sweep(tmp_path, now) == 2
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["new.md", "old.md"]
    assert not (tmp_path / "outgoing" / "x").exists()


# --- when things go wrong one after the other


@pytest.mark.asyncio
async def test_the_end_of_a_turn_is_shown_once_the_full_disk_has_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()

        def full(message: object) -> str:
            raise StoreFullError("The disk is full.")

        with monkeypatch.context() as disk:
            disk.setattr(hub.delivery, "post", full)
            session.answer("here it is")
            await hub.settle()
            await hub.pass_time(15)
            assert not hub.ringing()
        await hub.pass_time(15)
        assert [text.split("\n")[0] for text in hub.ringing()] == ["here it is"]
        await hub.say("next")
        assert session.prompts[-1].text == "next"


@pytest.mark.asyncio
async def test_a_second_stop_ends_the_session_of_an_agent_that_answers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()

        async def hang() -> None:
            await asyncio.Event().wait()

        monkeypatch.setattr("bridge.topics.session.CALL_TIMEOUT", 0.05)
        monkeypatch.setattr(session, "interrupt", hang)
        monkeypatch.setattr(session, "stop_background", hang)
        await hub.say("/stop")
        await hub.until(lambda: any("does not answer" in text for text in hub.texts()))
        await hub.say("/stop")
        await hub.until(lambda: session.is_closed)
        await hub.say("go on")
        await hub.until(lambda: hub.session is not session)
        assert hub.session.spec.resume == session.session_id


@pytest.mark.asyncio
async def test_held_texts_are_offered_once_and_not_after_every_later_turn(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("also this")
        await hub.say("/stop")
        for _ in range(3):
            await hub.say("another task")
            session.answer()
            await hub.settle()
        assert sum("was not run" in text for text in hub.texts()) == 1


@pytest.mark.asyncio
async def test_a_process_that_dies_between_turns_offers_what_it_was_given(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("also this")
        session.answer()
        await hub.settle()
        session.die()
        await hub.settle()
        assert "also this" in hub.last()
        await hub.press("Run")
        assert hub.session.prompts[-1].text == "also this"


@pytest.mark.asyncio
async def test_an_old_picture_is_offered_like_an_old_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.files["F1"] = b"one"
        await hub.say("look", files=(IncomingFile(FileKind.PHOTO, "F1", size=3),), age=7200)
        await hub.until(lambda: any("look" in text for text in hub.texts()))
        assert hub.claude.sessions == []
        await hub.press("Run")
        assert hub.session.prompts[0].images[0].data == b"one"
