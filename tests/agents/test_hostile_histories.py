"""Histories from strangers, brought to every agent's own archive: refused in words, nothing half written anywhere.

What a parcel may look like is tested where parcels are opened; this is what may stand inside of a sound one, and what a
session's name may be.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from agents.claude.archive import ClaudeArchive
from agents.codex.archive import HISTORY, CodexArchive
from agents.contract import AgentError, SessionArchive, SessionId, SessionNotFoundError, Snapshot
from agents.demo.archive import DemoArchive
from agents.qwen.archive import QwenArchive

OLD = "0f0e0d0c-0b0a-4908-8706-050403020100"

CONTENTS: Mapping[str, bytes] = {
    "empty": b"",
    "a line break": b"\n",
    "zeros": b"\0" * 5_000,
    "no UTF-8": b"\xff\xfe\xfa\xc0\xaf" * 100,
    "a text": b"hello, this is no history\n" * 10,
    "half a line": b'{"type":"user","message":{"role":"us',
    "a list": b"[]\n[1, 2]\n",
    "numbers": b"1\n2.5\nnull\ntrue\n",
    "a text as JSON": b'"user"\n',
    "nested beyond reason": b"[" * 100_000 + b"\n",
    "nested in a field": b'{"payload":' + b'{"a":' * 50_000 + b"\n",
    "fields of other kinds": b'{"type":5,"payload":7,"message":[],"role":{},"cwd":3,"sessionId":null}\n',
    "another agent's history": b'{"type":"event","who":"anna","said":"hello"}\n',
}
NAMES = (
    "",
    ".",
    "..",
    "../../settings",
    "..\\..\\settings",
    "/etc/passwd",
    "C:\\Users\\anna\\x",
    "a/b",
    "a\0b",
    "a\nb",
    "--resume",
    "con:",
    "*",
    "[a-z]*",
    "\u202egnp",
)


async def no_server() -> NoReturn:
    raise AssertionError("Codex was started for a history that can't be one")


async def no_environment() -> Mapping[str, str]:
    return {}


def claude(store: Path) -> SessionArchive:
    return ClaudeArchive(no_environment, "claude", store, lambda: "11111111-1111-4111-8111-111111111111")


def codex(store: Path) -> SessionArchive:
    del store
    return CodexArchive(no_server)


def qwen(store: Path) -> SessionArchive:
    return QwenArchive(store, frozenset())


def demo(store: Path) -> SessionArchive:
    return DemoArchive(store, frozenset())


Make = Callable[[Path], SessionArchive]
KINDS: Mapping[str, tuple[Make, str]] = {
    "claude": (claude, f"{OLD}.jsonl"),
    "codex": (codex, HISTORY),
    "qwen": (qwen, "session.jsonl"),
    "demo": (demo, "session.jsonl"),
}
"""Kind -> its archive over a folder, and the file a snapshot of it holds. Hermes keeps a database: its own tests."""


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", CONTENTS)
async def test_a_hostile_history_is_refused_and_leaves_nothing_behind(what: str, kind: str, tmp_path: Path) -> None:
    make, name = KINDS[kind]
    store, saved, project = tmp_path / "store", tmp_path / "saved", tmp_path / "project"
    for folder in (store, saved, project):
        folder.mkdir()
    (saved / name).write_bytes(CONTENTS[what])
    before = everything(tmp_path)
    archive = make(store)
    with pytest.raises(AgentError) as refused:
        await archive.restore(Snapshot(kind, SessionId(OLD), "1", "t", Path("/old"), saved), project)
    assert refused.value.title
    assert everything(tmp_path) == before


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "codex"])
@pytest.mark.parametrize("name", NAMES)
async def test_a_sessions_name_reaches_nothing_outside_the_store(name: str, kind: str, tmp_path: Path) -> None:
    make, _ = KINDS[kind]
    store, saved = tmp_path / "store", tmp_path / "saved"
    store.mkdir()
    (tmp_path / "settings.jsonl").write_text(json.dumps({"type": "user", "secret": 1}) + "\n")
    before = everything(tmp_path)
    with pytest.raises(SessionNotFoundError):
        await make(store).export(SessionId(name), tmp_path, saved)
    assert everything(tmp_path) == before
    assert not saved.exists()


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_claude_takes_no_file_that_a_snapshots_session_name_points_to(name: str, tmp_path: Path) -> None:
    store, saved = tmp_path / "store", tmp_path / "saved"
    for folder in (store, saved):
        folder.mkdir()
    said: dict[str, Any] = {"type": "user", "message": {"role": "user", "content": "hello"}}
    (tmp_path / "settings.jsonl").write_text(json.dumps(said) + "\n")
    before = everything(tmp_path)
    with pytest.raises(SessionNotFoundError):
        await claude(store).restore(Snapshot("claude", SessionId(name), "1", "t", Path("/old"), saved), tmp_path)
    assert everything(tmp_path) == before


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "codex"])
async def test_a_strangers_file_among_the_sessions_hides_none_of_the_others(kind: str, tmp_path: Path) -> None:
    make, name = KINDS[kind]
    store, saved, project = tmp_path / "store", tmp_path / "saved", tmp_path / "project"
    for folder in (store, saved, project):
        folder.mkdir()
    said: dict[str, Any] = {"type": "user", "role": "user", "text": "hello", "cwd": str(project)}
    said["message"] = {"role": "user", "content": "hello", "parts": [{"text": "hello"}]}
    (saved / name).write_text(json.dumps(said) + "\n")
    archive = make(store)
    restored = await archive.restore(Snapshot(kind, SessionId(OLD), "1", "t", Path("/old"), saved), project)
    home = next(store.rglob(f"{restored}.jsonl")).parent

    def put() -> None:
        for number, content in enumerate(CONTENTS.values()):
            (home / f"{number:08}-0000-4000-8000-000000000000.jsonl").write_bytes(content)
        (home / "99999999-0000-4000-8000-000000000000.jsonl").mkdir()

    await asyncio.to_thread(put)
    assert [one.id for one in await archive.list(project)] == [restored]


def test_the_tables_are_as_long_as_they_should_be() -> None:
    assert len(KINDS) * len(CONTENTS) + (len(KINDS) - 1) * len(NAMES) >= 60
