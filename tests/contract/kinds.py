"""Which kinds the suite runs over, and what each keeps of every promise (``table.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.contract.promises import PROMISES, Promise
from tests.contract.rig import Kind
from tests.contract.rigs import claude, codex, demo, hermes, opencode, qwen

TABLE = Path(__file__).with_name("table.toml")
_ALL = (claude.KIND, codex.KIND, demo.KIND, qwen.KIND, hermes.KIND, opencode.KIND)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}


class How(StrEnum):
    """Where a promise is kept."""

    IN_PROTOCOL = "in the protocol"
    BY_TOOL = "by a tool of the hub"
    BY_HUB = "by the hub"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Kept:
    """``why`` is a sentence for everything that is not simply in the protocol."""

    how: How
    why: str = ""


def table() -> dict[str, dict[str, Kept]]:
    """Kind -> promise -> how it is kept; what ``table.toml`` does not name is in the protocol."""
    raw = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Kept]] = {}
    for kind, exceptions in raw.items():
        found[kind] = {name: Kept(How.IN_PROTOCOL) for name in PROMISES}
        for name, entry in exceptions.items():
            assert name in PROMISES, f"{TABLE.name}: {kind} speaks of {name}, which nobody promised"
            found[kind][name] = Kept(How(entry["how"]), entry["why"])
    return found


def cases(*, is_live: bool) -> Iterator[tuple[Kind, Promise]]:
    """What is to be run: every promise that a kind keeps in its protocol."""
    for name, kept in table().items():
        for promise in PROMISES.values():
            how = kept[promise.name].how
            if is_live and how in {How.IN_PROTOCOL, How.BY_TOOL}:
                yield KINDS[name], promise
            elif how is How.IN_PROTOCOL and not promise.is_live_only:
                yield KINDS[name], promise  # a tool of the hub speaks beside the wire that is recorded
