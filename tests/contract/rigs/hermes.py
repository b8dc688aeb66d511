"""Hermes for the contract suite."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping

from agents.contract import AgentBackend, AgentLaunch
from agents.finding import Finder
from agents.hermes.backend import HermesBackend
from tests.contract.exchange import Ids
from tests.contract.rig import Fault, Kind, Place, Spawn
from tests.contract.rigs import acp
from tests.models.chat import ChatWire, hermes_tools
from tests.models.script import Call, ScriptedModel
from tests.models.server import LoopbackServer
from tests.parts import require_program


def make(place: Place, url: str, fault: Fault, spawn: Spawn, ids: Ids) -> AgentBackend:
    """A backend whose program sees nothing of this computer's user."""
    folder = place.home / ".hermes"
    folder.mkdir(exist_ok=True)
    if fault is not Fault.NO_LOGIN:
        model = f'model: {{default: scripted, provider: custom, base_url: "{url}/v1", api_key: dummy}}\n'
        (folder / "config.yaml").write_text(model, encoding="utf-8")
    program = str(require_program("hermes-acp")) if url else sys.executable
    if fault is Fault.EXITS:
        program = acp.broken(place)
    env = {"HOME": str(place.home), "HERMES_HOME": str(folder)}
    launch = AgentLaunch(command=program, env=env)
    return HermesBackend(launch, Finder(acp.shell(), home=place.home), parts=acp.parts(spawn, ids))


@contextlib.contextmanager
def serve(model: ScriptedModel, place: Place) -> Iterator[str]:
    """The scripted model in the chat-completions format."""
    is_suite = "hello" in model.scripts

    def tools(call: Call) -> tuple[str, Mapping[str, object]]:
        return hermes_tools(call, str(place.folder), is_dangerous=is_suite)

    with LoopbackServer(ChatWire(model, tools)) as server:
        yield server.url


KIND = Kind("hermes", make, serve, acp.trim, acp.UNKNOWN, acp.MALFORMED)
