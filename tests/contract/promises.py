"""What every kind of agent promises, each written once against the contract.

A promise is a coroutine over a ``Rig``. Its name is its key in ``table.toml``, in the names of recorded exchanges and
in the tests; its docstring is its line in ``docs/protocols.md``. A promise looks at events, at the person and at the
side effects a rig can tell, never at a protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from agents.contract import (
    AgentError,
    AgentNotLoggedInError,
    AgentSession,
    AssistantText,
    BackgroundTasks,
    Decision,
    Declined,
    InputConsumed,
    InputReturned,
    ProcessExited,
    Prompt,
    Retrying,
    SessionId,
    SessionNotFoundError,
    SessionStarted,
    TextDelta,
    ToolFinished,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnFailed,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    UnknownEvent,
    Verdict,
)
from tests.contract.person import Person
from tests.contract.rig import Fault, Rig
from tests.contract.talk import Talk
from tests.models.script import LARGE, SLEEP

REASON = "not before the backup is done"
DENY = Decision(Verdict.DENY)
NOWHERE = SessionId("00000000-0000-4000-8000-000000000000")


@dataclass(frozen=True, slots=True)
class Promise:
    """``is_live_only``: about real processes, so a recording can't show it."""

    name: str
    text: str
    keep: Callable[[Rig], Awaitable[None]]
    is_live_only: bool


PROMISES: dict[str, Promise] = {}


def _add(keep: Callable[[Rig], Awaitable[None]], *, is_live_only: bool = False) -> None:
    text = (keep.__doc__ or "").strip().rstrip(".")
    PROMISES[keep.__name__] = Promise(keep.__name__, text, keep, is_live_only)


def promise(keep: Callable[[Rig], Awaitable[None]]) -> Callable[[Rig], Awaitable[None]]:
    _add(keep)
    return keep


def live_promise(keep: Callable[[Rig], Awaitable[None]]) -> Callable[[Rig], Awaitable[None]]:
    _add(keep, is_live_only=True)
    return keep


@asynccontextmanager
async def talking(rig: Rig, person: Person | None = None, resume: SessionId | None = None) -> AsyncIterator[Talk]:
    """An open session that is closed at the end, whatever happens."""
    talk = Talk(await rig.open(person or Person(), resume))
    try:
        yield talk
    finally:
        await talk.close()


async def started(rig: Rig, person: Person, talk: Talk) -> None:
    """Until the model's first command waits for the person."""
    await talk.say("run")
    await person.until(lambda: bool(person.requests))


def id_of(session: AgentSession) -> SessionId:
    assert session.session_id is not None
    return session.session_id


@promise
async def starts(rig: Rig) -> None:
    """A session starts and says its id, its folder and what it offers."""
    async with talking(rig) as talk:
        first = await talk.until(SessionStarted)
        assert first.session_id == talk.session.session_id
        assert first.cwd == rig.folder
        assert talk.session.pid is not None


@promise
async def streams(rig: Rig) -> None:
    """Text arrives in pieces, then whole, then as the answer of the turn."""
    async with talking(rig) as talk:
        ended = await talk.turn("hello")
        assert isinstance(next(e for e in talk.events if isinstance(e, TurnStarted | TextDelta)), TurnStarted)
        assert "".join(delta.text for delta in talk.all(TextDelta)) == "Hello **world**."
        assert talk.all(AssistantText)[-1].text == ended.text == "Hello **world**."
        assert ended.outcome is TurnOutcome.COMPLETED


@promise
async def reports_tools(rig: Rig) -> None:
    """A tool call is reported when it starts and when it has finished."""
    async with talking(rig) as talk:
        await talk.turn("run")
        begun = next(event for event in talk.all(ToolStarted) if event.kind is ToolKind.EXECUTE)
        ended = next(event for event in talk.all(ToolFinished) if event.tool_id == begun.tool_id)
        assert "touch made.txt" in begun.subject
        assert ended.status is ToolStatus.OK
        assert talk.events.index(begun) < talk.events.index(ended)


