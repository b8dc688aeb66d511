"""What a thread tells, in the contract's events. Pure: values in, values out."""

from __future__ import annotations

from typing import Any

from agents.codex.translate import RUNS_ON, Translation
from agents.codex.wire.events import parse_event
from agents.contract import (
    AgentEvent,
    AssistantText,
    BackgroundTask,
    BackgroundTasks,
    FailureKind,
    InputConsumed,
    InputId,
    InputReturned,
    Plan,
    PlanStep,
    Quota,
    Retrying,
    TextDelta,
    Thought,
    TitleChanged,
    ToolFinished,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UnknownEvent,
    Usage,
)
from tests.agents.codex.stage import HELPER, ROOT, command, message, turn_ended


class Thread:
    """A translation with a running turn, unless told otherwise."""

    def __init__(self, *, is_running: bool = True) -> None:
        self.translation = Translation(ROOT)
        if is_running:
            self.translation.expect_turn()
            self.tell("turn/started", turn={"id": "turn-1", "rootTurnId": "turn-1"})

    def tell(self, method: str, thread: str = ROOT, **params: Any) -> list[AgentEvent]:
        return self.translation.translate(parse_event(method, {"threadId": thread, "turnId": "turn-1", **params}))

    def piece(self, text: str, item: str = "message-1") -> list[AgentEvent]:
        return self.tell("item/agentMessage/delta", itemId=item, delta=text)

    def end(self, status: str = "completed", error: object = None) -> list[AgentEvent]:
        return self.tell("turn/completed", **turn_ended(status, error=error))


def test_a_turn_we_asked_for_is_no_surprise_and_one_we_did_not_is() -> None:
    thread = Thread(is_running=False)
    thread.translation.expect_turn()
    assert thread.tell("turn/started", turn={"id": "turn-1"}) == [TurnStarted()]
    thread.end()
    assert thread.tell("turn/started", turn={"id": "turn-2"}) == [TurnStarted(is_unsolicited=True)]


def test_the_last_text_is_the_answer() -> None:
    thread = Thread()
    thread.tell("item/completed", item=message("I look first.", "message-1"))
    thread.tell("item/completed", item=message("**done**", "message-2"))
    assert thread.end() == [AssistantText("**done**"), TurnFinished(TurnOutcome.COMPLETED, "**done**")]


def test_a_message_that_was_cut_and_written_again_is_shown_once() -> None:
    thread = Thread()
    assert thread.piece("half an ") == [TextDelta("half an ")]
    thread.tell("item/completed", item=message("half an "))
    retried = thread.tell("error", willRetry=True, error={"message": "Reconnecting... 1/5"})
    assert retried == [Retrying(1, 5, 0.0, "Reconnecting")]
    assert thread.piece("half ", "message-2") == []
    assert thread.piece("an answer", "message-2") == [TextDelta("answer")]
    thread.tell("item/completed", item=message("half an answer", "message-2"))
    assert thread.end() == [AssistantText("half an answer"), TurnFinished(TurnOutcome.COMPLETED, "half an answer")]


def test_a_text_that_comes_back_different_after_a_cut_is_shown_anew() -> None:
    thread = Thread()
    thread.piece("half")
    thread.tell("item/completed", item=message("half"))
    thread.tell("error", willRetry=True, error={"message": "Reconnecting... 1/5"})
    assert thread.piece("Other words", "message-2") == [TextDelta("\n\nOther words")]


def test_text_written_before_a_stop_stays() -> None:
    thread = Thread()
    thread.piece("as far as ")
    thread.piece("this")
    assert thread.end("interrupted") == [
        AssistantText("as far as this"),
        TurnFinished(TurnOutcome.INTERRUPTED, "as far as this"),
    ]


def test_a_command_is_shown_without_the_shell_around_it() -> None:
    thread = Thread()
    started = thread.tell("item/started", item=command())
    assert started == [ToolStarted("item-1", "shell", ToolKind.EXECUTE, "make deploy", "make deploy")]  # type: ignore[arg-type]
    ended = thread.tell("item/completed", item=command(status="completed", aggregatedOutput="ok\n", exitCode=0))
    assert ended == [ToolFinished("item-1", ToolStatus.OK, "ok\n", 0)]  # type: ignore[arg-type]


