"""What every message of an agent becomes (``events.toml``), and how a message is called."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.codex.wire.events import IGNORED
from agents.codex.wire.items import IGNORED_ITEMS
from tests.contract.exchange import load
from tests.contract.rig import FIXTURES

TABLE = Path(__file__).with_name("events.toml")
ACP_KINDS = ("qwen", "hermes", "opencode", "demo")
"""Kinds that speak ACP: the rows of ``acp`` are theirs too, before rows of their own."""
Name = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Becomes:
    """``event`` is a name of the contract, "" for what is left out on purpose; ``seen`` says what, or why not."""

    event: str
    seen: str


def table() -> dict[str, dict[str, Becomes]]:
    """Kind -> message -> what it becomes."""
    raw = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found = {kind: {name: Becomes(*row) for name, row in rows.items()} for kind, rows in raw.items()}
    for kind in ACP_KINDS:
        found[kind] = found["acp"] | found.get(kind, {})
    for kind, ignored in _IGNORED_BY_ADAPTERS.items():
        found[kind] |= {name: Becomes("", why) for name, why in ignored.items()}
    return found


_IGNORED_BY_ADAPTERS = {"codex": {**IGNORED, **{f"item {name}": why for name, why in IGNORED_ITEMS.items()}}}
"""An adapter that says in its own code what it leaves out, and why, is not asked twice."""


def _codex(message: Mapping[str, Any]) -> str:
    method = str(message.get("method", ""))
    item = (message.get("params") or {}).get("item")
    return f"item {item['type']}" if method.startswith("item/") and isinstance(item, dict) else method


def _claude(message: Mapping[str, Any]) -> str:
    kind = str(message.get("type", ""))
    inner = {"stream_event": ("event", "type"), "control_request": ("request", "subtype")}.get(kind)
    part = message[inner[0]][inner[1]] if inner else message.get("subtype", "")
    return f"{kind} {part}".strip()


def _acp(message: Mapping[str, Any]) -> str:
    method = str(message.get("method", ""))
    update = (message.get("params") or {}).get("update")
    return str(update["sessionUpdate"]) if method == "session/update" and isinstance(update, dict) else method


_NAMES: Mapping[str, Name] = {"codex": _codex, "claude": _claude}


def recorded(kind: str) -> Iterator[str]:
    """The names of all messages of this kind of agent in the recorded exchanges; "" is an answer to a call of ours."""
    name = _NAMES.get(kind, _acp)
    for file in sorted((FIXTURES / kind).glob("*.jsonl")):
        for entry in load(file, {}):
            if entry.kind == "out":
                yield name(entry.message)
