"""A session on an app-server in memory: what is asked, answered, taken back, sent again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from agents.codex.modes import FULL_ACCESS
from agents.codex.session import CodexSession
from agents.contract import (
    AgentError,
    AgentGoneError,
    Decision,
    Declined,
    FailureKind,
    ImagePart,
    InputConsumed,
    InputReturned,
    ModeChanged,
    PermissionRequest,
    ProcessExited,
    Prompt,
    SessionStarted,
    TitleChanged,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Verdict,
)
from tests.agents.codex.stage import FOLDER, HELPER, ROOT, Stage, command, message, turn_ended
from tests.contract.person import Person

APPROVAL = {"turnId": "turn-1", "itemId": "item-1", "command": "make deploy", "cwd": str(FOLDER)}
TURN = {"turn": {"id": "turn-1", "status": "inProgress"}}
DENY = Decision(Verdict.DENY)


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    made.pipe.answers["turn/start"] = TURN
    yield made
    await made.close()


def asks(stage: Stage, request_id: Any, method: str = "item/commandExecution/requestApproval", **params: Any) -> None:
    stage.pipe.say({"id": request_id, "method": method, "params": {"threadId": ROOT, **APPROVAL, **params}})


@pytest.mark.asyncio
async def test_requests_with_the_number_0_and_the_text_0_are_two_and_answered_in_their_own_type(stage: Stage) -> None:
    await stage.turn()
    asks(stage, 0)
    asks(stage, "0", "item/fileChange/requestApproval", itemId="item-2")
    await stage.pipe.until(lambda: len(stage.pipe.replies()) == 2)
    assert [reply["id"] for reply in stage.pipe.replies()] == [0, "0"]
    assert all(reply["result"] == {"decision": "accept"} for reply in stage.pipe.replies())
    assert len({request.id for request in stage.person.requests}) == 2


@pytest.mark.asyncio
async def test_an_unknown_request_is_refused_and_not_left_open(stage: Stage) -> None:
    asks(stage, 7, "unknown/newThing")
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    (reply,) = stage.pipe.replies()
    assert reply["error"]["code"] == -32601


@pytest.mark.asyncio
async def test_allowing_is_once_and_never_one_of_codex_own_always(stage: Stage) -> None:
    await stage.turn()
    asks(stage, 1, availableDecisions=["acceptForSession", {"acceptWithExecpolicyAmendment": {}}, "cancel"])
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    assert stage.pipe.replies()[0]["result"] == {"decision": "accept"}
    assert [option.id for option in stage.person.requests[0].options][:2] == [
        "acceptForSession",
        "acceptWithExecpolicyAmendment",
    ]


@pytest.mark.asyncio
async def test_a_patch_is_asked_for_with_the_diff_that_came_before(stage: Stage) -> None:
    await stage.turn()
    change = {"path": "/project/a.txt", "kind": {"type": "update"}, "diff": "@@ -1 +1 @@\n-a\n+b\n"}
    item = {"type": "fileChange", "id": "item-1", "status": "inProgress", "changes": [change]}
    stage.pipe.tell("item/started", turnId="turn-1", item=item)
    asks(stage, 1, "item/fileChange/requestApproval")
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    (request,) = stage.person.requests
    assert request.subject == "/project/a.txt"
    assert request.diff == "--- /project/a.txt\n+++ /project/a.txt\n@@ -1 +1 @@\n-a\n+b"


@pytest.mark.asyncio
async def test_a_denials_reason_is_given_to_the_turn_before_the_denial(stage: Stage) -> None:
    stage.person.decide = lambda _: Decision(Verdict.DENY, "not on a Friday")
    await stage.turn()
    asks(stage, 1)
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    order = [entry.get("method", "reply") for entry in stage.pipe.sent]
    assert order == ["turn/steer", "reply"]
    assert "not on a Friday" in stage.pipe.of("turn/steer")[0]["input"][0]["text"]
    assert stage.pipe.replies()[0]["result"] == {"decision": "decline"}


@pytest.mark.asyncio
async def test_a_denial_stands_when_its_reason_can_not_be_told(stage: Stage) -> None:
    stage.pipe.answers["turn/steer"] = {"error": {"code": -32600, "message": "no active turn to steer"}}
    stage.person.decide = lambda _: Decision(Verdict.DENY, "no")
    await stage.turn()
    asks(stage, 1)
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    assert stage.pipe.replies()[0]["result"] == {"decision": "decline"}


@pytest.mark.asyncio
async def test_a_request_sent_again_with_the_same_id_is_asked_and_answered_once(stage: Stage) -> None:
    answer = asyncio.Event()
    stage.person.decide = lambda _: None
    await stage.turn()
    asks(stage, 3)
    asks(stage, 3)
    await stage.person.until(lambda: bool(stage.person.requests))
    answer.set()
    stage.pipe.tell("serverRequest/resolved", requestId=3)
    await stage.person.until(lambda: bool(stage.person.withdrawals))
    assert len(stage.person.requests) == 1
    assert stage.pipe.replies() == []


@pytest.mark.asyncio
async def test_a_request_codex_takes_back_is_withdrawn_and_not_answered(stage: Stage) -> None:
    stage.person.decide = lambda _: None
    await stage.turn()
    asks(stage, 1)
    await stage.person.until(lambda: bool(stage.person.requests))
    stage.pipe.tell("turn/completed", **turn_ended("interrupted"))
    await stage.person.until(lambda: bool(stage.person.withdrawals))
    assert stage.person.withdrawals == [stage.person.requests[0].id]
    assert stage.person.told_of == []
    assert stage.pipe.replies() == []


@pytest.mark.asyncio
async def test_more_rights_are_given_for_this_turn_or_not_at_all() -> None:
    for verdict, granted in ((Verdict.ALLOW, {"network": {"enabled": True}}), (Verdict.DENY, {})):
        stage = Stage(Person(lambda _, verdict=verdict: Decision(verdict)))  # type: ignore[misc]
        asks(stage, 1, "item/permissions/requestApproval", permissions={"network": {"enabled": True}})
        await stage.pipe.until(lambda stage=stage: bool(stage.pipe.replies()))  # type: ignore[misc]
        assert stage.pipe.replies()[0]["result"] == {"permissions": granted, "scope": "turn"}
        await stage.close()


@pytest.mark.asyncio
async def test_declining_questions_is_no_answer_to_them() -> None:
    stage = Stage(Person(answer=Declined()))
    asks(stage, 1, "item/tool/requestUserInput", questions=[{"id": "db", "question": "Which?", "options": None}])
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    assert stage.pipe.replies()[0]["result"] == {"answers": {}}
    await stage.close()


@pytest.mark.asyncio
async def test_a_helpers_request_reaches_its_roots_person_though_its_link_comes_late(stage: Stage) -> None:
    await stage.turn()
    asks(stage, 1, threadId=HELPER)
    link = {"type": "subAgentActivity", "id": "a", "kind": "started", "agentThreadId": HELPER, "agentPath": "/root/bob"}
    stage.pipe.tell("item/started", turnId="turn-1", item=link)
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    assert stage.person.requests[0].sub_agent == "bob"


@pytest.mark.asyncio
async def test_a_helper_is_known_by_the_root_turn_its_own_turn_names(stage: Stage) -> None:
    await stage.turn()
    stage.pipe.tell("turn/started", HELPER, turn={"id": "turn-9", "rootTurnId": "turn-1"})
    asks(stage, 1, threadId=HELPER)
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    assert stage.person.requests[0].sub_agent


@pytest.mark.asyncio
async def test_an_answer_given_aside_is_steered_while_the_turn_runs(stage: Stage) -> None:
    stage.person.answer = "Red"
    await stage.turn()
    asked = message("Red or blue?", questions=[{"title": "Red or blue?", "options": ["Red", "Blue"]}])
    stage.pipe.tell("item/completed", turnId="turn-1", item=asked)
    await stage.person.until(lambda: bool(stage.person.told_of))
    assert stage.pipe.of("turn/steer")[0]["input"] == [{"type": "text", "text": "Red"}]
    sent_id = stage.pipe.of("turn/steer")[0]["clientUserMessageId"]
    read = {"type": "userMessage", "id": "u", "clientId": sent_id, "content": []}
    stage.pipe.tell("item/completed", turnId="turn-1", item=read)
    stage.pipe.tell("turn/completed", **turn_ended())
    events = [event async for event in _until_end(stage)]
    assert not any(isinstance(event, InputConsumed | InputReturned) for event in events)


@pytest.mark.asyncio
async def test_an_answer_given_aside_after_the_turn_begins_a_turn_of_its_own(stage: Stage) -> None:
    stage.person.answer = "Red"
    stage.pipe.answers["turn/steer"] = {"error": {"code": -32600, "message": "no active turn to steer"}}
    await stage.turn()
    asked = message("?", questions=[{"title": "Red or blue?", "options": None}])
    stage.pipe.tell("item/completed", turnId="turn-1", item=asked)
    await stage.person.until(lambda: bool(stage.person.told_of))
    assert stage.pipe.of("turn/start")[0]["input"] == [{"type": "text", "text": "Red"}]


async def _until_end(stage: Stage) -> AsyncIterator[object]:
    async for event in stage.session.events:
        yield event
        if isinstance(event, TurnFinished | TurnFailed | ProcessExited):
            return


@pytest.mark.asyncio
async def test_every_turn_brings_policy_and_sandbox_again(stage: Stage) -> None:
    await stage.session.prompt(Prompt("go"))
    (params,) = stage.pipe.of("turn/start")
    assert (params["approvalPolicy"], params["approvalsReviewer"]) == ("untrusted", "user")
    assert params["sandboxPolicy"]["type"] == "workspaceWrite"
    assert params["collaborationMode"]["mode"] == "default"


@pytest.mark.asyncio
async def test_pictures_travel_in_the_prompt_and_files_by_their_path(stage: Stage) -> None:
    await stage.session.prompt(Prompt("look", images=(ImagePart(b"png", "image/png"),)))
    parts = stage.pipe.of("turn/start")[0]["input"]
    assert parts == [{"type": "text", "text": "look"}, {"type": "image", "url": "data:image/png;base64,cG5n"}]


@pytest.mark.asyncio
async def test_an_empty_message_is_refused_before_it_costs_anything(stage: Stage) -> None:
    with pytest.raises(AgentError):
        await stage.session.prompt(Prompt(""))
    assert stage.pipe.of("turn/start") == []


@pytest.mark.asyncio
async def test_a_message_codex_refuses_ends_its_turn_with_what_to_do(stage: Stage) -> None:
    error = {"code": -32602, "message": "too large", "data": {"input_error_code": "input_too_large"}}
    stage.pipe.answers["turn/start"] = {"error": error}
    await stage.session.prompt(Prompt("x"))
    failed = await stage.next(TurnFailed)
    assert isinstance(failed, TurnFailed)
    assert failed.kind is FailureKind.TOO_LONG


@pytest.mark.asyncio
async def test_a_thread_codex_unloaded_is_loaded_again_before_the_message(stage: Stage) -> None:
    answers: list[dict[str, Any]] = [{"error": {"code": -32600, "message": "thread not found: x"}}, TURN]
    stage.pipe.answers["turn/start"] = lambda _: answers.pop(0)
    await stage.session.prompt(Prompt("go"))
    assert [entry["method"] for entry in stage.pipe.sent] == ["turn/start", "thread/resume", "turn/start"]
    assert stage.pipe.of("thread/resume")[0]["approvalPolicy"] == "untrusted"


@pytest.mark.asyncio
async def test_an_overloaded_server_is_asked_again_after_a_pause(stage: Stage) -> None:
    answers: list[dict[str, Any]] = [{"error": {"code": -32001, "message": "Server overloaded; retry later."}}, TURN]
    stage.pipe.answers["turn/start"] = lambda _: answers.pop(0)
    await stage.session.prompt(Prompt("go"))
    assert len(stage.pipe.of("turn/start")) == 2
    assert stage.slept == [0.2]


@pytest.mark.asyncio
async def test_a_turn_that_becomes_part_of_the_running_one_leaves_no_expectation(stage: Stage) -> None:
    await stage.turn()
    await stage.session.prompt(Prompt("more"))
    stage.pipe.tell("turn/completed", **turn_ended())
    await stage.next(TurnFinished)
    await stage.turn("turn-2")
    assert await stage.next(TurnStarted) == TurnStarted(is_unsolicited=True)


@pytest.mark.asyncio
async def test_a_stop_ends_what_the_turn_started_and_nothing_older(stage: Stage) -> None:
    await stage.turn()
    stage.pipe.tell("item/started", turnId="turn-1", item=command("item-1"))
    listed = [{"itemId": "item-1", "processId": "11"}, {"itemId": "older", "processId": "7"}]
    stage.pipe.answers["thread/backgroundTerminals/list"] = {"data": listed}
    await asyncio.sleep(0)
    await stage.session.interrupt()
    await stage.pipe.until(lambda: bool(stage.pipe.of("thread/backgroundTerminals/terminate")))
    assert stage.pipe.of("turn/interrupt") == [{"threadId": ROOT, "turnId": "turn-1"}]
    assert [call["processId"] for call in stage.pipe.of("thread/backgroundTerminals/terminate")] == ["11"]


@pytest.mark.asyncio
async def test_a_stop_before_the_turn_has_begun_stops_it_all_the_same(stage: Stage) -> None:
    await stage.session.prompt(Prompt("go"))
    await stage.session.interrupt()
    assert stage.pipe.of("turn/interrupt") == [{"threadId": ROOT, "turnId": "turn-1"}]


@pytest.mark.asyncio
async def test_a_text_the_turn_does_not_take_is_for_the_hub_to_queue(stage: Stage) -> None:
    assert await stage.session.steer(Prompt("idle")) is None
    stage.pipe.answers["turn/steer"] = {"error": {"code": -32600, "message": "not steerable"}}
    await stage.turn()
    assert await stage.session.steer(Prompt("now")) is None
    stage.pipe.tell("turn/completed", **turn_ended())
    events = [event async for event in _until_end(stage)]
    assert not any(isinstance(event, InputReturned) for event in events)


@pytest.mark.asyncio
async def test_a_mode_is_changed_for_codex_and_said(stage: Stage) -> None:
    await stage.session.set_mode("read-only")
    (params,) = stage.pipe.of("thread/settings/update")
    assert (params["approvalPolicy"], params["sandboxPolicy"]["type"]) == ("on-request", "readOnly")
    assert await stage.next(ModeChanged) == ModeChanged("read-only")


@pytest.mark.asyncio
async def test_full_access_can_not_be_chosen_from_a_chat(stage: Stage) -> None:
    with pytest.raises(AgentError):
        await stage.session.set_mode(FULL_ACCESS)
    started = await stage.next(SessionStarted)
    assert isinstance(started, SessionStarted)
    assert FULL_ACCESS not in [mode.id for mode in started.modes]
    assert stage.pipe.of("thread/settings/update") == []


@pytest.mark.asyncio
async def test_the_death_of_the_process_ends_every_session_with_its_last_words(stage: Stage) -> None:
    other = stage.open("thread-other", Person())
    stage.pipe.die()
    for session in (stage.session, other):
        exited = await stage.next(ProcessExited, session)
        assert isinstance(exited, ProcessExited)
        assert (exited.was_expected, exited.stderr) == (False, "last words")
    with pytest.raises(AgentGoneError):
        await stage.session.prompt(Prompt("go"))
    assert stage.released == 2


@pytest.mark.asyncio
async def test_an_open_request_of_a_dead_process_is_withdrawn_and_never_told_as_delivered(stage: Stage) -> None:
    stage.person.decide = lambda _: None
    await stage.turn()
    asks(stage, 1)
    await stage.person.until(lambda: bool(stage.person.requests))
    stage.pipe.die()
    await stage.person.until(lambda: bool(stage.person.withdrawals))
    assert stage.person.told_of == []


@pytest.mark.asyncio
async def test_what_one_thread_tells_stays_out_of_the_other(stage: Stage) -> None:
    other = stage.open("thread-other", Person())
    stage.pipe.tell("turn/started", "thread-other", turn={"id": "turn-5", "rootTurnId": "turn-5"})
    await stage.next(TurnStarted, other)
    assert stage.session.turn_id is None
    await other.close()


@pytest.mark.asyncio
async def test_closing_lets_go_of_the_thread_and_is_said_once(stage: Stage) -> None:
    await stage.session.close()
    await stage.session.close()
    assert [params["threadId"] for params in stage.pipe.of("thread/unsubscribe")] == [ROOT]
    assert stage.released == 1
    events = [event async for event in stage.session.events]
    assert isinstance(events[-1], ProcessExited)
    assert events[-1].was_expected


@pytest.mark.asyncio
async def test_compact_is_codex_own_and_an_unknown_command_is_refused(stage: Stage) -> None:
    await stage.session.prompt(Prompt("/compact", is_command=True))
    assert stage.pipe.of("thread/compact/start") == [{"threadId": ROOT}]
    with pytest.raises(AgentError):
        await stage.session.prompt(Prompt("/dance", is_command=True))


@pytest.mark.asyncio
async def test_a_decision_that_comes_as_the_turn_ends_is_told_as_not_delivered(stage: Stage) -> None:
    stage.person.decide = lambda _: Decision(Verdict.DENY, "too late")

    def ends(call: dict[str, Any]) -> dict[str, Any]:
        stage.pipe.tell("turn/completed", **turn_ended("interrupted"))
        return {"turnId": call["params"]["expectedTurnId"]}

    stage.pipe.answers["turn/steer"] = ends
    await stage.turn()
    asks(stage, 1)
    await stage.person.until(lambda: bool(stage.person.told_of))
    assert stage.person.told_of == [(stage.person.requests[0].id, False)]
    assert stage.person.withdrawals == []
    assert stage.pipe.replies() == []


@pytest.mark.asyncio
async def test_why_a_question_is_not_answered_is_told_to_the_turn() -> None:
    stage = Stage(Person(answer=Declined("ask me tomorrow")))
    await stage.turn()
    asks(stage, 1, "item/tool/requestUserInput", questions=[{"id": "db", "question": "Which?", "options": None}])
    await stage.pipe.until(lambda: bool(stage.pipe.replies()))
    assert "ask me tomorrow" in stage.pipe.of("turn/steer")[0]["input"][0]["text"]
    await stage.close()


@pytest.mark.asyncio
async def test_late_words_of_a_closed_session_do_not_reach_the_next_one_of_its_thread(stage: Stage) -> None:
    await stage.session.close()
    stage.pipe.tell("item/completed", turnId="turn-1", item=message("an old answer"))
    stage.pipe.tell("turn/completed", **turn_ended())
    await asyncio.sleep(0)
    again = stage.open(ROOT, Person())
    stage.pipe.tell("turn/started", turn={"id": "turn-2", "rootTurnId": "turn-2"})
    events = []
    async for event in again.events:
        events.append(type(event))
        if isinstance(event, TurnStarted):
            break
    assert events == [SessionStarted, TurnStarted]
    await again.close()


@pytest.mark.asyncio
async def test_what_a_thread_tells_before_its_session_listens_is_not_lost(stage: Stage) -> None:
    stage.pipe.tell("thread/name/updated", "thread-new", threadName="Early")
    await asyncio.sleep(0)
    fresh = stage.open("thread-new", Person())
    assert await stage.next(TitleChanged, fresh) == TitleChanged("Early")
    await fresh.close()


@pytest.mark.asyncio
async def test_a_lost_answer_is_no_lost_turn(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CodexSession._call, "__defaults__", (0.05,))

    def begins(_: dict[str, Any]) -> None:
        stage.pipe.tell("turn/started", turn={"id": "turn-1", "rootTurnId": "turn-1"})

    stage.pipe.answers["turn/start"] = begins
    await stage.session.prompt(Prompt("go"))
    stage.pipe.tell("turn/completed", **turn_ended())
    kinds = [type(event) async for event in _until_end(stage)]
    assert kinds == [SessionStarted, TurnStarted, TurnFinished]


@pytest.mark.asyncio
async def test_silence_instead_of_an_answer_is_said(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CodexSession._call, "__defaults__", (0.05,))
    stage.pipe.answers["turn/start"] = lambda _: None
    await stage.session.prompt(Prompt("go"))
    failed = await stage.next(TurnFailed)
    assert isinstance(failed, TurnFailed)
    assert "did not answer" in failed.title


@pytest.mark.asyncio
async def test_a_setting_codex_refuses_is_an_error_for_people(stage: Stage) -> None:
    refusal = {"error": {"code": -32600, "message": "unknown variant `huge`"}}
    stage.pipe.answers["thread/settings/update"] = refusal
    with pytest.raises(AgentError) as caught:
        await stage.session.set_effort("huge")
    assert "huge" not in caught.value.title
    assert "huge" in caught.value.detail


@pytest.mark.asyncio
async def test_another_model_is_said_with_what_it_offers(stage: Stage) -> None:
    await stage.next(SessionStarted)
    stage.pipe.tell("thread/settings/updated", threadSettings={"model": "gpt-6.2-sol", "effort": "low"})
    started = await stage.next(SessionStarted)
    assert isinstance(started, SessionStarted)
    assert started.model == "gpt-6.2-sol"


@pytest.mark.asyncio
async def test_a_session_that_nobody_waits_for_gives_its_process_back_all_the_same(stage: Stage) -> None:
    stage.pipe.answers["thread/unsubscribe"] = lambda _: None
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(stage.session.close(), 0.05)
    assert stage.released == 1
    async with asyncio.timeout(5):
        events = [event async for event in stage.session.events]
    assert isinstance(events[-1], ProcessExited)


@pytest.mark.asyncio
async def test_two_ends_at_once_give_the_process_back_once(stage: Stage) -> None:
    await asyncio.gather(stage.session.close(), stage.session.close())
    assert stage.released == 1


@pytest.mark.asyncio
async def test_a_stop_that_codex_does_not_answer_takes_the_open_request_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.codex.session.STOP_LIMIT", 0.05)
    stage.pipe.answers["turn/interrupt"] = lambda _: None
    stage.person.decide = lambda _: None
    await stage.turn()
    asks(stage, 1)
    await stage.person.until(lambda: bool(stage.person.requests))
    await stage.session.interrupt()
    assert stage.person.withdrawals == [stage.person.requests[0].id]
    assert isinstance(await stage.next(TurnFailed), TurnFailed)
    stage.pipe.tell("turn/completed", **turn_ended("interrupted"))


@pytest.mark.asyncio
async def test_a_request_that_could_not_be_shown_is_refused_and_may_be_asked_again(stage: Stage) -> None:
    def fail(_: PermissionRequest) -> Decision:
        raise RuntimeError("the disk is full")

    stage.person.decide = fail
    await stage.turn()
    asks(stage, 1)
    await stage.pipe.until(lambda: len(stage.pipe.replies()) == 1)
    assert "error" in stage.pipe.replies()[0]
    stage.person.decide = lambda _: DENY
    asks(stage, 1)
    await stage.pipe.until(lambda: len(stage.pipe.replies()) == 2)
    assert stage.pipe.replies()[1]["result"] == {"decision": "decline"}
