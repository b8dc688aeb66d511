"""What only Claude Code does: plans, moved sessions, its own history, work in the background that wakes it up."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agents.bounded_run import run_briefly
from agents.claude.backend import ClaudeBackend
from agents.contract import (
    ImagePart,
    ModeChanged,
    Prompt,
    SessionId,
    SessionSpec,
    SessionStarted,
    TurnFinished,
    TurnStarted,
)
from tests.contract.person import Person
from tests.contract.promises import talking
from tests.contract.rig import Fault, LiveRig, live
from tests.contract.rigs.claude import KIND
from tests.contract.talk import Talk

pytestmark = [pytest.mark.live, pytest.mark.asyncio]
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncIterator[LiveRig]:
    async with live(KIND, tmp_path) as rig:
        yield rig


def backend_of(rig: LiveRig) -> ClaudeBackend:
    backend = KIND.make(rig._place, rig._url, Fault.NONE, rig._spawn, rig._ids)
    assert isinstance(backend, ClaudeBackend)
    return backend


async def test_a_plan_is_shown_and_its_approval_leaves_the_plan_mode(rig: LiveRig) -> None:
    person = Person()
    async with talking(rig, person) as talk:
        await talk.session.set_mode("plan")
        assert (await talk.until(ModeChanged)).mode == "plan"
        await talk.turn("plan")
        assert "Do this" in person.requests[0].plan
        assert talk.all(ModeChanged)[-1].mode == "default"


async def test_work_that_ends_in_the_background_wakes_the_agent_up(rig: LiveRig) -> None:
    async with talking(rig) as talk:
        await talk.turn("short-background")
        woken = await talk.until(TurnStarted)
        assert woken.is_unsolicited
        await talk.until(TurnFinished)


async def test_a_cleared_session_goes_on_under_its_new_id_and_is_resumed_by_it(rig: LiveRig) -> None:
    async with talking(rig) as talk:
        await talk.turn("hello", "with the old talk")
        old = talk.session.session_id
        await talk.session.prompt(Prompt("/clear", is_command=True))
        await talk.end()
        new = talk.session.session_id
        assert new != old
        assert talk.all(SessionStarted)[-1].session_id == new
        await talk.turn("hello", "with the new talk")
    async with talking(rig, resume=new) as talk:
        await talk.turn("hello", "once more")
        last = rig._model.heard[-1].body
        assert "with the new talk" in last
        assert "with the old talk" not in last


async def test_a_session_that_was_opened_and_never_used_can_be_opened_again(rig: LiveRig) -> None:
    backend = backend_of(rig)
    first = await backend.open(SessionSpec(rig.folder, "t1"), Person())
    await first.close()
    assert first.session_id is not None
    again = Talk(await backend.open(SessionSpec(rig.folder, "t1", resume=first.session_id), Person()))
    assert (await again.turn("hello")).text == "Hello **world**."
    assert again.session.session_id == first.session_id
    await again.close()


async def test_a_snapshot_becomes_a_new_session_in_another_folder_and_the_old_one_stays(rig: LiveRig) -> None:
    archive, other = backend_of(rig).archive, rig.folder.parent / "Другая папка"
    other.mkdir()
    assert archive is not None
    async with talking(rig) as talk:
        await talk.turn("hello", "with a secret plan")
        old = talk.session.session_id
    assert old is not None
    snapshot = await archive.export(old, rig.folder, rig.folder.parent / "snapshot")
    assert snapshot.agent_version == "2.1.332"
    assert b"api-request" not in (snapshot.folder / f"{old}.jsonl").read_bytes()
    new = await archive.restore(snapshot, other)
    assert new != old
    talk = Talk(await backend_of(rig).open(SessionSpec(other, "t2", resume=new), Person()))
    await talk.turn("hello", "again")
    assert "with a secret plan" in rig._model.heard[-1].body
    await talk.close()
    assert [stored.id for stored in await archive.list(other)] == [new]
    assert [stored.id for stored in await archive.list(rig.folder)] == [old]
    assert {stored.id for stored in await archive.list(None)} == {old, new}


async def test_a_session_begun_in_a_terminal_is_listed_with_its_title_and_resumed(rig: LiveRig) -> None:
    backend = backend_of(rig)
    command = [*await backend._program(), "-p", "play:hello from the terminal"]
    ran = await run_briefly(command, env=await backend._environment(), timeout=60, cwd=rig.folder)
    assert "Hello" in ran.text
    assert backend.archive is not None
    stored = (await backend.archive.list(rig.folder))[0]
    assert stored.title == "play:hello from the terminal"
    assert not stored.is_live
    async with talking(rig, resume=SessionId(stored.id)) as talk:
        await talk.turn("hello", "from the phone")
        assert "from the terminal" in rig._model.heard[-1].body
        listed = await backend.archive.list(rig.folder)
        assert listed[0].is_live


async def test_a_picture_reaches_the_model(rig: LiveRig) -> None:
    async with talking(rig) as talk:
        await talk.session.prompt(Prompt("play:hello what is this?", (ImagePart(PIXEL, "image/png"),)))
        await talk.end()
        assert '"type": "image"' in rig._model.heard[-1].body


async def test_model_and_effort_change_in_a_running_session(rig: LiveRig) -> None:
    async with talking(rig) as talk:
        await talk.session.set_model("haiku")
        await talk.session.set_effort("low")
        await talk.turn("hello")
        assert "haiku" in rig._model.heard[-1].body.split('"messages"')[0]
        await talk.session.set_model("opus")
        await talk.turn("hello", "again")
        assert '"effort": "low"' in rig._model.heard[-1].body


async def test_two_sessions_do_not_share_a_process(rig: LiveRig) -> None:
    async with talking(rig) as one, talking(rig) as two:
        assert one.session.pid != two.session.pid
        await asyncio.gather(one.turn("hello"), two.turn("hello"))
        await one.close()
        assert (await two.turn("hello", "again")).text == "Hello **world**."
