"""JSON objects out of bytes that nobody vouches for: a line of an agent, its history on disk, a saved session.

Every byte may come from a stranger: what is no JSON object is None here, never an exception. Only opening and reading
a file may fail, with OSError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents.lines import MAX_LINE

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
"""How JSON writes half of a surrogate pair; also the beginning of a whole one."""
_HALF = re.compile("[\ud800-\udfff]")


def read_object(data: bytes | str) -> dict[str, Any] | None:
    """The object that ``data`` is, None for anything else: half a line, no JSON, a list, nested beyond reason.

    Bytes that are no UTF-8 become the replacement character: one broken letter must not cost a whole message. So do
    halves of surrogate pairs, which agents do write where a text was cut: neither SQLite nor Telegram takes them.
    """
    text = data if isinstance(data, str) else data.decode("utf-8", errors="replace")
    try:
        value = json.loads(text)
        if _HALF_PAIR.search(text):
            value = _mended(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _mended(value: Any) -> Any:
    """The same without halves of surrogate pairs; a whole pair is one letter by now."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value


def objects_in(file: Path, longest: int = MAX_LINE) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file, in order; what is none is left out, as is a last line cut by a kill.

    A line of more than ``longest`` bytes is passed over without ever being in memory whole. Raises OSError.
    """
    with file.open("rb") as stream:
        while line := stream.readline(longest + 1):
            if len(line) > longest and not line.endswith(b"\n"):
                while (rest := stream.readline(longest)) and not rest.endswith(b"\n"):
                    pass
            elif (found := read_object(line)) is not None:
                yield found
