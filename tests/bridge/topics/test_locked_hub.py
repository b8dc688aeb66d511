"""A locked hub and whoever holds the phone: nothing in the chat begins work or allows anything; a denial counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.contract import Decision, FailureKind, TurnFailed, Verdict
from bridge.inbound import FileKind, IncomingFile, ReactionChange
from bridge.presses import works_locked
from tests.bridge.pending.stage import Shown
from tests.bridge.topics.stage import ANNA, CHAT, Stage, stage

Try = Callable[[Stage], Awaitable[object]]
PHOTO = IncomingFile(FileKind.PHOTO, "F1", size=9)


def given(hub: Stage) -> list[str]:
    """All that any agent was ever told to do."""
    sessions = (*hub.claude.sessions, *hub.codex.sessions)
    return [prompt.text for session in sessions for prompt in session.prompts] + [
        prompt.text for session in sessions for _, prompt in session.steered
    ]


def card(hub: Stage) -> Shown:
    """The newest card of a request."""
    return [shown for key, shown in hub.delivery.shown.items() if key.startswith("card:")][-1]


# --- no work


async def album(hub: Stage) -> None:
    for caption, file_id in (("look at these", "F1"), ("", "F2")):
        await hub.say(caption, files=(IncomingFile(FileKind.PHOTO, file_id, size=9),), album="g1")


TEXTS: dict[str, Try] = {
    "a text": lambda hub: hub.say("do more"),
    "a text with a file": lambda hub: hub.say("look", files=(PHOTO,)),
    "an album": album,
    "a command of the agent's own": lambda hub: hub.say("/compact"),
    "/new": lambda hub: hub.say("/new codex"),
    "/agent": lambda hub: hub.say("/agent codex"),
    "/reset": lambda hub: hub.say("/reset"),
    "/mode": lambda hub: hub.say("/mode bypassPermissions"),
    "/model": lambda hub: hub.say("/model large"),
    "/resume": lambda hub: hub.say("/resume session-1"),
    "/restore": lambda hub: hub.say("/restore blue"),
    "/tell": lambda hub: hub.say("/tell mate1 do more"),
    "/steer to a running turn": lambda hub: hub.say("and also this", reply_to=1),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("is_running", [False, True])
@pytest.mark.parametrize("way", TEXTS)
async def test_nothing_sent_to_a_locked_hub_reaches_an_agent(tmp_path: Path, way: str, is_running: bool) -> None:
    async with stage(tmp_path) as hub:
        hub.messenger.files.update({"F1": b"a", "F2": b"b"})
        session = await hub.started_turn("first")
        if not is_running:
            session.answer()
            await hub.settle()
        calls = list(session.calls)
        await hub.turn_lock(is_locked=True)
        await TEXTS[way](hub)
        await hub.pass_time(30)
        session.answer()
        await hub.pass_time(30)
        assert given(hub) == ["first"]
        assert session.calls == calls
        assert hub.codex.sessions == []


async def waiting_text(hub: Stage) -> None:
    session = await hub.started_turn("first")
    session.takes_steering = False
    await hub.say("second")
    session.takes_steering = True


async def held_text(hub: Stage) -> None:
    await waiting_text(hub)
    await hub.say("/stop")
    await hub.pass_time(5)


async def failed_turn(hub: Stage) -> None:
    session = await hub.started_turn("first")
    session.say(TurnFailed(FailureKind.OTHER, "It broke."))
    await hub.settle()


async def dead_agent(hub: Stage) -> None:
    session = await hub.started_turn("first")
    session.tool()
    await hub.settle()
    session.die()
    await hub.settle()


async def crashed_hub(hub: Stage) -> None:
    await hub.started_turn("first")
    await hub.end()
    await hub.begin()


BUTTONS: dict[str, tuple[Try, str]] = {
    "a waiting text": (waiting_text, "Give it now"),
    "a held text": (held_text, "Run"),
    "a failed turn": (failed_turn, "Try again"),
    "a turn whose agent died": (dead_agent, "Continue"),
    "a turn that a restart cut off": (crashed_hub, "Continue"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", BUTTONS)
async def test_a_locked_hubs_buttons_begin_nothing_say_so_and_work_once_it_is_open(tmp_path: Path, name: str) -> None:
    prepare, label = BUTTONS[name]
    async with stage(tmp_path) as hub:
        await prepare(hub)
        before = given(hub)
        await hub.turn_lock(is_locked=True)
        assert "locked" in await hub.press(label)
        await hub.pass_time(30)
        assert given(hub) == before
        assert not any("Given to the agent" in text for text in hub.texts())
        await hub.turn_lock(is_locked=False)
        await hub.press(label)
        await hub.pass_time(5)
        assert len(given(hub)) == len(before) + 1


@pytest.mark.asyncio
async def test_what_was_waiting_can_be_dropped_while_locked(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await held_text(hub)
        await hub.turn_lock(is_locked=True)
        await hub.press("Drop")
        await hub.turn_lock(is_locked=False)
        await hub.pass_time(30)
        assert given(hub) == ["first"]


def test_a_button_that_nobody_listed_does_not_work_locked() -> None:
    assert not works_locked("something new", "drop")
    assert not works_locked("held", "run")
    assert works_locked("all", "turn-1")


@pytest.mark.asyncio
async def test_an_edit_of_a_waiting_text_does_not_run_while_locked(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("first")
        session.takes_steering = False
        said = await hub.say("second")
        await hub.turn_lock(is_locked=True)
        await hub.say("second, but worse", edits=said.message_id)
        session.answer()
        await hub.pass_time(30)
        assert given(hub) == ["first"]


@pytest.mark.asyncio
async def test_a_turn_that_waits_for_a_limit_does_not_go_on_by_itself_while_locked(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        resets = datetime.fromtimestamp(hub.clock.now() + 3600, UTC)
        session.say(TurnFailed(FailureKind.QUOTA, "The limit is reached.", resets_at=resets))
        await hub.settle()
        await hub.turn_lock(is_locked=True)
        await hub.pass_time(3800, step=100)
        assert given(hub) == ["build it"]
        await hub.turn_lock(is_locked=False)
        await hub.pass_time(30)
        assert given(hub) == ["build it", "build it"]


@pytest.mark.asyncio
async def test_a_resting_session_is_not_woken_while_locked_and_its_text_runs_once_it_is_open(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("first")
        session.answer()
        await hub.pass_time(2000, step=50)
        assert session.is_closed
        await hub.turn_lock(is_locked=True)
        await hub.say("wake up")
        await hub.pass_time(30)
        assert len(hub.claude.sessions) == 1
        await hub.turn_lock(is_locked=False)
        await hub.pass_time(5)
        assert given(hub) == ["first", "wake up"]


# --- no yes


async def asked(hub: Stage, command: str = "make") -> asyncio.Task[Decision]:
    """A turn whose agent waits for a permission."""
    session = await hub.started_turn("first")
    asking = asyncio.create_task(session.ask_permission(command=command))
    await hub.until(lambda: any(key.startswith("card:") for key in hub.delivery.shown))
    return asking


async def press(hub: Stage, answer: str) -> None:
    data = card(hub).keyboard[0][0].data
    await hub.press_data(f"ask:{answer}:{data.rpartition(':')[2]}", shown=card(hub))


async def from_list(hub: Stage) -> None:
    await hub.say("/approvals")
    await hub.press("🔥 1" if "🔥 1" in hub.buttons() else "✅ 1")


async def react(hub: Stage) -> None:
    await hub.hub.handle(ReactionChange(next(hub.numbers), CHAT, card(hub).id, ANNA, ("👍",)))


async def older_card(hub: Stage) -> None:
    old = card(hub)
    hub.hub.context.desk.show_again()
    data = card(hub).keyboard[0][0].data
    await hub.press_data(data, shown=old)


YES: dict[str, Try] = {
    "Allow": lambda hub: press(hub, "allow"),
    "Really run": lambda hub: press(hub, "really"),
    "Allow for this session": lambda hub: press(hub, "session"),
    "a thumb": react,
    "/approve": lambda hub: hub.say("/approve"),
    "/approve in reply": lambda hub: hub.say("/approve", reply_to=card(hub).id),
    "/approve as a caption": lambda hub: hub.say("/approve", reply_to=card(hub).id, files=(PHOTO,)),
    "/approve by an edit": lambda hub: hub.say("/approve", reply_to=card(hub).id, edits=5001),
    "yes": lambda hub: hub.say("yes"),
    "yes in reply": lambda hub: hub.say("yes", reply_to=card(hub).id),
    "the list": from_list,
    "a card that was shown again below": older_card,
}


@pytest.mark.asyncio
@pytest.mark.parametrize("command", ["make", "rm -r build"])
@pytest.mark.parametrize("way", YES)
async def test_nothing_is_allowed_by_the_chat_of_a_locked_hub_and_a_denial_still_is(
    tmp_path: Path, way: str, command: str
) -> None:
    async with stage(tmp_path, allows_session_scope=True) as hub:
        hub.messenger.files["F1"] = b"a"
        asking = await asked(hub, command)
        await hub.turn_lock(is_locked=True)
        for _ in range(2):  # once to arm it, once to run it
            await YES[way](hub)
            await hub.pass_time(5)
        assert not asking.done()
        assert given(hub) == ["first"]
        await hub.press("⛔ Deny", shown=card(hub))
        assert (await asking).verdict is Verdict.DENY


@pytest.mark.asyncio
async def test_allow_all_shown_of_a_list_made_before_allows_nothing_once_locked(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        first = await asked(hub)
        second = asyncio.create_task(hub.session.ask_permission("ask2", "make test"))
        await hub.settle()
        await hub.say("/approvals")
        await hub.turn_lock(is_locked=True)
        assert "locked" in await hub.press("Allow all shown")
        assert not first.done()
        assert not second.done()
        await hub.say("/deny")
        for number in (2, 1):
            await hub.press(f"⛔ {number}")
        assert {(await first).verdict, (await second).verdict} == {Verdict.DENY}


@pytest.mark.asyncio
async def test_a_yes_from_before_the_lock_is_not_asked_for_twice_and_a_second_step_after_it_is_refused(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as hub:
        asking = await asked(hub, "rm -r build")
        await press(hub, "allow")
        await hub.turn_lock(is_locked=True)
        await press(hub, "really")
        assert not asking.done()
        await hub.turn_lock(is_locked=False)
        await press(hub, "really")
        assert (await asking).verdict is Verdict.ALLOW
