"""A session's turns: what begins them, what ends them, and what happens when the program misbehaves."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agents.claude import session as session_module
from agents.claude.session import ClaudeSession
from agents.contract import (
    AgentError,
    AgentGoneError,
    AgentNotLoggedInError,
    AgentVersionError,
    AssistantText,
    BackgroundTasks,
    FilePart,
    ImagePart,
    InputConsumed,
    InputReturned,
    ProcessExited,
    Prompt,
    Quota,
    SessionStarted,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
)
from agents.lines import LineSplitter
from tests.agents.claude.fake import SESSION, FakeProgram, Message, opened, result, text
from tests.contract.person import Person
from tests.contract.talk import Talk

pytestmark = pytest.mark.asyncio


def lifecycle(input_id: str, state: str) -> Message:
    return {"type": "command_lifecycle", "command_uuid": input_id, "state": state}


async def talk_with(program: FakeProgram, folder: Path) -> Talk:
    return Talk(await opened(program, Person(), folder))


async def test_a_long_line_cut_anywhere_between_stray_text_ends_the_turn_well(tmp_path: Path) -> None:
    long = "Ж" * 1_572_864
    stream = (
        "Warning: node is old\r\n"
        + json.dumps(text(long), ensure_ascii=False)
        + "\n\n\x07[?25h"
        + json.dumps(result(result="ok"))
        + "\n"
    ).encode()
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    splitter = LineSplitter()
    for start in range(0, len(stream), 4095):
        program.says(*splitter.feed(stream[start : start + 4095]))
    ended = await talk.end()
    assert isinstance(ended, TurnFinished)
    assert ended.text == "ok"
    assert talk.all(AssistantText)[0].text == long
    await talk.close()


async def test_a_turn_the_program_begins_by_itself_is_unsolicited(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    program.says(text("the build is done"), result(result="the build is done"))
    assert (await talk.until(TurnStarted)).is_unsolicited
    assert (await talk.until(TurnFinished)).text == "the build is done"
    await talk.close()


async def test_a_wake_up_without_a_word_is_no_turn_and_leaves_the_prompt_its_own(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    input_id = await talk.say("hello")
    program.says({"type": "system", "subtype": "init", "session_id": SESSION}, result(result="", num_turns=0))
    program.says(lifecycle(input_id, "started"), text("hi"), result(result="hi"))
    assert (await talk.until(TurnFinished)).text == "hi"
    assert [event.is_unsolicited for event in talk.all(TurnStarted)] == [False]
    assert len(talk.all(TurnFinished)) == 1
    await talk.close()


async def test_texts_that_a_turn_did_not_read_become_the_next_turn(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    first = await talk.say("hello")
    program.says(lifecycle(first, "started"), text("hi"))
    await talk.until(AssistantText)
    second = await talk.session.steer(Prompt("and this"))
    assert second is not None
    program.says(result(), lifecycle(second, "started"), text("this too"), result())
    await talk.until(TurnFinished)
    assert (await talk.until(InputConsumed)).input_id == second
    assert not (await talk.until(TurnStarted)).is_unsolicited
    await talk.until(TurnFinished)
    await talk.close()


async def test_nothing_is_steered_while_no_turn_runs(tmp_path: Path) -> None:
    talk = await talk_with(FakeProgram(), tmp_path)
    assert await talk.session.steer(Prompt("hello?")) is None
    await talk.close()


async def test_a_stop_before_the_program_began_is_a_stopped_turn(tmp_path: Path) -> None:
    program = FakeProgram()
    program.obeys_interrupts = False
    talk = await talk_with(program, tmp_path)
    input_id = await talk.say("hello")
    await talk.session.interrupt()
    program.says(lifecycle(input_id, "queued"), lifecycle(input_id, "cancelled"))
    assert (await talk.until(TurnFinished)).outcome is TurnOutcome.INTERRUPTED
    await talk.close()


async def test_a_program_that_does_not_stop_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "INTERRUPT_TIMEOUT", 0.05)
    program = FakeProgram()
    program.obeys_interrupts = False
    talk = await talk_with(program, tmp_path)
    input_id = await talk.say("hello")
    program.says(lifecycle(input_id, "started"))
    await talk.until(TurnStarted)
    await talk.session.interrupt()
    assert not (await talk.until(ProcessExited)).was_expected
    assert program.stops >= 1


async def test_what_a_dead_program_had_not_read_comes_back(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    input_id = await talk.say("hello")
    program.says(lifecycle(input_id, "started"))
    await talk.until(TurnStarted)
    steered = await talk.session.steer(Prompt("more"))
    program.dies(-9)
    assert (await talk.until(InputReturned)).input_id == steered
    gone = await talk.until(ProcessExited)
    assert gone.exit_code == -9
    with pytest.raises(AgentGoneError):
        await talk.session.prompt(Prompt("still there?"))


async def test_clear_moves_the_session_to_the_id_that_the_result_names(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    await talk.session.prompt(Prompt("/clear", is_command=True))
    new = "22222222-2222-4222-8222-222222222222"
    program.says({"type": "conversation_reset", "new_conversation_id": "something else"}, text("x"))
    program.says(result(session_id=new))
    await talk.until(TurnFinished)
    assert talk.session.session_id == new
    assert talk.all(SessionStarted)[-1].session_id == new
    await talk.close()


async def test_what_runs_in_the_background_is_told_and_closing_lets_the_program_end_itself(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    tasks = [{"task_id": "b1", "description": "npm run dev"}]
    program.says({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks}, text("x"), result())
    await talk.until(TurnFinished)
    await talk.close()
    assert talk.all(BackgroundTasks)[-1].tasks[0].title == "npm run dev"
    assert talk.all(ProcessExited)[0].was_expected
    assert program.written[-1]["request"]["subtype"] == "end_session"


async def test_a_used_up_quota_says_when_it_comes_back(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    info = {"status": "rejected", "resetsAt": 1796030946, "rateLimitType": "five_hour"}
    program.says({"type": "rate_limit_event", "rate_limit_info": info})
    program.says({**text("You've hit your limit"), "error": "rate_limit"})
    program.says(
        result(is_error=True, result="You've hit your limit", terminal_reason="api_error", api_error_status=429)
    )
    quota = await talk.until(Quota)
    failed = await talk.until(TurnFailed)
    assert quota.is_exhausted
    assert failed.kind.value == "quota"
    assert failed.resets_at is not None
    assert failed.resets_at.timestamp() == 1796030946
    assert talk.all(AssistantText) == []
    await talk.close()


@pytest.mark.parametrize(
    ("result_fields", "kind"),
    [
        ({"terminal_reason": "prompt_too_long", "api_error_status": 400}, "too_long"),
        ({"terminal_reason": "api_error", "api_error_status": 401}, "login"),
        ({"terminal_reason": "api_error", "api_error_status": 529}, "overloaded"),
        ({"terminal_reason": "api_error"}, "network"),
        ({"stop_reason": "refusal"}, "refused"),
        ({}, "other"),
    ],
)
async def test_a_failure_is_named_by_what_to_do(tmp_path: Path, result_fields: Message, kind: str) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    program.says(text("x"), result(is_error=True, **result_fields))
    failed = await talk.until(TurnFailed)
    assert failed.kind.value == kind
    assert failed.title
    assert failed.hint
    await talk.close()


async def test_a_call_the_program_refuses_says_why(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    setting = asyncio.create_task(talk.session.set_mode("bogus"))
    asked = await program.wrote(lambda m: m.get("request", {}).get("subtype") == "set_permission_mode")
    body = {"subtype": "error", "request_id": asked["request_id"], "error": "must be one of ..."}
    program.says({"type": "control_response", "response": body})
    with pytest.raises(AgentError) as caught:
        await setting
    assert "must be one of" in caught.value.detail
    await talk.close()


async def begin_with(tmp_path: Path, body: Message) -> None:
    program = FakeProgram()
    program._shakes_hands = lambda request_id: program.says(  # type: ignore[method-assign]
        {
            "type": "control_response",
            "response": {"subtype": "success", "request_id": request_id, "response": body},
        }
    )
    session = ClaudeSession(program, Person(), tmp_path, SESSION, lambda: "id-1")
    try:
        await session.begin()
    finally:
        await session.close()


@pytest.mark.parametrize("version", ["2.1.99", "1.0.0", ""])
async def test_a_version_that_is_too_old_is_named_with_the_one_needed(tmp_path: Path, version: str) -> None:
    with pytest.raises(AgentVersionError, match=r"2\.1\.332") as caught:
        await begin_with(tmp_path, {"claude_code_version": version})
    assert version in caught.value.detail


async def test_no_token_and_no_key_is_a_missing_login(tmp_path: Path) -> None:
    account = {"tokenSource": "none", "apiProvider": "firstParty"}
    with pytest.raises(AgentNotLoggedInError):
        await begin_with(tmp_path, {"claude_code_version": "2.1.332", "account": account})


async def test_pictures_and_documents_travel_inside_and_files_are_named(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    pdf = tmp_path / "paper.pdf"
    pdf.write_bytes(b"%PDF-1.4")
    files = (FilePart(pdf, "application/pdf"), FilePart(tmp_path / "data.csv", "text/csv"))
    await talk.session.prompt(Prompt("see @this", (ImagePart(b"png", "image/png"),), files))
    sent = program.written[-1]
    blocks = sent["message"]["content"]
    assert [block["type"] for block in blocks] == ["image", "document", "text"]
    assert str(tmp_path / "data.csv") in blocks[-1]["text"]
    assert sent["client_composed"] is True
    await talk.close()


async def test_only_the_agents_own_commands_are_sent_as_commands(tmp_path: Path) -> None:
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    await talk.session.prompt(Prompt("/compact", is_command=True))
    assert "client_composed" not in program.written[-1]
    assert program.written[-1]["message"]["content"] == "/compact"
    await talk.close()


async def test_a_program_that_is_gone_before_the_first_word_says_why(tmp_path: Path) -> None:
    program = FakeProgram()
    program.dies(3)
    session = ClaudeSession(program, Person(), tmp_path, SESSION, lambda: "id-1")
    program.stderr_tail = "no such configuration"
    with pytest.raises(AgentGoneError) as caught:
        await session.begin()
    assert caught.value.detail == "no such configuration"
    await session.close()


@pytest.mark.asyncio
async def test_a_deaf_program_is_ended_even_when_nobody_waits_for_the_end_of_the_close(tmp_path: Path) -> None:
    program = FakeProgram()
    session = await opened(program, Person(), tmp_path)
    program.send = never  # type: ignore[method-assign]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(session.close(), 0.05)
    assert program.stops
    async with asyncio.timeout(5):
        events = [event async for event in session.events]
    assert isinstance(events[-1], ProcessExited)


@pytest.mark.asyncio
async def test_a_stop_that_the_program_does_not_even_read_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "INTERRUPT_TIMEOUT", 0.05)
    program = FakeProgram()
    talk = await talk_with(program, tmp_path)
    await talk.session.prompt(Prompt("go"))
    program.send = never  # type: ignore[method-assign]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(talk.session.interrupt(), 0.2)
    assert program.stops
    await talk.close()


async def never(line: bytes) -> None:
    """A pipe that nobody reads."""
    del line
    await asyncio.Event().wait()
