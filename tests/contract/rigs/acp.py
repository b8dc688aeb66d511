"""What the kinds that speak ACP have in common in the contract suite."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from agents.acp.backend import Parts
from agents.login_shell import LoginShell
from tests.contract.exchange import Ids
from tests.contract.rig import Place, Spawn

UNKNOWN = b'{"jsonrpc":"2.0","method":"something/ofTomorrow","params":{"value":[1,2]}}'
MALFORMED = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpd'


def parts(spawn: Spawn, ids: Ids) -> Parts:
    """The hub's side of the wire, the same in every run."""

    async def start(command: Any, cwd: Any, env: Any) -> Any:
        return await spawn(command, cwd, env or {})

    return Parts(spawn=start, new_id=ids)


def shell() -> LoginShell:
    """A terminal that knows nothing but where programs are."""
    return LoginShell({"PATH": os.environ.get("PATH", os.defpath), "SHELL": "/bin/sh"})


def broken(place: Place) -> str:
    """A program that ends at once and says why."""
    program = place.home / "broken"
    program.write_text("#!/bin/sh\necho 'no such configuration' >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def trim(message: dict[str, Any]) -> dict[str, Any] | None:
    """The same secret in every run, and no texts that the agent's makers wrote."""
    params = message.get("params")
    if isinstance(params, dict) and "mcpServers" in params:
        return {**message, "params": {**params, "mcpServers": []}}
    if isinstance(params, dict) and isinstance(params.get("update"), dict):
        return {**message, "params": {**params, "update": _update(params["update"])}}
    result = message.get("result")
    if isinstance(result, dict):
        return {**message, "result": _result(result)}
    return message


def _update(update: Mapping[str, Any]) -> dict[str, Any]:
    if update.get("sessionUpdate") == "available_commands_update":
        commands = [{"name": item.get("name"), "description": ""} for item in update.get("availableCommands", [])]
        return {**update, "availableCommands": commands[:5], "_meta": {}}
    return dict(update)


def _result(result: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in result.items() if key not in {"authMethods", "_meta"}}
    about = result.get("_meta")
    if isinstance(about, dict) and "agentHub" in about:
        kept["_meta"] = {"agentHub": about["agentHub"]}  # what our own shim did
    for key in ("modes", "models"):
        if isinstance(kept.get(key), dict):
            kept[key] = {name: _without_words(value) for name, value in kept[key].items()}
    if isinstance(kept.get("configOptions"), list):
        kept["configOptions"] = [_without_words(option) for option in kept["configOptions"]]
    return kept


def _without_words(value: Any) -> Any:
    """The value without descriptions, at most eight of a list."""
    if isinstance(value, list):
        return [_without_words(item) for item in value[:8]]
    if isinstance(value, dict):
        return {key: _without_words(item) for key, item in value.items() if key not in {"description", "_meta"}}
    return value
