"""Qwen Code for the contract suite."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator

from agents.contract import AgentBackend, AgentLaunch
from agents.finding import Finder
from agents.qwen.backend import QwenBackend
from tests.contract.exchange import Ids
from tests.contract.rig import Fault, Kind, Place, Spawn
from tests.contract.rigs import acp
from tests.models.chat import ChatWire, qwen_tools
from tests.models.script import ScriptedModel
from tests.models.server import LoopbackServer
from tests.parts import require_program

_SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
    # In its terminal a short command on a busy computer is hung up while it ends, and counts as failed although it
    # has done its work (77 of 400 on two busy processors, none of them undone).
    "tools": {"shell": {"enableInteractiveShell": False}},
    # The largest answer of the suite is one letter three million times, which Qwen takes for a model gone astray.
    "model": {"skipLoopDetection": True},
    # With these on, every turn starts model requests of its own.
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False, "enableAutoSkill": False},
}


def make(place: Place, url: str, fault: Fault, spawn: Spawn, ids: Ids) -> AgentBackend:
    """A backend whose program sees nothing of this computer's user."""
    folder = place.home / ".qwen"
    folder.mkdir(exist_ok=True)
    env = {"HOME": str(place.home)}
    if fault is not Fault.NO_LOGIN:
        (folder / "settings.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")
        env |= {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "dummy", "OPENAI_MODEL": "scripted"}
    program = str(require_program("qwen")) if url else sys.executable
    if fault is Fault.EXITS:
        program = acp.broken(place)
    launch = AgentLaunch(command=program, env=env)
    return QwenBackend(launch, Finder(acp.shell(), home=place.home), parts=acp.parts(spawn, ids))


@contextlib.contextmanager
def serve(model: ScriptedModel, place: Place) -> Iterator[str]:
    """The scripted model in the chat-completions format."""
    with LoopbackServer(ChatWire(model, lambda call: qwen_tools(call, str(place.folder)))) as server:
        yield server.url


KIND = Kind("qwen", make, serve, acp.trim, acp.UNKNOWN, acp.MALFORMED)
