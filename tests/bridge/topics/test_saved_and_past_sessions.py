"""/save, /restore, /sessions and /resume in topics: what is brought where, and what is refused in words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.commands.topic import typed
from tests.bridge.topics.paper_archive import PaperArchive, broken, damage
from tests.bridge.topics.stage import OTHER, TOPIC, Stage, stage


@asynccontextmanager
async def with_archive(tmp_path: Path) -> AsyncIterator[tuple[Stage, PaperArchive]]:
    async with stage(tmp_path) as hub:
        archive = PaperArchive()
        hub.claude.archive = archive
        yield hub, archive


async def said(hub: Stage, words: str, place: object = TOPIC) -> str:
    """Wait for a message that holds the words."""
    await hub.until(lambda: any(words in text for text in hub.texts(place)))  # type: ignore[arg-type]
    return next(text for text in reversed(hub.texts(place)) if words in text)  # type: ignore[arg-type]


async def a_saved_session(hub: Stage, name: str = "blue") -> None:
    await hub.say("do it")
    hub.session.answer()
    await hub.settle()
    await hub.say(f"/save {name}")
    await said(hub, "Saved as")


@pytest.mark.asyncio
async def test_a_saved_session_goes_on_in_another_topic_and_folder(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        (hub.root / "elsewhere").mkdir()
        await hub.say("/cwd elsewhere", place=OTHER)
        await hub.say("/restore blue", place=OTHER)
        await said(hub, "Restored blue", OTHER)
        assert archive.restored == [("past of session-1", hub.root / "elsewhere")]
        await hub.say("go on", place=OTHER)
        await hub.until(lambda: len(hub.claude.sessions) == 2)
        assert hub.session.spec.resume == "restored-1"
        assert hub.session.spec.cwd == hub.root / "elsewhere"


@pytest.mark.asyncio
async def test_a_tap_on_the_list_restores(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        await hub.say("/saves", place=OTHER)
        await said(hub, "Saved sessions", OTHER)
        await hub.press("blue")
        await said(hub, "Restored blue", OTHER)
        assert len(archive.restored) == 1


@pytest.mark.asyncio
async def test_a_saved_session_is_deleted_only_after_a_second_press(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, _):
        await a_saved_session(hub)
        await hub.say("/saves")
        await said(hub, "Saved sessions")
        await hub.press("🗑")
        await said(hub, "Delete for good?")
        assert len(hub.hub.context.shelf.all()) == 1
        await hub.press("Delete it")
        await said(hub, "Nothing is saved yet")
        assert hub.hub.context.shelf.all() == []


@pytest.mark.asyncio
async def test_another_agents_saved_session_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        hub.codex.archive = PaperArchive("codex")
        await hub.say("/agent codex", place=OTHER)
        await hub.say("/restore blue", place=OTHER)
        assert "Saved with Claude; here works Codex." in await said(hub, "Saved with", OTHER)
        assert archive.restored == []


@pytest.mark.asyncio
async def test_a_session_of_a_newer_version_is_refused_by_an_older_one(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        archive.version = "9.0.0"
        await a_saved_session(hub)
        await hub.say("/restore blue")
        assert "9.0.0" in await said(hub, "older")
        assert archive.restored == []


@pytest.mark.asyncio
async def test_a_damaged_saved_session_is_refused_and_the_topic_keeps_its_own(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        damage(hub.data / "snapshots")
        await hub.say("/restore blue")
        await said(hub, "damaged")
        assert archive.restored == []
        assert hub.hub.topics()[0].binding.session_id == "session-1"


@pytest.mark.asyncio
@pytest.mark.parametrize("fault", [broken(), KeyError("session"), TypeError("none"), TimeoutError()])
async def test_whatever_an_archive_stumbles_over_is_said_and_nothing_changes(fault: Exception, tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        archive.fault = fault
        await hub.say("/restore blue")
        await hub.until(lambda: hub.last().startswith("⚠️"))
        assert "inside the hub" not in hub.last()
        assert hub.hub.topics()[0].binding.session_id == "session-1"


@pytest.mark.asyncio
async def test_a_failed_save_leaves_nothing_on_the_shelf(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await hub.say("do it")
        hub.session.answer()
        await hub.settle()
        archive.fault = broken()
        await hub.say("/save blue")
        await said(hub, "incomplete")
        assert list((hub.data / "snapshots").iterdir()) == []


@pytest.mark.asyncio
async def test_nothing_is_saved_or_restored_while_a_turn_runs(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        await hub.say("more")
        await hub.say("/save again")
        await hub.say("/restore blue")
        await hub.until(lambda: sum("A turn is running." in text for text in hub.texts()) == 2)
        assert archive.restored == []


@pytest.mark.asyncio
async def test_a_session_begun_in_a_terminal_goes_on_here_by_a_tap(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        archive.add("term-1", hub.root, "mend the door", hub.clock.now() - 7200)
        await hub.say("/sessions")
        assert "mend the door · Claude · 2 h" in await said(hub, "Sessions, newest first")
        await hub.press("mend the door")
        await said(hub, "Goes on here: mend the door")
        await hub.say("go on")
        await hub.until(lambda: bool(hub.claude.sessions))
        assert hub.session.spec.resume == "term-1"


@pytest.mark.asyncio
async def test_a_session_that_the_agent_opens_only_as_a_copy_goes_on_as_one(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        archive.add("term-1", hub.root, "mend the door", hub.clock.now() - 7200, is_only_copied=True)
        await hub.say("/sessions")
        await said(hub, "Sessions, newest first")
        await hub.press("mend the door")
        assert "It is a copy; the one in the terminal stays as it is." in await said(hub, "Goes on here: mend the door")
        assert archive.restored == [("past of term-1", hub.root)]
        await hub.say("go on")
        await hub.until(lambda: bool(hub.claude.sessions))
        assert hub.session.spec.resume == "restored-1"
        assert list((hub.data / "outgoing").iterdir()) == []


@pytest.mark.asyncio
async def test_a_copy_that_fails_leaves_the_topic_as_it_was(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        archive.add("term-1", hub.root, "mend the door", hub.clock.now() - 7200, is_only_copied=True)
        archive.fault = broken()
        await hub.say("/sessions")
        await said(hub, "Sessions, newest first")
        await hub.press("mend the door")
        await said(hub, "incomplete")
        binding = hub.hub.context.bindings.get(TOPIC)
        assert binding is not None
        assert binding.session_id is None


@pytest.mark.asyncio
async def test_a_session_that_is_open_elsewhere_is_refused(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        archive.add("term-1", hub.root, "mend the door", hub.clock.now() - 7200, is_live=True)
        await hub.say("/sessions")
        assert "open elsewhere" in await said(hub, "Sessions, newest first")
        await hub.press("mend the door")
        await said(hub, "turns get lost")
        assert hub.hub.topics()[0].binding.session_id is None


@pytest.mark.asyncio
async def test_a_session_written_a_moment_ago_is_taken_only_after_a_second_word(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        archive.add("term-1", hub.root, "mend the door", hub.clock.now() - 20)
        await hub.say("/sessions")
        await said(hub, "Sessions, newest first")
        await hub.press("mend the door")
        await said(hub, "was written 20 s ago")
        assert hub.hub.topics()[0].binding.session_id is None
        await hub.press("It is closed, go on")
        await said(hub, "Goes on here")
        assert hub.hub.topics()[0].binding.session_id == "term-1"


@pytest.mark.asyncio
async def test_a_session_of_another_topic_is_not_shared(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        archive.add("session-1", hub.root, "do it", hub.clock.now() - 7200)
        await hub.say("/resume session-1", place=OTHER)
        await said(hub, "belongs to the topic", OTHER)


@pytest.mark.asyncio
async def test_sessions_outside_the_allowed_folders_are_not_listed(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        archive.add("term-1", tmp_path / "private", "tax papers", hub.clock.now() - 7200)
        (hub.root / "link").symlink_to(tmp_path)
        archive.add("term-2", hub.root / "link" / ".." / ".." / "private", "more papers", hub.clock.now() - 7200)
        await hub.say("/sessions all")
        await said(hub, "No session was found.")
        assert not any("papers" in text for text in hub.texts())


@pytest.mark.asyncio
async def test_a_resumed_session_works_in_its_own_folder(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        inner = hub.root / "inner"
        inner.mkdir()
        archive.add("term-1", inner, "mend the door", hub.clock.now() - 7200)
        await hub.say("/resume term-1")
        await said(hub, "Goes on here")
        assert hub.hub.topics()[0].binding.cwd == inner


@pytest.mark.asyncio
async def test_after_the_desk_the_next_text_goes_on_with_the_same_session(tmp_path: Path) -> None:
    async with with_archive(tmp_path) as (hub, _):
        await a_saved_session(hub)
        await hub.say("/desk")
        assert "paper --resume session-1" in await said(hub, "Go on at the desk")
        assert hub.session.is_closed
        await hub.say("I am back")
        await hub.until(lambda: len(hub.claude.sessions) == 2)
        assert hub.session.spec.resume == "session-1"


@pytest.mark.asyncio
async def test_a_locked_hubs_old_list_restores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with with_archive(tmp_path) as (hub, archive):
        await a_saved_session(hub)
        await hub.say("/saves")
        await said(hub, "Saved sessions")
        monkeypatch.setattr(type(hub.hub.context.desk), "is_locked", property(lambda _: True))
        assert "locked" in await hub.press("blue")
        assert archive.restored == []


@pytest.mark.asyncio
async def test_an_agent_without_a_past_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/save")
        assert "keeps no sessions" in hub.last()


@pytest.mark.parametrize(
    ("is_windows", "line"),
    [
        (False, "cd '/home/anna/my project' && claude --resume=a-1"),
        (True, 'cd "/home/anna/my project"\nclaude --resume=a-1'),
    ],
)
def test_the_command_for_the_desk_suits_the_system_s_shell(is_windows: bool, line: str) -> None:
    assert typed("/home/anna/my project", ("claude", "--resume=a-1"), is_windows=is_windows) == line