@promise
async def allows_once(rig: Rig) -> None:
    """A command waits for the person, is shown exactly, and runs when allowed - once: the next one asks again."""
    person = Person()
    async with talking(rig, person) as talk:
        assert (await talk.turn("run")).text == "finished"
        asked = person.requests[0]
        assert asked.kind is ToolKind.EXECUTE
        assert "touch made.txt" in asked.subject
        assert rig.has_file("made.txt")
        await talk.turn("run", "again")
        assert len(person.requests) == 2
        await person.until(lambda: len(person.told_of) == 2)
        assert person.told_of == [(request.id, True) for request in person.requests]


@promise
async def denies(rig: Rig) -> None:
    """A denied command does not run, and the agent is told so."""
    person = Person(lambda _: DENY)
    async with talking(rig, person) as talk:
        await talk.say("run")
        await talk.end()
        assert not rig.has_file("made.txt")
        assert talk.all(ToolFinished)[-1].status is ToolStatus.DENIED
        assert person.told_of == [(person.requests[0].id, True)]


@promise
async def denies_with_reason(rig: Rig) -> None:
    """The reason of a denial reaches the model."""
    person = Person(lambda _: Decision(Verdict.DENY, REASON))
    async with talking(rig, person) as talk:
        await talk.say("run")
        await talk.end()
        assert rig.model_heard(REASON)
        assert not rig.has_file("made.txt")


@promise
async def denies_on_close(rig: Rig) -> None:
    """A request that is still open when the session closes is a denial."""
    person = Person(lambda _: None)
    async with talking(rig, person) as talk:
        await started(rig, person, talk)
    assert not rig.has_file("made.txt")
    assert talk.all(ProcessExited)[-1].was_expected


@promise
async def asks_in_parallel(rig: Rig) -> None:
    """Two commands of one answer are two requests with two decisions."""
    person = Person(lambda ask: DENY if "two.txt" in ask.subject else Decision(Verdict.ALLOW))
    async with talking(rig, person) as talk:
        await talk.say("two")
        await talk.end()
        assert len({request.id for request in person.requests}) == 2
        assert rig.has_file("one.txt")
        assert not rig.has_file("two.txt")


@promise
async def shows_changes(rig: Rig) -> None:
    """A change of a file is shown as a diff before it is made."""
    person = Person()
    async with talking(rig, person) as talk:
        await talk.turn("write")
        edits = [request for request in person.requests if request.kind is ToolKind.EDIT]
        assert "+one" in edits[0].diff
        assert "-two" in edits[-1].diff
        assert "+three" in edits[-1].diff
        assert rig.has_file("notes.txt")


@promise
async def asks_questions(rig: Rig) -> None:
    """A question reaches the person with its choices, and the answer reaches the model."""
    person = Person(answer="httpx")
    async with talking(rig, person) as talk:
        assert (await talk.turn("ask")).text == "thanks"
        question = person.questions[0].questions[0]
        assert question.text == "Which library?"
        assert [choice.label for choice in question.choices][:2] == ["httpx", "requests"]
        assert rig.model_heard("httpx")


@promise
async def takes_no_for_an_answer(rig: Rig) -> None:
    """A question may be declined, and the turn goes on."""
    person = Person(answer=Declined("ask me tomorrow"))
    async with talking(rig, person) as talk:
        await talk.say("ask")
        assert isinstance(await talk.end(), TurnFinished)
        assert len(person.questions) == 1


@promise
async def steers(rig: Rig) -> None:
    """A text sent into a running turn reaches the model in that turn, and it is said that it did."""
    async with talking(rig) as talk:
        await talk.say("nap")
        await talk.until(ToolStarted)
        input_id = await talk.session.steer(Prompt("also look at the tests"))
        assert input_id is not None
        assert (await talk.until(InputConsumed)).input_id == input_id
        await talk.end()
        assert rig.model_heard("also look at the tests")


