"""``agent-hub snapshots``: see what is saved, and carry it to another computer in one file. Works while a hub runs."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agents.contract import HubError
from app.console import complain, say, say_json
from app.paths import folders
from bridge.clock import SystemClock
from bridge.snapshots import Saved, Shelf
from bridge.snapshots.parcel import pack, unpack
from bridge.texts import tr


def snapshots_command(
    action: str, data_dir: Path | None, *, file: Path | None, names: Sequence[str], as_json: bool
) -> int:
    """Run one of list, export, import; returns the exit code. Raises HubError with what to tell the person."""
    shelf = Shelf(folders(data_dir).data / "snapshots", SystemClock(), lambda: secrets.token_hex(8))
    if action == "list":
        return show(shelf, as_json=as_json)
    if file is None:
        raise HubError(tr("Which file?"), tr("Write: agent-hub snapshots {action} FILE", action=action))
    if action == "export":
        return export(shelf, file.absolute(), names)
    return bring(shelf, file.absolute())


def show(shelf: Shelf, *, as_json: bool) -> int:
    """One line for each saved session."""
    found, damaged = shelf.all(), shelf.damaged_ids()
    if as_json:
        say_json([{**asdict(saved), "size": saved.size} for saved in found])
    else:
        for saved in found:
            say(line(saved))
        if not found:
            say(tr("Nothing is saved. Send /save in a topic."))
    for name in damaged:
        complain(tr("Damaged and left out: {names}", names=name))
    return 1 if damaged else 0


def line(saved: Saved) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(saved.saved))
    return f"{saved.name} · {saved.agent} {saved.version} · {when} · {saved.size} B · {saved.cwd}"


def export(shelf: Shelf, file: Path, names: Sequence[str]) -> int:
    """Everything, or the named ones, into one new file."""
    chosen = [shelf.find(name) for name in names] if names else shelf.all()
    if not chosen:
        raise HubError(tr("Nothing is saved."), tr("Send /save in a topic first."))
    pack(shelf, chosen, file)
    for saved in chosen:
        say(line(saved))
    say(tr("Written to {file}. It holds whole conversations: keep it where only you can read it.", file=file))
    _say_limits(chosen)
    return 0


def bring(shelf: Shelf, file: Path) -> int:
    """Everything of a parcel, or nothing."""
    found = unpack(shelf, file)
    for saved in found:
        say(line(saved))
    say(tr("Brought here. Send /restore in a topic."))
    _say_limits(found)
    return 0


def _say_limits(found: Sequence[Saved]) -> None:
    """What can't be carried as well as the rest."""
    if any(saved.agent == "hermes" for saved in found):
        say(
            tr(
                "Hermes: the conversation is carried, its model is not. It is restored only where Hermes has had at "
                "least one task, and goes on with the model used there last."
            )
        )
