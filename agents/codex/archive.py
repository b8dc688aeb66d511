"""Codex' own history: list it, freeze it, make a new session from it.

A thread of the hub is one file that holds everything (``historyMode`` legacy) and can be forked by its path, from
anywhere, without touching the file. A thread begun in a terminal is "paginated": its file must stand among Codex'
sessions under an id of its own, and when it was forked or reverted it is not whole by itself. Measured on 0.171.0.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.codex.wire import calls
from agents.contract import AgentError, SessionId, SessionNotFoundError, Snapshot, StoredSession, sentence
from agents.json_lines import read_object
from agents.jsonrpc import RpcError
from agents.lines import MAX_LINE

if TYPE_CHECKING:
    from agents.codex.backend import Shared

HISTORY = "rollout.jsonl"
SOURCES = ("cli", "vscode", "exec", "appServer")
"""Without them Codex leaves out what ``codex exec`` has begun; helpers' threads are no sessions (0.171.0)."""
PAGES = 10
"""Pages of a list that are read at most; the newest come first."""
_THREAD_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class CodexArchive:
    """See ``agents.contract.SessionArchive``."""

    def __init__(self, acquire: Callable[[], Awaitable[Shared]]) -> None:
        self._acquire = acquire

    async def list(self, cwd: Path | None) -> Sequence[StoredSession]:
        shared = await self._acquire()
        try:
            threads = await self._threads(shared, cwd)
            live = shared.server.threads
        finally:
            await shared.release()
        return [
            StoredSession(
                SessionId(thread.id), thread.cwd, thread.name or thread.preview, thread.updated, thread.id in live
            )
            for thread in threads
        ]

    async def _threads(self, shared: Shared, cwd: Path | None) -> Sequence[calls.Thread]:
        found: list[calls.Thread] = []
        cursor = ""
        for _ in range(PAGES):
            params: dict[str, Any] = {"limit": 50, "sourceKinds": SOURCES}
            if cwd is not None:
                params["cwd"] = str(cwd)
            if cursor:
                params["cursor"] = cursor
            page, cursor = calls.read_threads(await shared.server.call("thread/list", params))
            found += page
            if not cursor:
                break
        return found

    async def export(self, session_id: SessionId, cwd: Path, to: Path) -> Snapshot:
        shared = await self._acquire()
        try:
            answer = await shared.server.call("thread/read", {"threadId": session_id})
        except RpcError as error:
            raise _unknown(error) from error
        finally:
            await shared.release()
        thread = calls.read_thread(answer)
        if thread.path is None or not await asyncio.to_thread(thread.path.is_file):
            raise SessionNotFoundError(
                sentence("Codex has written nothing of this session yet."), hint=sentence("Send a message first.")
            )
        await asyncio.to_thread(_copy, thread.path, to / HISTORY)
        title = thread.name or thread.preview
        return Snapshot("codex", session_id, thread.version or shared.version, title, cwd, to)

    async def restore(self, snapshot: Snapshot, cwd: Path) -> SessionId:
        history = snapshot.folder / HISTORY
        meta = await asyncio.to_thread(_meta, history)
        shared = await self._acquire()
        try:
            if meta.get("history_mode") == "legacy":
                return await self._fork(shared, history, cwd)
            return await self._adopt(shared, history, str(meta.get("id", "")))
        except RpcError as error:
            raise AgentError(
                sentence("Codex could not take the saved session."), sentence("See the details."), error.message[:500]
            ) from error
        finally:
            await shared.release()

    async def _fork(self, shared: Shared, history: Path, cwd: Path) -> SessionId:
        answer = await shared.server.call("thread/fork", calls.fork_thread(history, cwd))
        thread = calls.read_thread(answer)
        await shared.server.call("thread/unsubscribe", {"threadId": thread.id})
        return SessionId(thread.id)

    async def _adopt(self, shared: Shared, history: Path, old_id: str) -> SessionId:
        new_id, placed = await asyncio.to_thread(_place, history, old_id, shared.home)
        try:
            await shared.server.call("thread/read", {"threadId": new_id})
        except AgentError:
            await asyncio.to_thread(placed.unlink, missing_ok=True)  # Codex can't read it: no ghost in its list
            raise
        return new_id

    def resume_command(self, session_id: SessionId, cwd: Path) -> Sequence[str]:
        return ("codex", "resume", "-C", str(cwd), session_id)


def _unknown(error: RpcError) -> AgentError:
    return SessionNotFoundError(
        sentence("Codex does not know this session."),
        hint=sentence("See /sessions for those it knows."),
        detail=error.message[:500],
    )


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o600)


def _meta(history: Path) -> dict[str, Any]:
    """The first line of a history. Raises AgentError when the file is none."""
    try:
        with history.open("rb") as file:
            first = read_object(file.readline(MAX_LINE))
    except OSError as error:
        raise AgentError(
            sentence("The saved session can't be read."), sentence("Save it again."), str(history)
        ) from error
    payload = first.get("payload") if first is not None else None
    if not isinstance(payload, dict):
        raise AgentError(
            sentence("The saved session is no history of Codex."), sentence("Save it again."), str(history)
        )
    return payload


def _place(history: Path, old_id: str, home: Path) -> tuple[SessionId, Path]:
    """Put a copy under a new id among Codex' sessions; nothing else in the file names its place."""
    if not _THREAD_ID.fullmatch(old_id):
        raise AgentError(sentence("The saved session names no thread."), sentence("Save it again."), str(history))
    new_id = str(uuid.uuid4())
    now = datetime.now(UTC)
    folder = home / "sessions" / f"{now:%Y}" / f"{now:%m}" / f"{now:%d}"
    folder.mkdir(parents=True, exist_ok=True)
    content = history.read_bytes().replace(old_id.encode("ascii"), new_id.encode("ascii"))
    target = folder / f"rollout-{now:%Y-%m-%dT%H-%M-%S}-{new_id}.jsonl"
    target.write_bytes(content)
    target.chmod(0o600)
    return SessionId(new_id), target
