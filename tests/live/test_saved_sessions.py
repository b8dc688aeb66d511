"""A session saved in one topic goes on in another, in another folder and with another home: the model gets the past.

The real programs with a scripted model; what is carried is the hub's own shelf and parcel.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.contract import AgentBackend, AgentError, AgentLaunch, SessionArchive, SessionId, SessionSpec, Snapshot
from agents.processes import spawn
from bridge.snapshots import Saved, Shelf
from bridge.snapshots.parcel import pack, unpack
from tests.bridge.clocks import HandClock
from tests.contract.exchange import Ids
from tests.contract.person import Person
from tests.contract.rig import Fault, Kind, Place, make_place
from tests.contract.rigs import claude, codex, demo, hermes, opencode, qwen
from tests.contract.talk import Talk
from tests.models.script import SCRIPTS, ScriptedModel

pytestmark = pytest.mark.live
PAST = "the plan of the first topic is ultramarine"
SAME_HOME = [claude.KIND, codex.KIND, qwen.KIND, hermes.KIND, demo.KIND]
OTHER_HOME = [claude.KIND, codex.KIND, qwen.KIND, demo.KIND]


class FreshIds(Ids):
    """Random ids: Claude Code drops a prompt whose id the restored history holds already."""

    def __call__(self) -> str:
        return str(uuid.uuid4())


@asynccontextmanager
async def agent(kind: Kind, place: Place, url: str) -> AsyncIterator[AgentBackend]:
    backend = kind.make(place, url, Fault.NONE, spawn, FreshIds())
    try:
        yield backend
    finally:
        await backend.close()


def archive_of(backend: AgentBackend) -> SessionArchive:
    assert backend.archive is not None
    return backend.archive


async def turn(backend: AgentBackend, cwd: Path, text: str, resume: SessionId | None = None) -> SessionId:
    """One turn in ``cwd``; returns the session's id."""
    talk = Talk(await backend.open(SessionSpec(cwd, "topic1", resume=resume), Person()))
    try:
        await talk.turn("hello", text)
        session_id = talk.session.session_id
        assert session_id is not None
        return session_id
    finally:
        await talk.close()


def shelf_in(folder: Path) -> Shelf:
    ids = itertools.count(1)
    return Shelf(folder, HandClock(), lambda: f"id{next(ids):06}")


async def save(backend: AgentBackend, session_id: SessionId, cwd: Path, shelf: Shelf) -> Saved:
    async def export(to: Path) -> Snapshot:
        return await archive_of(backend).export(session_id, cwd, to)

    return await shelf.add(export, "plan", (await backend.probe()).version)


def last_heard(kind: Kind, model: ScriptedModel, place: Place, session_id: SessionId) -> str:
    """What the model was last given as the conversation; the demo agent has no model, only its memory."""
    if kind is demo.KIND:
        return (demo.sessions(place) / f"{session_id}.jsonl").read_text(encoding="utf-8")
    return "\n".join(said.text for said in model.heard[-1].conversation)


def no_login_in(saved: Saved, shelf: Shelf, secrets: Sequence[bytes] = (b"dummy",)) -> bool:
    files = shelf.open(saved).folder.rglob("*")
    return not any(secret in file.read_bytes() for file in files if file.is_file() for secret in secrets)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", SAME_HOME, ids=lambda kind: kind.name)
async def test_a_saved_session_knows_its_past_in_another_topic_and_folder(kind: Kind, tmp_path: Path) -> None:
    place, model, shelf = make_place(tmp_path / "run"), ScriptedModel(SCRIPTS), shelf_in(tmp_path / "shelf")
    other = tmp_path / "run" / "other project"
    other.mkdir()
    with kind.serve(model, place) as url:
        async with agent(kind, place, url) as backend:
            first = await turn(backend, place.folder, PAST)
            saved = await save(backend, first, place.folder, shelf)
            await turn(backend, place.folder, "after the save: vermilion", first)
            restored = await archive_of(backend).restore(shelf.open(saved), other)
            assert restored != first
            assert await turn(backend, other, "what was the plan?", restored) == restored
            heard = last_heard(kind, model, place, restored)
            assert PAST in heard
            assert "vermilion" not in heard, "the saved session was not frozen"
            stored = {one.id: one.cwd.resolve() for one in await archive_of(backend).list(other)}
            assert stored.get(restored) == other.resolve()
    assert no_login_in(saved, shelf)


@pytest.mark.asyncio
async def test_an_acp_agent_that_can_fork_saves_and_restores_in_the_sessions_own_folder(tmp_path: Path) -> None:
    kind = opencode.KIND
    place, model, shelf = make_place(tmp_path / "run"), ScriptedModel(SCRIPTS), shelf_in(tmp_path / "shelf")
    other = tmp_path / "run" / "other project"
    other.mkdir()
    with kind.serve(model, place) as url:
        async with agent(kind, place, url) as backend:
            first = await turn(backend, place.folder, PAST)
            saved = await save(backend, first, place.folder, shelf)
            await turn(backend, place.folder, "after the save: vermilion", first)
            restored = await archive_of(backend).restore(shelf.open(saved), place.folder)
            assert await turn(backend, place.folder, "what was the plan?", restored) == restored
            heard = last_heard(kind, model, place, restored)
            assert PAST in heard
            assert "vermilion" not in heard, "the saved session was not frozen"
            known = {one.id for one in await archive_of(backend).list(None)}
            with pytest.raises(AgentError, match="its own folder only"):
                await archive_of(backend).restore(shelf.open(saved), other)
            assert {one.id for one in await archive_of(backend).list(None)} == known, "a copy was left behind"
    assert no_login_in(saved, shelf)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", OTHER_HOME, ids=lambda kind: kind.name)
