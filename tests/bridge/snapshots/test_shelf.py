"""The shelf: whole or not at all, frozen, and checked before every use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.contract import HubError, SessionId, Snapshot
from bridge.snapshots import SnapshotError
from bridge.snapshots.fitness import is_older
from bridge.snapshots.parcel import pack, unpack
from tests.bridge.snapshots.making import BODY, save, shelf_in


@pytest.mark.asyncio
async def test_what_was_saved_is_found_with_all_its_facts(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    saved = await save(shelf)
    assert shelf.all() == [saved]
    assert (saved.agent, saved.version, saved.title, saved.session_id) == ("demo", "1.2.3", "The blue plan", "abc-1")
    snapshot = shelf.open(saved)
    assert (snapshot.folder / "session.jsonl").read_bytes() == BODY


@pytest.mark.asyncio
async def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")

    async def export(to: Path) -> Snapshot:
        to.mkdir()
        (to / "half").write_text("half", encoding="utf-8")
        raise HubError("no")

    with pytest.raises(HubError):
        await shelf.add(export, "x", "")
    assert list((tmp_path / "snapshots").iterdir()) == []


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["../../evil", "a/b", "\x00", "con", "x" * 500, "\u202eevil", "<b>bold</b>", "'; --"])
async def test_a_hostile_name_is_only_a_name(name: str, tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "data" / "snapshots")
    saved = await save(shelf, name)
    assert shelf.open(shelf.find(saved.name)).session_id == "abc-1"
    assert {path.name for path in tmp_path.iterdir()} == {"data"}
    assert len(saved.name) <= 60


@pytest.mark.asyncio
async def test_a_second_save_under_the_same_name_is_numbered(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    await save(shelf)
    assert (await save(shelf)).name == "first (2)"


@pytest.mark.asyncio
async def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    saved = await save(shelf)
    file = shelf.place(saved.id) / "files" / "session.jsonl"
    file.chmod(0o600)
    file.write_bytes(BODY.replace(b"blue", b"gray"))
    with pytest.raises(SnapshotError):
        shelf.open(saved)


@pytest.mark.asyncio
@pytest.mark.parametrize("what", ["missing", "more", "link", "linked folder"])
async def test_a_shelf_with_other_files_than_saved_is_refused(what: str, tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    saved = await save(shelf)
    files = shelf.place(saved.id) / "files"
    if what == "missing":
        (files / "session.jsonl").unlink()
    elif what == "more":
        (files / "more").write_text("x", encoding="utf-8")
    elif what == "link":
        (files / "session.jsonl").unlink()
        secret = tmp_path / "secret"
        secret.write_bytes(BODY)
        (files / "session.jsonl").symlink_to(secret)
    else:
        (files / "beside").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(SnapshotError):
        shelf.open(saved)


@pytest.mark.asyncio
async def test_an_agent_that_exports_a_link_is_not_saved(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")

    async def export(to: Path) -> Snapshot:
        to.mkdir()
        (to / "login").symlink_to("/etc/passwd")
        return Snapshot("demo", SessionId("abc-1"), "1", "t", tmp_path, to)

    with pytest.raises(SnapshotError):
        await shelf.add(export, "x", "")
    assert shelf.all() == []


@pytest.mark.asyncio
async def test_a_damaged_manifest_is_named_and_the_others_stay_usable(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    broken, kept = await save(shelf, "broken"), await save(shelf, "kept")
    manifest = shelf.place(broken.id) / "manifest.json"
    manifest.chmod(0o600)
    manifest.write_text("{", encoding="utf-8")
    assert shelf.all() == [kept]
    assert shelf.damaged_ids() == [broken.id]


@pytest.mark.asyncio
async def test_a_name_that_several_begin_with_is_asked_for_again(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    await save(shelf, "plan one")
    await save(shelf, "plan two")
    with pytest.raises(SnapshotError, match="Several"):
        shelf.find("plan")
    assert shelf.find("plan t").name == "plan two"


@pytest.mark.asyncio
async def test_a_deleted_one_is_gone(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    shelf.remove(await save(shelf))
    assert list((tmp_path / "snapshots").iterdir()) == []


@pytest.mark.asyncio
async def test_a_parcel_brings_everything_to_another_computer(tmp_path: Path) -> None:
    here, there = shelf_in(tmp_path / "here"), shelf_in(tmp_path / "there")
    saved = [await save(here, "one"), await save(here, "two", BODY * 1000, "codex")]
    pack(here, saved, tmp_path / "parcel.zip")
    assert {one.name: one.agent for one in unpack(there, tmp_path / "parcel.zip")} == {"one": "demo", "two": "codex"}
    assert (there.open(there.find("two")).folder / "session.jsonl").read_bytes() == BODY * 1000


@pytest.mark.asyncio
async def test_a_parcel_taken_twice_is_there_twice_under_two_names(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "here")
    pack(shelf, [await save(shelf)], tmp_path / "parcel.zip")
    unpack(shelf, tmp_path / "parcel.zip")
    assert sorted(one.name for one in shelf.all()) == ["first", "first (2)"]


@pytest.mark.asyncio
async def test_an_existing_file_is_never_written_over_by_an_export(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "here")
    target = tmp_path / "parcel.zip"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(SnapshotError):
        pack(shelf, [await save(shelf)], target)
    assert target.read_text(encoding="utf-8") == "mine"


@pytest.mark.asyncio
@pytest.mark.skipif(os.name != "posix", reason="rights of files are POSIX")
async def test_only_the_user_may_read_what_is_saved_and_nobody_changes_it(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    saved = await save(shelf)
    assert (shelf.place(saved.id) / "files" / "session.jsonl").stat().st_mode & 0o777 == 0o400
    assert shelf.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("here", "saved", "older"),
    [
        ("2.1.332", "2.2.0", True),
        ("2.2.0", "2.1.332", False),
        ("2.1.332 (Claude Code)", "2.1.332", False),
        ("codex-cli 0.171.0", "0.200.1", True),
        ("", "2.2.0", False),
        ("2.2.0", "", False),
        ("1.10.0", "1.9.0", False),
    ],
)
def test_an_older_program_is_told_from_a_newer_one(here: str, saved: str, older: bool) -> None:
    assert is_older(here, saved) is older
