"""What the program asks is answered once, by a person or by a denial, and never blocks what else it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from agents.claude.session import ClaudeSession
from agents.contract import Decision, PermissionRequest, TurnFinished, Verdict
from tests.agents.claude.fake import FakeProgram, asks, opened, result, text
from tests.contract.person import Person

pytestmark = pytest.mark.asyncio
Open = Callable[[Person], Awaitable[tuple[FakeProgram, ClaudeSession]]]


@pytest_asyncio.fixture
async def open_session(tmp_path: Path) -> AsyncIterator[Open]:
    sessions: list[ClaudeSession] = []

    async def start(person: Person) -> tuple[FakeProgram, ClaudeSession]:
        program = FakeProgram()
        sessions.append(await opened(program, person, tmp_path))
        return program, sessions[-1]

    yield start
    for session in sessions:
        await session.close()


async def test_two_requests_are_two_prompts_with_their_own_input_answered_in_any_order(open_session: Open) -> None:
    person = Person(lambda _: None)
    program, session = await open_session(person)
    program.says(asks("rq-1", "Bash", command="rm -r build"), asks("rq-2", "Write", file_path="/p/a.txt", content="x"))
    await person.until(lambda: len(person.requests) == 2)
    assert {request.subject for request in person.requests} == {"rm -r build", "/p/a.txt"}
    write = next(request for request in person.requests if request.tool == "Write")
    person._pending[write.id].set()
    answer = await program.answered("rq-2")
    assert answer["response"]["behavior"] == "deny"
    assert not [message for message in program.written if message.get("response", {}).get("request_id") == "rq-1"]
    program.says(text("still talking"), result())
    assert [event async for event in _until(session, TurnFinished)]


async def _until(session: ClaudeSession, kind: type) -> AsyncIterator[object]:
    async with asyncio.timeout(5):
        async for event in session.events:
            yield event
            if isinstance(event, kind):
                return


async def test_allow_never_carries_the_programs_own_always(open_session: Open) -> None:
    program, _ = await open_session(Person())
    request = asks("rq-1", "Bash", command="touch a")
    request["request"]["permission_suggestions"] = [{"type": "addRules", "rules": [{"toolName": "Bash"}]}]
    program.says(request)
    assert (await program.answered("rq-1"))["response"] == {"behavior": "allow"}


async def test_a_hub_that_breaks_while_asking_denies(open_session: Open) -> None:
    def breaks(_: PermissionRequest) -> Decision:
        raise RuntimeError("no database")

    program, _ = await open_session(Person(breaks))
    program.says(asks("rq-1", "Bash", command="touch a"))
    assert (await program.answered("rq-1"))["response"]["behavior"] == "deny"


async def test_a_request_nobody_serves_is_refused_instead_of_left_open(open_session: Open) -> None:
    program, _ = await open_session(Person())
    program.says({"type": "control_request", "request_id": "x1", "request": {"subtype": "elicitation"}})
    assert (await program.answered("x1"))["subtype"] == "error"


async def test_a_request_taken_back_is_not_answered(open_session: Open) -> None:
    person = Person(lambda _: None)
    program, _ = await open_session(person)
    program.says(asks("rq-1", "Bash", command="touch a"))
    await person.until(lambda: bool(person.requests))
    program.says({"type": "control_cancel_request", "request_id": "rq-1"})
    await person.until(lambda: bool(person.withdrawals))
    await asyncio.sleep(0.05)
    assert person.withdrawals == [person.requests[0].id]
    assert person.told_of == []
    assert not [message for message in program.written if message.get("response", {}).get("request_id") == "rq-1"]


async def test_a_decision_for_a_program_that_died_is_told_as_not_delivered(open_session: Open) -> None:
    person = Person(lambda _: None)
    program, _ = await open_session(person)
    program.says(asks("rq-1", "Bash", command="touch a"))
    await person.until(lambda: bool(person.requests))
    program.dies()
    await person.until(lambda: bool(person.told_of))
    assert person.told_of == [(person.requests[0].id, False)]


async def test_ids_differ_between_two_lives_of_a_program(open_session: Open) -> None:
    person = Person()
    for _ in range(2):
        program, session = await open_session(person)
        program.says(asks("rq-1", "Bash", command="touch a"))
        await program.answered("rq-1")
        await session.close()
    assert person.requests[0].id != person.requests[1].id


async def test_a_plan_without_its_text_shows_what_the_model_said_last(open_session: Open) -> None:
    person = Person()
    program, _ = await open_session(person)
    program.says(text("1. Do this"), asks("rq-1", "ExitPlanMode"))
    await program.answered("rq-1")
    assert person.requests[0].plan == "1. Do this"


async def test_several_answers_travel_as_one_text_beside_the_questions(open_session: Open) -> None:
    person = Person(answer="Tests, CI")
    program, _ = await open_session(person)
    questions = [{"question": "Which extras?", "header": "Extras", "multiSelect": True, "options": [{"label": "CI"}]}]
    program.says(asks("rq-1", "AskUserQuestion", questions=questions))
    answer = (await program.answered("rq-1"))["response"]
    assert answer["updatedInput"] == {"questions": questions, "answers": {"Which extras?": "Tests, CI"}}
    assert person.questions[0].questions[0].is_multiple


async def test_a_denial_says_that_the_user_denied_and_why(open_session: Open) -> None:
    program, _ = await open_session(Person(lambda _: Decision(Verdict.DENY, "use the other folder")))
    program.says(asks("rq-1", "Bash", command="touch a"))
    message = (await program.answered("rq-1"))["response"]["message"]
    assert "use the other folder" in message
