"""The seal on each project rule, so that a row written by somebody else into the store grants nothing.

The store is a file that an agent's shell can write; the secret of the seal is kept elsewhere by ``SealKeeper``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Protocol

SEALED = ("id", "scope", "project", "agent", "tool", "match", "value", "by_id", "by_name", "created")
"""Columns of a rule's row that the seal covers: all that say what is granted, and by whom."""


class SealKeeper(Protocol):
    """Where the secret lives; asked only when there are project rules."""

    async def read(self) -> bytes:
        """The secret, b"" when there is none. Raises HubError when it can't be read now."""

    async def make(self) -> bytes:
        """The secret, a fresh one when there is none. Raises HubError when it can't be kept."""


def seal_of(row: Mapping[str, Any] | sqlite3.Row, secret: bytes) -> str:
    """The seal of a row as it is stored."""
    text = json.dumps([row[name] for name in SEALED], ensure_ascii=True)
    return hmac.new(secret, text.encode("ascii"), hashlib.sha256).hexdigest()


def is_sealed(row: sqlite3.Row, secret: bytes) -> bool:
    """Whether this row was written by a hub that knew the secret. Nothing is under no secret."""
    try:
        return bool(secret) and hmac.compare_digest(str(row["seal"]).encode(), seal_of(row, secret).encode())
    except TypeError:  # a blob where a text belongs: not ours
        return False
