"""The demo agent for the contract suite: no model, the scripts are its own scenes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.contract import AgentBackend, AgentLaunch
from agents.demo.backend import DemoBackend
from agents.finding import Finder
from agents.processes import LinePipe
from tests.contract.exchange import Ids
from tests.contract.rig import Fault, Kind, Place, Spawn
from tests.contract.rigs import acp
from tests.models.script import (
    SCRIPTS,
    Ask,
    Edit,
    Fail,
    Hang,
    Part,
    ProposePlan,
    Run,
    Say,
    Script,
    ScriptedModel,
    SendFile,
    Think,
    Write,
)


def make(place: Place, url: str, fault: Fault, spawn: Spawn, ids: Ids) -> AgentBackend:
    """A backend whose program keeps its sessions in the run's own folder."""
    file = place.home / "script.json"
    scenes = {name: scene(script) for name, script in SCRIPTS.items()}
    file.write_text(json.dumps(scenes), encoding="utf-8")
    env = {
        "HOME": str(place.home),
        "DEMO_AGENT_HOME": str(sessions(place)),
        "DEMO_AGENT_PACE": "0",
        "DEMO_AGENT_SCRIPT": str(file),
    }

    async def start(command: Sequence[str], cwd: Path, variables: Mapping[str, str]) -> LinePipe:
        return await spawn([acp.broken(place)] if fault is Fault.EXITS else command, cwd, variables)

    return DemoBackend(AgentLaunch(env=env), Finder(acp.shell(), home=place.home), parts=acp.parts(start, ids))


def sessions(place: Place) -> Path:
    return place.home / "sessions"


def scene(script: Script) -> list[dict[str, Any]]:
    """A neutral script as the demo agent's steps."""
    return [step for answer in script for part in answer if (step := as_step(part))]


def as_step(part: Part) -> dict[str, Any]:
    """One step; empty for what has no meaning without a model."""
    match part:
        case Say(text, chunks, delay):
            step: dict[str, Any] = {"say": text, "pieces": chunks, "delay": delay}
        case Think(text):
            step = {"think": text}
        case Fail(_, _, message):
            step = {"fail": message}
        case Hang(seconds):
            step = {"wait": seconds}
        case _:
            step = call_step(part)
    return step


def call_step(part: Part) -> dict[str, Any]:
    """One step that does something."""
    match part:
        case Run(command, in_background):
            step: dict[str, Any] = {"run": command, "background": in_background}
        case Write(path, content):
            step = {"write": path, "text": content}
        case Edit(path, old, new):
            step = {"edit": path, "old": old, "new": new}
        case Ask(question, choices, is_multiple):
            options = [{"label": choice} for choice in choices]
            step = {"ask": [{"question": question, "options": options, "multiple": is_multiple}]}
        case SendFile(path, caption):
            step = {"send": path, "caption": caption}
        case ProposePlan(plan):
            step = {"plan": plan.splitlines()}
        case _:
            step = {}
    return step


class Memory(ScriptedModel):
    """There is no model: what the agent keeps of a conversation is what it was told."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def was_told(self, text: str) -> bool:
        files = sessions(self._place).glob("*.jsonl")
        return any(
            text in str(json.loads(line).get("text")) for file in files for line in file.read_text().splitlines()
        )


@contextlib.contextmanager
def serve(model: ScriptedModel, place: Place) -> Iterator[str]:
    """Nothing to serve; the agent's own memory answers what it was told."""
    model.was_told = Memory(place).was_told  # type: ignore[method-assign]
    yield "none"


KIND = Kind("demo", make, serve, acp.trim, acp.UNKNOWN, acp.MALFORMED)
