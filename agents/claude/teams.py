"""Teams of an interactive Claude Code: their files are read, and one message at a time is put into a member's inbox.

Measured on 2.1.332: ``<config>/teams/<team>/config.json`` and ``inboxes/<member>.json``, a JSON array that a member
reads within seconds and then empties; writers take ``<file>.lock``, a folder. Teams exist in interactive sessions only.
The lead is never written to, and nothing here starts or ends a process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agents.claude.messages import Json
from agents.claude.team_answers import answers, histories
from agents.claude.wire import is_object, number_of, object_of, objects_of, text_of
from agents.contract import AgentError, sentence
from agents.contract.teams import MemberState, Team, TeamMember, TeamReply, TellState
from agents.json_lines import read_object
from agents.process_tree import ProcessRecord

ACTIVE_WITHIN = 300.0
FILE_LIMIT = 8_000_000
"""Bytes of an inbox or a configuration that are read."""
LOCK_TRIES, LOCK_PAUSE, LOCK_STALE = 40, 0.1, 15.0
LOOK_AGAIN = 1.0
"""Seconds after which the inbox is read again: another writer may have written its own older copy over ours."""
LEAD = "team-lead"
PERSON = "user"
SUMMARY = 60
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class ClaudeTeams:
    """See ``agents.contract.teams.AgentTeams``. ``config`` finds Claude Code's own folder."""

    def __init__(
        self,
        config: Callable[[], Awaitable[Path]],
        new_id: Callable[[], str],
        *,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._config = config
        self._new_id = new_id
        self._now = now
        self._sleep = sleep

    async def list(self) -> Sequence[Team]:
        teams = await self._config() / "teams"
        return await asyncio.to_thread(lambda: [found for found in _teams(teams, self._now()) if found.members])

    async def tell(self, team: str, member: str, text: str) -> TellState:
        inbox = await self._inbox(team, member)
        message = {
            "from": PERSON,
            "text": text,
            "timestamp": datetime.fromtimestamp(self._now(), UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z"),
            "read": False,
            "summary": " ".join(text.split())[:SUMMARY],
            "messageId": self._new_id(),
        }
        lock = inbox.with_name(inbox.name + ".lock")
        await self._take(lock)
        try:
            await asyncio.to_thread(_append, inbox, message)
        finally:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(lock.rmdir)
        await self._sleep(LOOK_AGAIN)
        there = await asyncio.to_thread(_entries, inbox)
        if any(text_of(entry, "messageId") == message["messageId"] for entry in there):
            return TellState.WAITING
        return TellState.OVERWRITTEN if there else TellState.READ

    async def replies(self, team: str) -> Sequence[TeamReply]:
        _check(team)
        config = await self._config()
        return await asyncio.to_thread(_answers, config, team)

    async def _inbox(self, team: str, member: str) -> Path:
        """The member's own inbox. Raises AgentError for who is not in the team, and for its lead."""
        _check(team)
        folder = await self._config() / "teams" / team
        found = await asyncio.to_thread(_team, folder, self._now())
        one = next((one for one in found.members if one.name == member), None) if found else None
        if found is None or one is None:
            raise AgentError(sentence("There is no such member in the team."), sentence("See /team."), member)
        if not found.is_running:
            raise AgentError(
                sentence("The team's terminal session has ended; nobody would read it."),
                sentence("Start it again there."),
            )
        if one.state is MemberState.ENDED:
            raise AgentError(sentence("That member has ended; nobody would read it."), sentence("See /team."))
        return folder / "inboxes" / f"{member}.json"

    async def _take(self, lock: Path) -> None:
        """The lock that Claude Code takes too; one whose owner died is taken over."""
        for _ in range(LOCK_TRIES):
            try:
                await asyncio.to_thread(lock.parent.mkdir, parents=True, exist_ok=True)
                await asyncio.to_thread(lock.mkdir)
            except FileExistsError:
                await asyncio.to_thread(_drop_stale, lock, self._now())
                await self._sleep(LOCK_PAUSE)
            except OSError as error:
                raise AgentError(sentence("The member's inbox can't be written."), detail=str(error)) from error
            else:
                return
        raise AgentError(sentence("The member's inbox is busy."), sentence("Try again in a moment."), str(lock))


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise AgentError(sentence("That is no name of a team or member."), sentence("See /team."), name[:100])


def _drop_stale(lock: Path, now: float) -> None:
    with contextlib.suppress(OSError):
        if now - lock.stat().st_mtime > LOCK_STALE:
            lock.rmdir()


def _teams(teams: Path, now: float) -> Iterator[Team]:
    for folder in sorted(teams.iterdir()) if teams.is_dir() else ():
        team = _team(folder, now) if _NAME.fullmatch(folder.name) else None
        if team is not None:
            yield team


def _team(folder: Path, now: float) -> Team | None:
    try:
        config = read_object(_start_of(folder / "config.json"))
    except OSError:
        return None
    if config is None:
        return None
    lead = text_of(config, "leadAgentId").partition("@")[0] or LEAD
    heard = dict(_heard(folder))
    projects = folder.parent.parent / "projects"
    worked = {
        history.member: history.updated
        for history in sorted(
            histories(projects, text_of(config, "leadSessionId"), folder.name), key=lambda history: history.updated
        )
    }
    members = tuple(
        _member(folder, member, heard, worked, now)
        for member in objects_of(config, "members")
        if _NAME.fullmatch(text_of(member, "name")) and text_of(member, "name") not in (lead, LEAD)
    )
    pid = number_of(object_of(config, "leadProcess"), "pid")
    return Team(folder.name, members, pid is not None and ProcessRecord.of(int(pid)) is not None)


def _answers(config: Path, team: str) -> list[TeamReply]:
    try:
        about = read_object(_start_of(config / "teams" / team / "config.json"))
    except OSError:
        return []
    lead_session = text_of(about, "leadSessionId") if about is not None else ""
    found = sorted(histories(config / "projects", lead_session, team), key=lambda history: history.updated)
    return [reply for history in found for reply in answers(history)]


def _member(
    folder: Path, member: Json, heard: dict[str, tuple[float, bool]], worked: dict[str, float], now: float
) -> TeamMember:
    name = text_of(member, "name")
    inbox = folder / "inboxes" / f"{name}.json"
    joined = (number_of(member, "joinedAt") or 0) / 1000
    last, has_ended = heard.get(name, (0.0, False))
    last = max(last, worked.get(name, 0.0))
    unread = 0
    with contextlib.suppress(OSError, AgentError):
        unread = sum(entry.get("read") is not True for entry in _entries(inbox))
    state = MemberState.ACTIVE if now - max(last, joined) < ACTIVE_WITHIN else MemberState.IDLE
    cwd = text_of(member, "cwd")
    return TeamMember(
        name, MemberState.ENDED if has_ended else state, text_of(member, "model"), Path(cwd) if cwd else None, unread
    )


def _heard(folder: Path) -> Iterator[tuple[str, tuple[float, bool]]]:
    """Sender -> when it was last heard of in any inbox, and whether it agreed to be shut down."""
    found: dict[str, tuple[float, bool]] = {}
    for inbox in sorted((folder / "inboxes").glob("*.json")):
        with contextlib.suppress(OSError, AgentError):
            for entry in _entries(inbox):
                sender = text_of(entry, "from")
                last, has_ended = found.get(sender, (0.0, False))
                found[sender] = (max(last, _moment(entry)), has_ended or _agrees_to_end(entry))
    yield from found.items()


def _agrees_to_end(entry: Json) -> bool:
    """A structured answer inside the text: nothing less ends a member."""
    inner = read_object(text_of(entry, "text")) or {}
    return text_of(inner, "type") == "shutdown_response" and inner.get("approve") is True


def _stamp(now: float) -> str:
    """A moment as Claude Code writes it."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _moment(entry: Json) -> float:
    try:
        return datetime.fromisoformat(text_of(entry, "timestamp")).timestamp()
    except ValueError:
        return 0.0


def _start_of(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(FILE_LIMIT)


def _entries(inbox: Path) -> list[Json]:
    """What lies in an inbox; a missing one is empty. Raises AgentError for what is no inbox and so never replaced."""
    try:
        found = json.loads(_start_of(inbox))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise AgentError(
            sentence("The inbox can't be read."), sentence("Try again in a moment."), str(error)
        ) from error
    if not isinstance(found, list):
        raise AgentError(sentence("The inbox has a form that is not known."), sentence("Update agent-hub."), str(inbox))
    return [entry for entry in found if is_object(entry)]


def _append(inbox: Path, message: Json) -> None:
    """All old entries and the new one, in place at once. Under the lock."""
    entries = [*_entries(inbox), message]
    draft = inbox.with_name(f".{inbox.name}.{os.getpid()}.part")
    try:
        draft.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
        draft.chmod(0o600)
        draft.replace(inbox)
    except OSError as error:
        raise AgentError(sentence("The member's inbox can't be written."), detail=str(error)) from error
    finally:
        draft.unlink(missing_ok=True)
