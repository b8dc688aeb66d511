"""A shelf with something on it, and parcels made by hand."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agents.contract import SessionId, Snapshot
from bridge.snapshots import Saved, Shelf
from tests.bridge.clocks import HandClock

BODY = b'{"type":"user","text":"the plan is blue"}\n'


def shelf_in(folder: Path) -> Shelf:
    ids = itertools.count(1)
    return Shelf(folder, HandClock(), lambda: f"id{next(ids):06}")


async def save(shelf: Shelf, name: str = "first", body: bytes = BODY, agent: str = "demo") -> Saved:
    """Save a session of one file."""

    async def export(to: Path) -> Snapshot:
        to.mkdir(parents=True)
        (to / "session.jsonl").write_bytes(body)
        return Snapshot(agent, SessionId("abc-1"), "1.2.3", "The blue plan", Path("/home/anna/project"), to)

    return await shelf.add(export, name, "")


def manifest(files: dict[str, bytes] | None = None, **changes: Any) -> dict[str, Any]:
    """A good manifest, then changed."""
    files = {"session.jsonl": BODY} if files is None else files
    listed = [
        {"path": path, "size": len(body), "sha256": hashlib.sha256(body).hexdigest()} for path, body in files.items()
    ]
    good = {
        "format": 1,
        "name": "first",
        "agent": "demo",
        "version": "1.2.3",
        "title": "The blue plan",
        "session": "abc-1",
        "folder": "/home/anna/project",
        "saved": 1_700_000_000.0,
        "files": listed,
    }
    return {**good, **changes}


def entry(name: str, mode: int = 0o100600) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


def parcel(entries: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    """A zip of just these entries."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        for name, body in entries:
            made.writestr(name if isinstance(name, zipfile.ZipInfo) else entry(name), body)
    return held.getvalue()


def good(files: dict[str, bytes] | None = None, **changes: Any) -> list[tuple[str | zipfile.ZipInfo, bytes]]:
    """The entries of a parcel with one session, its manifest changed."""
    files = {"session.jsonl": BODY} if files is None else files
    head: tuple[str | zipfile.ZipInfo, bytes] = ("1/manifest.json", json.dumps(manifest(files, **changes)).encode())
    return [head, *((f"1/files/{path}", body) for path, body in files.items())]
