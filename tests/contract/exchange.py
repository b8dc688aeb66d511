"""Exchanges with an agent's program: recorded from a real one, played back in memory without a process.

An exchange is a list of entries in the order of the wire. Playing it back keeps causality, not time: a line of the
agent comes when everything the hub had written before it was written again. A line the hub writes that is not in the
exchange makes the test fail.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from agents.contract import AgentGoneError
from agents.processes import LinePipe

Trim = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Makes a recorded message fit to be kept: no third-party text; None drops it."""
_REPEATED = re.compile(r"(.{1,8}?)\1{2000,}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """``pipe`` counts the processes of an exchange. Notes carry what a test saw beside the wire."""

    pipe: int
    kind: Literal["in", "out", "exit", "note"]
    message: Any
    is_killed: bool = False


class Ids:
    """Ids that are the same in every run, so that what was recorded fits what is played."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self) -> str:
        self._count += 1
        return str(uuid.UUID(int=(0xC0FFEE << 96) | self._count, version=4))


def save(entries: Iterable[Entry], file: Path, places: dict[str, str]) -> None:
    """Write an exchange; ``places`` are folders of this run and the names they get."""
    lines = []
    for entry in entries:
        line = json.dumps(asdict(entry) | {"message": _packed(entry.message)}, ensure_ascii=False)
        for folder, name in places.items():
            line = line.replace(folder, name)
        lines.append(line + "\n")
    file.write_text("".join(lines), encoding="utf-8")


def load(file: Path, places: dict[str, str]) -> list[Entry]:
    """Read an exchange; ``places`` are the names and the folders of this run."""
    text = file.read_text(encoding="utf-8")
    for name, folder in places.items():
        text = text.replace(name, folder)
    found = (json.loads(line) for line in text.splitlines())
    return [Entry(raw["pipe"], raw["kind"], _unpacked(raw["message"]), raw["is_killed"]) for raw in found]


def _packed(value: Any) -> Any:
    """Long runs of the same letters become a rule."""
    if isinstance(value, dict):
        return {key: _packed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_packed(item) for item in value]
    if isinstance(value, str) and len(value) > 4000 and (run := _REPEATED.fullmatch(value)):
        return {"$repeat": run[1], "times": len(value) // len(run[1])}
    return value


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        if "$repeat" in value:
            return value["$repeat"] * value["times"]
        return {key: _unpacked(item) for key, item in value.items()}
    return [_unpacked(item) for item in value] if isinstance(value, list) else value


class Recorder:
    """Collects the exchange of one promise."""

    def __init__(self, trim: Trim) -> None:
        self.entries: list[Entry] = []
        self._trim = trim
        self._pipes = 0

    def wrap(self, pipe: LinePipe) -> RecordedPipe:
        self._pipes += 1
        return RecordedPipe(pipe, self, self._pipes)

    def line(self, pipe: int, kind: Literal["in", "out"], line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return  # stray text is added by the tests themselves
        kept = self._trim(message)
        if kept is not None:
            self.entries.append(Entry(pipe, kind, kept))

    def note(self, name: str, value: bool) -> bool:
        self.entries.append(Entry(0, "note", {"name": name, "value": value}))
        return value


class RecordedPipe:
    """A pipe that writes down what passes."""

    def __init__(self, pipe: LinePipe, recorder: Recorder, number: int) -> None:
        self._pipe = pipe
        self._recorder = recorder
        self._number = number
        self._is_stopped = False
        self.is_killed = False

    @property
    def pid(self) -> int | None:
        return self._pipe.pid

    @property
    def last_heard(self) -> float:
        return self._pipe.last_heard

    @property
    def stderr_tail(self) -> str:
        return self._pipe.stderr_tail

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncIterator[bytes]:
        async for line in self._pipe.lines:
            self._recorder.line(self._number, "out", line)
            yield line
        by_hub = self._is_stopped
        code = await self._pipe.wait()
        # What a program that was ended prints is of no use, and not ours to keep.
        end: dict[str, Any] = {"code": code, "stderr": "" if by_hub else self.stderr_tail[-300:]}
        if by_hub:
            end["by_hub"] = True
        self._recorder.entries.append(Entry(self._number, "exit", end, self.is_killed))

    async def send(self, line: bytes) -> None:
        self._recorder.line(self._number, "in", line)
        await self._pipe.send(line)

    def close_input(self) -> None:
        self._pipe.close_input()

    async def wait(self) -> int | None:
        return await self._pipe.wait()

    async def stop(self, grace: float = 5.0) -> int | None:
        self._is_stopped = True
        return await self._pipe.stop(grace)


class PlayedPipe:
    """A pipe that plays one process of an exchange."""

    def __init__(self, entries: list[Entry], trim: Trim) -> None:
        self._entries = entries
        self._trim = trim
        self._expected = [entry.message for entry in entries if entry.kind == "in"]
        self._received = 0
        self._news = asyncio.Event()
        self._is_killed = False
        self._is_stopped = False
        self._end: Any = None
        self.unexpected: list[str] = []
        self.last_heard = time.monotonic()

    @property
    def pid(self) -> int | None:
        return None if self._end is not None else 1

    @property
    def stderr_tail(self) -> str:
        return "" if self._end is None else str(self._end["stderr"])

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._play()

    async def _play(self) -> AsyncIterator[bytes]:
        before = 0
        for entry in self._entries:
            if entry.kind == "in":
                before += 1
                continue
            await self._until(before, entry)
            if self._is_stopped or entry.kind == "exit":
                break
            self.last_heard = time.monotonic()
            yield json.dumps(entry.message, ensure_ascii=False).encode()
        exits = [entry.message for entry in self._entries if entry.kind == "exit"]
        self._end = exits[-1] if exits else {"code": 0, "stderr": ""}

    async def _until(self, count: int, entry: Entry) -> None:
        while not self._is_stopped:
            is_ready = self._received >= count and (self._is_killed or not entry.is_killed)
            if is_ready and not (entry.kind == "exit" and entry.message.get("by_hub")):
                return
            self._news.clear()
            await self._news.wait()

    async def send(self, line: bytes) -> None:
        if self._end is not None:
            raise AgentGoneError("The program has ended.", detail=self.stderr_tail)
        message = self._trim(json.loads(line))
        if message is None:
            return
        if message in self._expected:
            self._expected.remove(message)
            self._received += 1
        else:
            self.unexpected.append(line[:2000].decode())
        self._news.set()

    def kill(self) -> None:
        self._is_killed = True
        self._news.set()

    def close_input(self) -> None:
        """The exchange says what the program does then."""

    async def wait(self) -> int | None:
        return None if self._end is None else self._end["code"]

    async def stop(self, grace: float = 5.0) -> int | None:
        self._is_stopped = True
        self._news.set()
        return await self.wait()


class MeddledPipe:
    """A pipe into whose lines a test slips some of its own, in front of the next one that comes."""

    def __init__(self, pipe: LinePipe) -> None:
        self._pipe = pipe
        self.slipped: list[bytes] = []

    @property
    def pid(self) -> int | None:
        return self._pipe.pid

    @property
    def last_heard(self) -> float:
        return self._pipe.last_heard

    @property
    def stderr_tail(self) -> str:
        return self._pipe.stderr_tail

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncIterator[bytes]:
        async for line in self._pipe.lines:
            while self.slipped:
                yield self.slipped.pop(0)
            yield line

    async def send(self, line: bytes) -> None:
        await self._pipe.send(line)

    def close_input(self) -> None:
        self._pipe.close_input()

    async def wait(self) -> int | None:
        return await self._pipe.wait()

    async def stop(self, grace: float = 5.0) -> int | None:
        return await self._pipe.stop(grace)
