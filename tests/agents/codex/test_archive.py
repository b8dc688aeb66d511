"""A thread of a terminal is restored by placing its file among Codex' sessions under an id of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.codex.archive import HISTORY, CodexArchive
from agents.contract import AgentError, SessionId, Snapshot
from agents.jsonrpc import RpcError

OLD = "0f0e0d0c-0b0a-4908-8706-050403020100"
META = json.dumps({"type": "session_meta", "payload": {"id": OLD, "history_mode": "paginated"}}).encode()


class Server:
    """Codex as far as a restore needs it: it reads a thread, or refuses to."""

    def __init__(self, *, refuses: bool = False) -> None:
        self._refuses = refuses

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        if self._refuses:
            raise RpcError(-32600, "thread not found", "")
        return {"thread": {"id": params["threadId"]}}


class Shared:
    """A running Codex with its home folder."""

    def __init__(self, home: Path, server: Server) -> None:
        self.home = home
        self.server = server

    async def release(self) -> None: ...


async def restored(tmp_path: Path, rest: bytes, server: Server) -> SessionId:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / HISTORY).write_bytes(META + b"\n" + rest)
    shared = Shared(tmp_path / "home", server)

    async def acquire() -> Any:
        return shared

    snapshot = Snapshot("codex", SessionId(OLD), "1", "t", Path("/old"), tmp_path / "saved")
    return await CodexArchive(acquire).restore(snapshot, tmp_path)


def placed(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "home").rglob("*.jsonl"))


@pytest.mark.asyncio
async def test_every_byte_but_the_id_is_placed_as_it_was_saved(tmp_path: Path) -> None:
    rest = b'{"id":"' + OLD.encode() + b'","output":"no UTF-8: \xff\xfe, a line end: \r\n"}\n'
    new = await restored(tmp_path, rest, Server())
    (file,) = placed(tmp_path)
    assert file.stem.endswith(new)
    assert file.read_bytes() == (META + b"\n" + rest).replace(OLD.encode(), new.encode())


@pytest.mark.asyncio
async def test_a_history_that_codex_can_not_read_is_taken_away_again(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="could not take"):
        await restored(tmp_path, b"", Server(refuses=True))
    assert not placed(tmp_path)
