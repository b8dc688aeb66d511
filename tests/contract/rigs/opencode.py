"""OpenCode for the contract suite: an agent the hub has no adapter for, driven by three lines of settings."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

from agents.acp.backend import AcpBackend
from agents.contract import AgentBackend, AgentLaunch
from agents.finding import Finder
from tests.contract.exchange import Ids
from tests.contract.rig import Fault, Kind, Place, Spawn
from tests.contract.rigs import acp
from tests.models.chat import ChatWire, opencode_tools
from tests.models.script import ScriptedModel
from tests.models.server import LoopbackServer
from tests.parts import require_program


def config(url: str) -> dict[str, Any]:
    """A provider of its own, and everything asked for."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {"scripted": {"name": "Scripted"}},
    }
    return {
        "model": "local/scripted",
        "small_model": "local/scripted",
        "provider": {"local": provider},
        "permission": {"bash": "ask", "edit": "ask"},
        "autoupdate": False,
        "share": "disabled",
    }


def make(place: Place, url: str, fault: Fault, spawn: Spawn, ids: Ids) -> AgentBackend:
    """A backend whose program sees nothing of this computer's user."""
    folder = place.home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.json").write_text(json.dumps(config(url)), encoding="utf-8")
    program = str(require_program("opencode")) if url else sys.executable
    if fault is Fault.EXITS:
        program = acp.broken(place)
    env = {"HOME": str(place.home), "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    launch = AgentLaunch(command=program, args=("acp",), env=env)
    return AcpBackend("opencode", launch, Finder(acp.shell(), home=place.home), parts=acp.parts(spawn, ids))


@contextlib.contextmanager
def serve(model: ScriptedModel, place: Place) -> Iterator[str]:
    """The scripted model in the chat-completions format."""
    with LoopbackServer(ChatWire(model, lambda call: opencode_tools(call, str(place.folder)))) as server:
        yield server.url


KIND = Kind("opencode", make, serve, acp.trim, acp.UNKNOWN, acp.MALFORMED)