@promise
async def returns_what_it_did_not_read(rig: Rig) -> None:
    """A text that was sent into a turn and not read when the turn was stopped comes back."""
    async with talking(rig) as talk:
        await talk.say("slow")
        await talk.until(TextDelta)
        input_id = await talk.session.steer(Prompt("this comes too late"))
        await talk.session.interrupt()
        assert (await talk.until(InputReturned)).input_id == input_id
        await talk.end()


@promise
async def stops_text(rig: Rig) -> None:
    """A turn is stopped in the middle of its text."""
    async with talking(rig) as talk:
        await talk.say("slow")
        await talk.until(TextDelta)
        await talk.session.interrupt()
        ended = await talk.end()
        assert isinstance(ended, TurnFinished)
        assert ended.outcome is TurnOutcome.INTERRUPTED


@promise
async def stops_commands(rig: Rig) -> None:
    """A turn is stopped in the middle of a command, which ends with it."""
    person = Person()
    async with talking(rig, person) as talk:
        await talk.say("sleep")
        await talk.until(ToolStarted, lambda tool: SLEEP in tool.subject)
        await person.until(lambda: bool(person.told_of))
        await asyncio.sleep(0.2)  # the command starts after it is allowed
        await talk.session.interrupt()
        ended = await talk.end()
        assert isinstance(ended, TurnFinished)
        assert ended.outcome is TurnOutcome.INTERRUPTED
        assert talk.all(ToolFinished)[-1].status is not ToolStatus.OK


@promise
async def stops_while_asking(rig: Rig) -> None:
    """A turn is stopped while a request is open: the request is taken back and nothing runs."""
    person = Person(lambda _: None)
    async with talking(rig, person) as talk:
        await started(rig, person, talk)
        await talk.session.interrupt()
        ended = await talk.end()
        assert isinstance(ended, TurnFinished)
        assert ended.outcome is TurnOutcome.INTERRUPTED
        await person.until(lambda: bool(person.withdrawals))
        assert person.withdrawals == [person.requests[0].id]
        assert not rig.has_file("made.txt")


@promise
async def goes_on(rig: Rig) -> None:
    """After a stop the same session takes the next task."""
    async with talking(rig) as talk:
        await talk.say("slow")
        await talk.until(TextDelta)
        await talk.session.interrupt()
        await talk.end()
        assert (await talk.turn("hello")).text == "Hello **world**."


@promise
async def ignores_a_stop_when_idle(rig: Rig) -> None:
    """A stop without a turn changes nothing."""
    async with talking(rig) as talk:
        await talk.session.interrupt()
        assert (await talk.turn("hello")).text == "Hello **world**."


@promise
async def sends_files(rig: Rig) -> None:
    """The agent hands a file to the person and is told what became of it."""
    person = Person()
    async with talking(rig, person) as talk:
        await talk.turn("send")
        assert [(file.path.name, file.caption) for file in person.files] == [("report.txt", "The report")]
        assert rig.model_heard("The person has report.txt now.")


@promise
async def carries_large_lines(rig: Rig) -> None:
    """An answer of three megabytes in one line arrives whole."""
    async with talking(rig) as talk:
        assert (await talk.turn("large")).text == "x" * LARGE


@promise
async def survives_stray_text(rig: Rig) -> None:
    """Text on the agent's stdout that is no message is left out."""
    async with talking(rig) as talk:
        rig.slip(b"Warning: this is no message", b"\x1b[2K\xff\xfe")
        assert (await talk.turn("hello")).text == "Hello **world**."


@promise
async def survives_unknown_events(rig: Rig) -> None:
    """A message nobody knows is an event of its own, not an error."""
    async with talking(rig) as talk:
        rig.slip(rig.kind.unknown)
        assert (await talk.turn("hello")).text == "Hello **world**."
        assert len(talk.all(UnknownEvent)) == 1


