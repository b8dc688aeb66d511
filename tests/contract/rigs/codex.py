"""Codex for the contract suite."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from agents.codex.backend import CodexBackend
from agents.contract import AgentBackend, AgentLaunch
from agents.finding import Finder
from agents.login_shell import LoginShell
from tests.contract.exchange import Ids
from tests.contract.rig import Fault, Kind, Place, Spawn
from tests.models.responses import ResponsesWire, codex_home, codex_tools
from tests.models.script import ScriptedModel
from tests.models.server import LoopbackServer
from tests.parts import require_program


def make(place: Place, url: str, fault: Fault, spawn: Spawn, ids: Ids) -> AgentBackend:
    """A backend whose program sees nothing of this computer's user."""
    home = place.home / "codex"
    env = codex_home(home, url) | {"HOME": str(place.home)}
    if fault is Fault.NO_LOGIN:
        (home / "config.toml").write_text("check_for_update_on_startup = false\n", encoding="utf-8")
    program = str(require_program("codex")) if url else sys.executable
    if fault is Fault.EXITS:
        program = _broken(place)
    shell = LoginShell({"PATH": os.environ.get("PATH", os.defpath), "SHELL": "/bin/sh"})
    launch = AgentLaunch(command=program, env=env)
    return CodexBackend(launch, Finder(shell, home=place.home), new_id=ids, spawn=spawn)


def _broken(place: Place) -> str:
    program = place.home / "broken"
    program.write_text("#!/bin/sh\necho 'no such configuration' >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


@contextlib.contextmanager
def serve(model: ScriptedModel, place: Place) -> Iterator[str]:
    """The scripted model in the wire format of the Responses API."""
    with LoopbackServer(ResponsesWire(model, codex_tools)) as server:
        yield server.url


_THREAD = {"id", "path", "cwd", "name", "preview", "cliVersion", "updatedAt", "status", "parentThreadId", "historyMode"}
_ANSWERED = {"model", "reasoningEffort", "approvalPolicy", "sandbox"}
_WORDS_OF_CODEX = {"configWarning", "warning", "deprecationNotice"}


def trim(message: dict[str, Any]) -> dict[str, Any] | None:
    """Keep what the adapter reads; drop Codex' own texts (warnings, the catalogue of models, its instructions)."""
    method = message.get("method")
    params = message.get("params")
    if method in _WORDS_OF_CODEX and isinstance(params, dict):
        return {**message, "params": {"threadId": params.get("threadId"), "message": "(words of Codex)"}}
    if method in {"thread/started", "remoteControl/status/changed"}:
        return {"method": method, "params": {}}
    if method == "turn/diff/updated":
        return {"method": method, "params": {"threadId": message["params"]["threadId"]}}
    result = message.get("result")
    if isinstance(result, dict):
        return {**message, "result": _result(result)}
    return {key: value for key, value in message.items() if key != "emittedAtMs"}


def _result(result: dict[str, Any]) -> dict[str, Any]:
    if isinstance(result.get("thread"), dict):
        thread = {key: value for key, value in result["thread"].items() if key in _THREAD}
        return {"thread": thread, **{key: value for key, value in result.items() if key in _ANSWERED}}
    if "userAgent" in result:
        return {"userAgent": result["userAgent"].split(" ")[0], "codexHome": result["codexHome"]}
    models = result.get("data")
    if isinstance(models, list) and models and "displayName" in models[0]:
        kept = {"id", "model", "displayName", "isDefault", "hidden"}
        return {"data": [{key: model[key] for key in kept if key in model} for model in models]}
    return result


KIND = Kind(
    name="codex",
    make=make,
    serve=serve,
    trim=trim,
    unknown=b'{"method":"something/ofTomorrow","params":{"value":[1,2]}}',
    malformed=b'{"method":"item/completed","params":{"item":{"type":"agentMess',
)