def test_a_long_command_keeps_its_whole_text_in_the_subject() -> None:
    long = "echo " + "x" * 500
    (started,) = Thread().tell("item/started", item=command(text=long))
    assert isinstance(started, ToolStarted)
    assert started.subject == long
    assert len(started.title) == 120


def test_a_declined_command_was_denied_and_a_failed_one_failed() -> None:
    thread = Thread()
    for status, told in (("declined", ToolStatus.DENIED), ("failed", ToolStatus.FAILED)):
        thread.tell("item/started", item=command(status))
        (ended,) = thread.tell("item/completed", item=command(status, status=status))
        assert isinstance(ended, ToolFinished)
        assert ended.status is told


def test_a_patch_is_shown_as_one_diff() -> None:
    change = {"path": "/project/new.txt", "kind": {"type": "add"}, "diff": "hello\n"}
    item = {"type": "fileChange", "id": "item-1", "status": "completed", "changes": [change]}
    started, ended = Thread().tell("item/completed", item=item)
    assert isinstance(started, ToolStarted)
    assert isinstance(ended, ToolFinished)
    assert (started.kind, started.title) == (ToolKind.EDIT, "change new.txt")
    assert ended.diff == "--- /dev/null\n+++ /project/new.txt\n@@ -0,0 +1,1 @@\n+hello"


def test_what_a_stopped_turn_leaves_open_is_closed() -> None:
    thread = Thread()
    thread.tell("item/started", item=command())
    assert thread.end("interrupted") == [
        ToolFinished("item-1", ToolStatus.CANCELLED),  # type: ignore[arg-type]
        TurnFinished(TurnOutcome.INTERRUPTED),
    ]
    assert thread.tell("item/completed", item=command(status="failed")) == []


def test_a_command_that_outlives_its_turn_is_background_work_until_it_ends() -> None:
    thread = Thread()
    thread.tell("item/started", item=command())
    task = BackgroundTask("item-1", "make deploy")
    assert thread.end() == [
        ToolFinished("item-1", ToolStatus.OK, RUNS_ON),  # type: ignore[arg-type]
        BackgroundTasks((task,)),
        TurnFinished(TurnOutcome.COMPLETED),
    ]
    assert thread.tell("item/completed", item=command(status="completed")) == [BackgroundTasks(())]


def test_a_steered_text_is_read_or_comes_back() -> None:
    thread = Thread()
    thread.translation.steered(InputId("read"))
    thread.translation.steered(InputId("late"))
    item = {"type": "userMessage", "id": "u", "clientId": "read", "content": []}
    assert thread.tell("item/started", item=item) == [InputConsumed(InputId("read"))]
    assert thread.tell("item/completed", item=item) == []
    returned, _ = thread.end("interrupted")
    assert isinstance(returned, InputReturned)
    assert returned.input_id == "late"


def test_a_helpers_words_are_not_the_answer_and_its_tools_have_a_parent() -> None:
    thread = Thread()
    link = {"type": "subAgentActivity", "id": "a", "kind": "started", "agentThreadId": HELPER, "agentPath": "/root/bob"}
    assert thread.tell("item/started", item=link) == [
        ToolStarted(HELPER, "helper", ToolKind.OTHER, "helper bob", "/root/bob")  # type: ignore[arg-type]
    ]
    (started,) = thread.tell("item/started", HELPER, item=command("item-9"))
    assert isinstance(started, ToolStarted)
    assert started.parent == HELPER
    assert thread.tell("item/completed", HELPER, item=message("helper's result")) == []
    assert thread.tell("item/agentMessage/delta", HELPER, itemId="m", delta="helper") == []
    assert thread.tell("turn/completed", HELPER, **turn_ended(turn="turn-9")) == [
        ToolFinished("item-9", ToolStatus.CANCELLED)  # type: ignore[arg-type]
    ]
    assert thread.translation.turn_id == "turn-1"


def test_a_helper_that_works_on_after_the_answer_is_background_work() -> None:
    thread = Thread()
    link = {"type": "subAgentActivity", "id": "a", "agentThreadId": HELPER, "agentPath": "/root/bob"}
    thread.tell("item/started", item={**link, "kind": "started"})
    assert BackgroundTasks((BackgroundTask(HELPER, "helper bob"),)) in thread.end()
    assert thread.tell("item/completed", item={**link, "kind": "completed"}) == [BackgroundTasks(())]


