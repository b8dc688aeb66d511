"""Qwen Code's session files: listed by folder, carried to another folder with every record rewritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.contract import SessionId, SessionNotFoundError
from agents.qwen.archive import QwenArchive, munge


def record(kind: str, words: str, cwd: Path) -> str:
    message = {"role": kind, "parts": [{"text": words}]}
    return json.dumps({"type": kind, "sessionId": "a-1", "cwd": str(cwd), "version": "0.24.4", "message": message})


def stored(tmp_path: Path) -> tuple[QwenArchive, Path]:
    cwd = tmp_path / "my work.x"
    chats = tmp_path / "projects" / munge(cwd) / "chats"
    chats.mkdir(parents=True)
    lines = [record("system", "", cwd), record("user", "Fix the tests\nplease", cwd), record("assistant", "Done", cwd)]
    (chats / "a-1.jsonl").write_text("\n".join(lines) + '\n{"cut', encoding="utf-8")
    return QwenArchive(tmp_path / "projects", frozenset({"a-1"})), cwd


def test_the_folder_s_name_is_made_as_qwen_makes_it() -> None:
    assert munge(Path("/w/qwen-06 dir.x_y-cwd")) == "-w-qwen-06-dir-x-y-cwd"


@pytest.mark.asyncio
async def test_sessions_are_listed_with_the_first_words_of_the_person(tmp_path: Path) -> None:
    archive, cwd = stored(tmp_path)
    (found,) = await archive.list(cwd)
    assert (found.id, found.title, found.cwd, found.is_live) == ("a-1", "Fix the tests", cwd, True)
    assert [one.id for one in await archive.list(None)] == ["a-1"]
    assert await archive.list(tmp_path) == []


@pytest.mark.asyncio
async def test_a_restored_session_names_its_new_folder_and_id_in_every_record(tmp_path: Path) -> None:
    archive, cwd = stored(tmp_path)
    snapshot = await archive.export(SessionId("a-1"), cwd, tmp_path / "saved")
    other = tmp_path / "other"
    restored = await archive.restore(snapshot, other)
    file = tmp_path / "projects" / munge(other) / "chats" / f"{restored}.jsonl"
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {(one["sessionId"], one["cwd"]) for one in records} == {(restored, str(other))}
    assert [one["type"] for one in records] == ["system", "user", "assistant"]
    assert restored != "a-1"


@pytest.mark.asyncio
async def test_an_id_can_not_reach_outside_the_sessions(tmp_path: Path) -> None:
    archive, cwd = stored(tmp_path)
    with pytest.raises(SessionNotFoundError):
        await archive.export(SessionId("../../settings"), cwd, tmp_path / "saved")
