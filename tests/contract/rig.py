"""What a promise needs of a kind of agent, live or played from a recording.

A kind describes itself by one ``Kind`` in ``tests/contract/rigs/<kind>.py``; ``LiveRig`` and ``PlayedRig`` do the
rest. Every live agent gets folders of its own, a dummy key and a model on loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from agents.contract import AgentBackend, AgentSession, AgentTraits, SessionId, SessionSpec, UserChannel
from agents.process_tree import ProcessRecord, descendants
from agents.processes import LinePipe, spawn
from tests.contract.exchange import (
    Entry,
    Ids,
    MeddledPipe,
    PlayedPipe,
    RecordedPipe,
    Recorder,
    Trim,
    load,
    save,
)
from tests.models.script import SCRIPTS, Script, ScriptedModel

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "exchanges"
Spawn = Callable[[Sequence[str], Path, Mapping[str, str]], Awaitable[LinePipe]]


class Fault(StrEnum):
    """What is wrong with the agent when a session is opened."""

    NONE = "none"
    EXITS = "exits at start"
    NO_LOGIN = "has no account"


@dataclass(frozen=True, slots=True)
class Place:
    """Folders of one live run: ``folder`` is the session's, ``home`` is everything else of the agent's."""

    folder: Path
    home: Path


MakeBackend = Callable[[Place, str, Fault, Spawn, Ids], AgentBackend]
"""place, the model's address (empty when played), what is wrong, how processes start, ids."""


@dataclass(frozen=True, slots=True)
class Kind:
    """``serve`` runs the scripted model for a live agent and yields its address.

    ``unknown`` is a line of the protocol that nobody knows, ``malformed`` one that is broken.
    """

    name: str
    make: MakeBackend
    serve: Callable[[ScriptedModel, Place], contextlib.AbstractContextManager[str]]
    trim: Trim
    unknown: bytes
    malformed: bytes


class Rig(Protocol):
    """One promise's agent."""

    kind: Kind
    folder: Path
    fault: Fault

    @property
    def traits(self) -> AgentTraits: ...

    async def open(self, person: UserChannel, resume: SessionId | None = None) -> AgentSession: ...

    def model_heard(self, text: str) -> bool:
        """Whether the model was told ``text``."""

    def has_file(self, name: str) -> bool:
        """Whether the agent made this file."""

    def slip(self, *lines: bytes) -> None:
        """Put lines into the agent's stdout, in front of the next one."""

    async def kill(self, session: AgentSession) -> None:
        """End the agent's program as a crash would."""

    def tree(self, session: AgentSession) -> set[ProcessRecord]:
        """The processes of the session now; empty when played."""

    async def close(self) -> None: ...