def test_usage_is_summed_over_the_turn_and_context_is_the_last() -> None:
    thread = Thread()
    for total in (120, 150):
        last = {"inputTokens": 100, "outputTokens": 20, "totalTokens": total}
        thread.tell("thread/tokenUsage/updated", tokenUsage={"last": last, "modelContextWindow": 1000})
    (ended,) = thread.end()
    assert isinstance(ended, TurnFinished)
    assert ended.usage == Usage(200, 40, context_used=150, context_window=1000)


def test_an_allowance_that_is_not_told_does_not_overwrite_what_is_known() -> None:
    thread = Thread()
    told = {"primary": {"usedPercent": 43, "windowDurationMins": 300, "resetsAt": 1796030231}, "secondary": None}
    (quota,) = thread.tell("account/rateLimits/updated", rateLimits=told)
    assert isinstance(quota, Quota)
    assert [(window.name, window.used) for window in quota.windows] == [("5 h", 0.43)]
    nothing = {"primary": None, "secondary": None}
    assert thread.tell("account/rateLimits/updated", rateLimits=nothing) == []


def test_a_used_up_allowance_says_when_it_is_reset() -> None:
    thread = Thread()
    told = {"primary": {"usedPercent": 100, "windowDurationMins": 300, "resetsAt": 1796030231}}
    thread.tell("account/rateLimits/updated", rateLimits=told)
    error = {"message": "You've hit your limit.", "codexErrorInfo": "usageLimitExceeded"}
    (failed,) = thread.end("failed", error)
    assert isinstance(failed, TurnFailed)
    assert failed.kind is FailureKind.QUOTA
    assert failed.resets_at is not None
    assert failed.resets_at.timestamp() == 1796030231


def test_a_question_nobody_waits_for_is_a_card_and_not_a_text_too() -> None:
    thread = Thread()
    asked = message("Red or blue?", questions=[{"title": "Red or blue?", "options": ["Red", "Blue"]}])
    thread.tell("item/completed", item=asked)
    assert thread.tell("thread/tokenUsage/updated", tokenUsage={}) == []


def test_a_plan_is_the_answer_of_planning() -> None:
    thread = Thread()
    assert thread.tell("item/plan/delta", itemId="p", delta="# Plan") == [TextDelta("# Plan")]
    thread.tell("item/completed", item={"type": "plan", "id": "p", "text": "# Plan"})
    assert thread.end() == [AssistantText("# Plan"), TurnFinished(TurnOutcome.COMPLETED, "# Plan")]


def test_thoughts_steps_and_names_are_told() -> None:
    thread = Thread()
    assert thread.tell("item/completed", item={"type": "reasoning", "id": "r", "summary": ["a", "b"]}) == [
        Thought("a\n\nb")
    ]
    steps = [{"step": "one", "status": "completed"}, {"step": "two", "status": "inProgress"}]
    assert thread.tell("turn/plan/updated", plan=steps) == [
        Plan((PlanStep("one", is_done=True), PlanStep("two", is_current=True)))
    ]
    assert thread.tell("thread/name/updated", threadName="Deploy") == [TitleChanged("Deploy")]


def test_what_nobody_knows_is_an_event_and_no_error() -> None:
    thread = Thread()
    (unknown,) = thread.tell("thread/ofTomorrow", value=1)
    assert isinstance(unknown, UnknownEvent)
    assert unknown.name == "thread/ofTomorrow"
    (item,) = thread.tell("item/completed", item={"type": "hologram", "id": "h"})
    assert isinstance(item, UnknownEvent)
    assert item.name == "item hologram"


def test_fields_of_wrong_types_read_as_empty() -> None:
    thread = Thread()
    assert thread.tell("item/completed", item={"type": "agentMessage", "id": 7, "text": ["x"]}) == []
    assert thread.tell("item/started", item=None) == []
    assert thread.translation.translate(parse_event("turn/started", None)) == []
    assert thread.tell("account/rateLimits/updated", rateLimits={"primary": {"usedPercent": "x"}}) == []


def test_a_lost_process_closes_what_is_open() -> None:
    thread = Thread()
    thread.piece("half")
    thread.tell("item/started", item=command())
    thread.translation.steered(InputId("s"))
    kinds = [type(event) for event in thread.translation.lost()]
    assert kinds == [AssistantText, ToolFinished, InputReturned]
    assert thread.translation.turn_id is None
