"""The shapes of ACP by which a process and its sessions are opened and listed. Pure, see ``wire``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.acp.wire import (
    ConfigOption,
    Json,
    OptionValue,
    mapping,
    number,
    objects,
    read_config_options,
    read_value,
    text,
)

PROTOCOL_VERSION = 1
AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002


@dataclass(frozen=True, slots=True)
class Offers:
    """What a session lets its user choose, from the result of new, load, resume or fork."""

    session_id: str = ""
    mode: str = ""
    modes: tuple[OptionValue, ...] = ()
    model: str = ""
    models: tuple[OptionValue, ...] = ()
    options: tuple[ConfigOption, ...] = ()
    is_empty: bool = True


def read_offers(result: Any) -> Offers:
    """The result of opening a session. ``is_empty``: the agent said nothing at all (Hermes: unknown session)."""
    body = mapping(result)
    modes, models = mapping(body.get("modes")), mapping(body.get("models"))
    return Offers(
        session_id=text(body.get("sessionId")),
        mode=text(modes.get("currentModeId")),
        modes=tuple(read_value(item, "id") for item in objects(modes.get("availableModes"))),
        model=text(models.get("currentModelId")),
        models=tuple(read_value(item, "modelId") for item in objects(models.get("availableModels"))),
        options=read_config_options(body.get("configOptions")),
        is_empty=not body,
    )


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """What ``initialize`` told."""

    name: str = ""
    title: str = ""
    version: str = ""
    protocol: int = PROTOCOL_VERSION
    can_load: bool = False
    takes_images: bool = False
    takes_http_tools: bool = False
    session_abilities: frozenset[str] = frozenset()
    login_methods: tuple[OptionValue, ...] = ()
    meta: Json = field(default_factory=dict)


def read_agent_info(result: Any) -> AgentInfo:
    """The result of ``initialize``."""
    body = mapping(result)
    info, can = mapping(body.get("agentInfo")), mapping(body.get("agentCapabilities"))
    abilities = mapping(can.get("sessionCapabilities"))
    return AgentInfo(
        name=text(info.get("name")),
        title=text(info.get("title")) or text(info.get("name")),
        version=text(info.get("version")),
        protocol=number(body.get("protocolVersion")) or PROTOCOL_VERSION,
        can_load=can.get("loadSession") is True,
        takes_images=mapping(can.get("promptCapabilities")).get("image") is True,
        takes_http_tools=mapping(can.get("mcpCapabilities")).get("http") is True,
        session_abilities=frozenset(
            name for name, value in abilities.items() if value is not None and value is not False
        ),
        meta=mapping(body.get("_meta")),
        login_methods=tuple(read_value(item, "id") for item in objects(body.get("authMethods"))),
    )


@dataclass(frozen=True, slots=True)
class ListedSession:
    """An entry of ``session/list``; ``updated`` is an ISO 8601 text or empty."""

    id: str
    cwd: str
    title: str
    updated: str


def read_sessions(result: Any) -> tuple[tuple[ListedSession, ...], str]:
    """One page of ``session/list`` and the cursor of the next one, empty at the end."""
    body = mapping(result)
    sessions = tuple(
        ListedSession(
            text(item.get("sessionId")), text(item.get("cwd")), text(item.get("title")), text(item.get("updatedAt"))
        )
        for item in objects(body.get("sessions"))
    )
    return sessions, text(body.get("nextCursor"))


def initialize_params(version: str) -> dict[str, Any]:
    """We declare no file and terminal service: the agent then works on disk itself, under its own rules."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "agent-hub", "title": "agent-hub", "version": version},
    }


@dataclass(frozen=True, slots=True)
class ToolServer:
    """An MCP server over stdio that the agent starts; ``env`` holds its secret, never ``args``."""

    name: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False, default_factory=dict)

    def as_wire(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "command": self.command,
            "args": list(self.args),
            "env": [{"name": name, "value": value} for name, value in self.env.items()],
        }