@promise
async def survives_malformed_lines(rig: Rig) -> None:
    """A broken message is left out."""
    async with talking(rig) as talk:
        rig.slip(rig.kind.malformed)
        assert (await talk.turn("hello")).text == "Hello **world**."


@promise
async def resumes_after_a_crash(rig: Rig) -> None:
    """A program that is killed in the middle of a turn is resumed with what was said before."""
    async with talking(rig) as talk:
        await talk.turn("hello", "with the first task")
        session_id = id_of(talk.session)
        await talk.say("slow")
        await talk.until(TextDelta)
        await rig.kill(talk.session)
        assert not (await talk.until(ProcessExited)).was_expected
    async with talking(rig, resume=session_id) as talk:
        assert (await talk.turn("hello", "with the second task")).text == "Hello **world**."
        assert talk.session.session_id == session_id
        assert rig.model_heard("with the first task")


@promise
async def forgets_requests_of_the_dead(rig: Rig) -> None:
    """A request of a program that died is never reported as delivered."""
    person = Person(lambda _: None)
    async with talking(rig, person) as talk:
        await started(rig, person, talk)
        await rig.kill(talk.session)
        await talk.until(ProcessExited)
    assert all(not delivered for _, delivered in person.told_of)
    assert not rig.has_file("made.txt")


@promise
async def says_why_it_did_not_start(rig: Rig) -> None:
    """A program that ends at once is an error with the program's own words."""
    rig.fault = Fault.EXITS
    with pytest.raises(AgentError) as caught:
        await rig.open(Person())
    assert "no such configuration" in caught.value.detail
    assert caught.value.hint


@promise
async def says_that_it_has_no_account(rig: Rig) -> None:
    """A missing login is named before the first task, with the command that mends it."""
    rig.fault = Fault.NO_LOGIN
    with pytest.raises(AgentNotLoggedInError) as caught:
        await rig.open(Person())
    assert caught.value.hint


@promise
async def says_that_a_session_is_unknown(rig: Rig) -> None:
    """Resuming a session that does not exist is an error of its own."""
    with pytest.raises(SessionNotFoundError):
        await rig.open(Person(), NOWHERE)


@promise
async def tells_of_retries(rig: Rig) -> None:
    """A refused request that the agent repeats by itself is reported while it waits."""
    async with talking(rig) as talk:
        assert (await talk.turn("limited")).text == "recovered"
        assert talk.all(Retrying)[0].attempt >= 1


@promise
async def fails_openly(rig: Rig) -> None:
    """A turn that fails says why, and the session goes on."""
    async with talking(rig) as talk:
        await talk.say("refused")
        ended = await talk.end()
        assert isinstance(ended, TurnFailed)
        assert "scripted refusal" in ended.detail
        assert (await talk.turn("hello")).text == "Hello **world**."


@promise
async def takes_texts_literally(rig: Rig) -> None:
    """A text with ``@path`` or a leading slash reaches the model as text and reads or runs nothing."""
    (rig.folder / "secret.txt").write_text("the password is swordfish")
    async with talking(rig) as talk:
        await talk.session.prompt(Prompt("/clear look at @secret.txt"))
        await talk.end()
        assert rig.model_heard("/clear look at @secret.txt")
        assert not rig.model_heard("swordfish")


@promise
async def reports_background_work(rig: Rig) -> None:
    """What goes on after a turn is known."""
    async with talking(rig) as talk:
        await talk.turn("background")
        assert any(event.tasks for event in talk.all(BackgroundTasks))


@live_promise
async def leaves_nothing_behind(rig: Rig) -> None:
    """Closing a session ends every process that it started, also those in the background."""
    async with talking(rig) as talk:
        await talk.turn("background")
        tree = rig.tree(talk.session)
        assert len(tree) > 1
    assert [record for record in tree if record.is_alive] == []