class LiveRig:
    """A real program, a scripted model, and a recorder."""

    def __init__(self, kind: Kind, place: Place, url: str, model: ScriptedModel) -> None:
        self.kind = kind
        self.folder = place.folder
        self.fault = Fault.NONE
        self.recorder = Recorder(kind.trim)
        self._place = place
        self._url = url
        self._model = model
        self._ids = Ids()
        self._pipes: list[tuple[MeddledPipe, RecordedPipe]] = []
        self._backends: list[AgentBackend] = []

    @property
    def traits(self) -> AgentTraits:
        return self._backend().traits

    async def open(self, person: UserChannel, resume: SessionId | None = None) -> AgentSession:
        spec = SessionSpec(self.folder, "topic1", resume=resume)
        return await self._backend().open(spec, person)

    def _backend(self) -> AgentBackend:
        self._backends.append(self.kind.make(self._place, self._url, self.fault, self._spawn, self._ids))
        return self._backends[-1]

    async def _spawn(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> LinePipe:
        recorded = self.recorder.wrap(await spawn(command, cwd, env))
        self._pipes.append((MeddledPipe(recorded), recorded))
        return self._pipes[-1][0]

    def model_heard(self, text: str) -> bool:
        return self.recorder.note(f"heard {text}", self._model.was_told(text))

    def has_file(self, name: str) -> bool:
        return self.recorder.note(f"file {name}", (self.folder / name).exists())

    def slip(self, *lines: bytes) -> None:
        self._pipes[-1][0].slipped.extend(lines)

    async def kill(self, session: AgentSession) -> None:
        self._pipes[-1][1].is_killed = True
        assert session.pid is not None
        os.kill(session.pid, signal.SIGKILL)

    def tree(self, session: AgentSession) -> set[ProcessRecord]:
        assert session.pid is not None
        record = ProcessRecord.of(session.pid)
        assert record is not None
        return {record, *descendants([record])}

    async def close(self) -> None:
        await asyncio.gather(*(backend.close() for backend in self._backends))

    def save(self, file: Path) -> None:
        """Keep the exchange."""
        places = {str(self._place.folder): "{folder}", str(self._place.home): "{home}"}
        save(self.recorder.entries, file, places)


class PlayedRig:
    """A recorded exchange."""

    def __init__(self, kind: Kind, place: Place, file: Path) -> None:
        self.kind = kind
        self.folder = place.folder
        self.fault = Fault.NONE
        self._place = place
        self._ids = Ids()
        entries = load(file, {"{folder}": str(place.folder), "{home}": str(place.home)})
        self._notes = [entry.message for entry in entries if entry.kind == "note"]
        self._processes = _by_pipe(entries)
        self._pipes: list[tuple[MeddledPipe, PlayedPipe]] = []
        self._backends: list[AgentBackend] = []

    @property
    def traits(self) -> AgentTraits:
        return self._backend().traits

    async def open(self, person: UserChannel, resume: SessionId | None = None) -> AgentSession:
        return await self._backend().open(SessionSpec(self.folder, "topic1", resume=resume), person)

    def _backend(self) -> AgentBackend:
        self._backends.append(self.kind.make(self._place, "", self.fault, self._spawn, self._ids))
        return self._backends[-1]

    async def _spawn(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> LinePipe:
        played = PlayedPipe(self._processes.pop(0), self.kind.trim)
        self._pipes.append((MeddledPipe(played), played))
        return self._pipes[-1][0]

    def model_heard(self, text: str) -> bool:
        return self._noted(f"heard {text}")

    def has_file(self, name: str) -> bool:
        return self._noted(f"file {name}")

    def _noted(self, name: str) -> bool:
        note = self._notes.pop(0)
        assert note["name"] == name, f"the recording noted {note['name']!r}; record it anew"
        return bool(note["value"])

    def slip(self, *lines: bytes) -> None:
        self._pipes[-1][0].slipped.extend(lines)

    async def kill(self, session: AgentSession) -> None:
        self._pipes[-1][1].kill()

    def tree(self, session: AgentSession) -> set[ProcessRecord]:
        return set()

    async def close(self) -> None:
        await asyncio.gather(*(backend.close() for backend in self._backends))
        unexpected = [line for _, pipe in self._pipes for line in pipe.unexpected]
        assert unexpected == [], "the hub wrote what the recording does not hold"


def _by_pipe(entries: list[Entry]) -> list[list[Entry]]:
    numbers = sorted({entry.pipe for entry in entries if entry.kind != "note"})
    return [[entry for entry in entries if entry.pipe == number] for number in numbers]


def make_place(folder: Path) -> Place:
    """Fresh folders below ``folder``."""
    place = Place(folder / "project", folder / "home")
    place.folder.mkdir(parents=True)
    place.home.mkdir()
    return place


@contextlib.asynccontextmanager
async def live(kind: Kind, folder: Path, scripts: Mapping[str, Script] = SCRIPTS) -> AsyncIterator[LiveRig]:
    """A live rig; the model is served until the end."""
    place, model = make_place(folder), ScriptedModel(scripts)
    with kind.serve(model, place) as url:
        rig = LiveRig(kind, place, url, model)
        try:
            yield rig
        finally:
            await rig.close()


@contextlib.asynccontextmanager
async def played(kind: Kind, promise: str, folder: Path) -> AsyncIterator[PlayedRig]:
    """A rig that plays the recorded exchange of one promise."""
    rig = PlayedRig(kind, make_place(folder), FIXTURES / kind.name / f"{promise}.jsonl")
    yield rig
    await rig.close()