async def test_a_parcel_brings_a_session_to_another_home(kind: Kind, tmp_path: Path) -> None:
    model = ScriptedModel(SCRIPTS)
    here, there = make_place(tmp_path / "here"), make_place(tmp_path / "there")
    mine, theirs = shelf_in(tmp_path / "shelf"), shelf_in(tmp_path / "their shelf")
    parcel = tmp_path / "parcel.zip"
    with kind.serve(model, here) as url:
        async with agent(kind, here, url) as backend:
            first = await turn(backend, here.folder, PAST)
            pack(mine, [await save(backend, first, here.folder, mine)], parcel)
    model.heard.clear()
    with kind.serve(model, there) as url:
        async with agent(kind, there, url) as backend:
            [saved] = unpack(theirs, parcel)
            restored = await archive_of(backend).restore(theirs.open(saved), there.folder)
            await turn(backend, there.folder, "what was the plan?", restored)
            assert PAST in last_heard(kind, model, there, restored)


BARE = {
    "claude": ("-p", "{text}"),
    "codex": ("exec", "--skip-git-repo-check", "{text}"),
    "qwen": ("-p", "{text}"),
    "hermes": ("chat", "-Q", "-q", "{text}"),
}
AGAIN = {
    "claude": ("--resume={id}", "-p", "{text}"),
    "codex": ("exec", "--skip-git-repo-check", "resume", "{id}", "{text}"),
    "qwen": ("--resume", "{id}", "-p", "{text}"),
    "hermes": ("chat", "-Q", "--resume", "{id}", "-q", "{text}"),
}
"""What /desk gives, in the form of each program that takes one task and ends."""
BESIDE = {"hermes": "hermes"}
"""Where the program for the terminal is another one in the same folder than the one that speaks the protocol."""


async def run_bare(kind: Kind, backend: AgentBackend, cwd: Path, text: str, resume: SessionId | None = None) -> None:
    """The program as a person uses it in a terminal, with the folders and the model of the backend."""
    launch: AgentLaunch = vars(backend).get("_launch") or vars(backend)["launch"]
    program = Path(str(launch.command))
    process = await asyncio.create_subprocess_exec(
        program.with_name(BESIDE.get(kind.name, program.name)),
        *(word.format(text=text, id=resume) for word in (AGAIN if resume else BARE)[kind.name]),
        cwd=cwd,
        env={"PATH": os.environ.get("PATH", os.defpath), **launch.env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(60):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said[-2000:]


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", SAME_HOME[:4], ids=lambda kind: kind.name)
async def test_a_session_begun_in_a_terminal_is_found_and_gone_on_with(kind: Kind, tmp_path: Path) -> None:
    place, model = make_place(tmp_path / "run"), ScriptedModel(SCRIPTS)
    with kind.serve(model, place) as url:
        async with agent(kind, place, url) as backend:
            await run_bare(kind, backend, place.folder, f"play:hello {PAST}")
            found = await archive_of(backend).list(place.folder)
            assert [PAST in one.title for one in found] == [True]
            assert not found[0].is_live
            session_id = found[0].id
            if found[0].is_only_copied:
                snapshot = await archive_of(backend).export(session_id, place.folder, tmp_path / "copy")
                session_id = await archive_of(backend).restore(snapshot, place.folder)
            assert found[0].is_only_copied is (kind is hermes.KIND)
            assert await turn(backend, place.folder, "what was the plan?", session_id) == session_id
            assert PAST in last_heard(kind, model, place, session_id)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", SAME_HOME[:4], ids=lambda kind: kind.name)
async def test_a_session_goes_to_the_desk_and_comes_back(kind: Kind, tmp_path: Path) -> None:
    at_desk = "at the desk it became vermilion"
    place, model = make_place(tmp_path / "run"), ScriptedModel(SCRIPTS)
    with kind.serve(model, place) as url:
        async with agent(kind, place, url) as backend:
            first = await turn(backend, place.folder, PAST)
            assert first in " ".join(archive_of(backend).resume_command(first, place.folder))
            await run_bare(kind, backend, place.folder, f"play:hello {at_desk}", first)
            assert PAST in last_heard(kind, model, place, first), "the program at the desk does not know the past"
            assert await turn(backend, place.folder, "what is the plan now?", first) == first
            heard = last_heard(kind, model, place, first)
            assert PAST in heard
            assert at_desk in heard


@pytest.mark.asyncio
async def test_a_saved_session_of_claude_is_no_use_to_codex(tmp_path: Path) -> None:
    """The bridge refuses before; the archive itself must not make anything of it either."""
    place = make_place(tmp_path / "run")
    model = ScriptedModel(SCRIPTS)
    with codex.KIND.serve(model, place) as url:
        async with agent(codex.KIND, place, url) as backend:
            folder = tmp_path / "foreign"
            folder.mkdir()
            (folder / "session.jsonl").write_text('{"type":"user"}\n', encoding="utf-8")
            snapshot = Snapshot("claude", SessionId("abc"), "2", "x", place.folder, folder)
            with pytest.raises(AgentError, match="saved session"):
                await archive_of(backend).restore(snapshot, place.folder)
