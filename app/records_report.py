"""``agent-hub audit`` and ``agent-hub approvals list``: what was decided and what waits. They only read.

Nothing on the command line can allow anything: an agent with a shell would approve itself.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agents.contract import HubError
from app.console import say, say_json
from app.paths import folders
from bridge.audit import AuditLine, audit_lines
from bridge.pending.rows import PastAsk, open_rows
from bridge.store.glance import Glance
from bridge.texts import tr
from bridge.unseen import reveal

_SPAN = re.compile(r"(\d{1,5})\s*([mhdw])")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
SUBJECT = 100


def audit_command(data_dir: Path | None, *, since: str, as_json: bool) -> int:
    """Print the record of decisions, oldest first; returns the exit code."""
    start = moment(since).timestamp() if since else 0.0
    with glance(data_dir) as database:
        lines = audit_lines(database, since=start)
    if as_json:
        say_json([audit_shape(line) for line in lines])
        return 0
    for line in lines:
        say(audit_text(line))
    if not lines:
        say(tr("Nothing was decided in this time."))
    return 0


def approvals_command(data_dir: Path | None, *, as_json: bool) -> int:
    """Print what waits for a decision; returns the exit code."""
    with glance(data_dir) as database:
        waiting = open_rows(database)
    if as_json:
        say_json([ask_shape(ask) for ask in waiting])
        return 0
    for ask in waiting:
        what, tool = one_line(ask.subject or ask.title), reveal(ask.tool) or tr("question")
        say(f"{stamp(ask.opened_at)}  {ask.agent_title}  {tool}  {what}")
    say(tr("Decide on the phone or in the window.") if waiting else tr("Nothing waits for a decision."))
    return 0


def glance(data_dir: Path | None) -> Glance:
    """The database of this instance; raises HubError when there is none yet."""
    file = folders(data_dir).database_file
    if not file.is_file():
        raise HubError(tr("There is no record yet."), tr("Start the hub once: agent-hub run"), str(file))
    return Glance(file)


def moment(text: str) -> datetime:
    """A time from "2h", "3d", "2026-11-30" or "2026-11-30T08:00"; local where no zone is given. Raises HubError."""
    span = _SPAN.fullmatch(text.strip().lower())
    if span is not None:
        return datetime.now(UTC) - int(span[1]) * _UNITS[span[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except ValueError:
        raise HubError(
            tr("“{text}” is no time.", text=text), tr("Write 30m, 2h, 3d, 1w, or a date like 2026-11-30.")
        ) from None


def stamp(seconds: float) -> str:
    """Local date and time."""
    return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M:%S}"


def one_line(text: str) -> str:
    """A subject on one line; what a terminal would obey is shown instead."""
    line = " ".join(reveal(text).split())
    return line if len(line) <= SUBJECT else f"{line[: SUBJECT - 1]}…"


def audit_text(line: AuditLine) -> str:
    """One decision for people."""
    told = {True: tr("delivered"), False: tr("not delivered"), None: ""}[line.delivered]
    parts = (
        stamp(line.at),
        line.event.value,
        line.way,
        reveal(line.by_name),
        line.agent,
        reveal(line.tool),
        one_line(line.subject),
        told,
    )
    return "  ".join(part for part in parts if part)


def audit_shape(line: AuditLine) -> dict[str, object]:
    """One decision for programs; ``at`` is ISO 8601 in UTC."""
    shape = asdict(line)
    shape["at"] = datetime.fromtimestamp(line.at, UTC).isoformat()
    shape["class"] = shape.pop("klass")
    return shape


def ask_shape(ask: PastAsk) -> dict[str, object]:
    """One open request for programs."""
    return {
        "token": ask.token,
        "chat_id": ask.place.chat_id,
        "topic_id": ask.place.topic_id,
        "agent": ask.agent,
        "kind": ask.kind.value,
        "tool": ask.tool,
        "class": ask.klass,
        "title": ask.title,
        "subject": ask.subject,
        "folder": str(ask.cwd),
        "opened": datetime.fromtimestamp(ask.opened_at, UTC).isoformat(),
        "expires": datetime.fromtimestamp(ask.expires_at, UTC).isoformat(),
    }
