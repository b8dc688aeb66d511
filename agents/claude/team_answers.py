"""What members of a team answered the person, read from their own histories.

A member has no way to write to the person: its tool says that nobody of that name can be reached (measured on
2.1.332). What it answers to a message from ``user`` is the text that ends the turn of that message, in the history
beside the lead's: ``projects/*/<lead session>/subagents/agent-*.jsonl``, whose ``.meta.json`` names member and team.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agents.claude.messages import Json
from agents.claude.wire import object_of, objects_of, text_of
from agents.contract.teams import TeamReply
from agents.json_lines import read_object

HISTORY_LIMIT = 16_000_000
"""Bytes of the end of a history that are read."""
ABOUT_LIMIT = 100_000
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
_FROM_PERSON = re.compile(r'<teammate-message\s[^>]*teammate_id="user"')
_PROMPT = "<teammate-message"


@dataclass(frozen=True, slots=True)
class History:
    """One member's history; ``updated`` is wall clock, seconds."""

    member: str
    file: Path
    updated: float


def histories(projects: Path, lead_session: str, team: str) -> Iterator[History]:
    """The histories of a team's members; blocks."""
    if not _SESSION.fullmatch(lead_session):
        return
    for about in projects.glob(f"*/{lead_session}/subagents/*.meta.json"):
        with contextlib.suppress(OSError):
            found = read_object(about.read_bytes()[:ABOUT_LIMIT])
            file = about.with_name(about.name.removesuffix(".meta.json") + ".jsonl")
            if found is not None and text_of(found, "teamName") == team:
                yield History(text_of(found, "name"), file, file.stat().st_mtime)


def answers(history: History) -> Iterator[TeamReply]:
    """What the member answered to messages of the person, in order; blocks."""
    is_to_person = False
    for entry in _entries(history.file):
        message = object_of(entry, "message")
        if text_of(entry, "type") == "user":
            prompt = _text(message)
            if prompt.startswith(_PROMPT):
                is_to_person = _FROM_PERSON.search(prompt) is not None
        elif text_of(entry, "type") == "assistant" and is_to_person and text_of(message, "stop_reason") != "tool_use":
            text, key = _text(message).strip(), text_of(entry, "uuid")
            if text and key:
                yield TeamReply(key, history.member, text)


def _text(message: Json) -> str:
    texts = [text_of(message, "content"), *(text_of(block, "text") for block in objects_of(message, "content"))]
    return "\n".join(text for text in texts if text)


def _entries(file: Path) -> Iterator[Json]:
    """Whole lines only: the last one may be half written, the first one cut by our limit."""
    try:
        with file.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - HISTORY_LIMIT))
            lines = stream.read(HISTORY_LIMIT).split(b"\n")[:-1]
    except OSError:
        return
    for line in lines:
        if not line.startswith(b'{"type":"api-request') and (entry := read_object(line)) is not None:
            yield entry
