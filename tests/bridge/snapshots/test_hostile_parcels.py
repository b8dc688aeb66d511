"""Parcels from strangers: every one is refused in words, and nothing of it is left anywhere."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.snapshots import SnapshotError
from bridge.snapshots.manifest import BYTES_LIMIT, FILES_LIMIT
from bridge.snapshots.parcel import unpack
from tests.bridge.snapshots.making import BODY, entry, good, manifest, parcel, shelf_in

NAMES = {
    "climbs": "../evil",
    "climbs from inside": "a/../../evil",
    "climbs far": "../../../../../../tmp/evil",
    "is absolute": "/tmp/evil",
    "is absolute twice": "//tmp/evil",
    "names a drive": "C:/evil",
    "names a drive without a slash": "C:evil",
    "climbs in Windows' way": "..\\evil",
    "climbs in both ways": "a/..\\..\\evil",
    "names a share": "\\\\host\\share\\evil",
    "names a device path": "\\\\.\\pipe\\evil",
    "is a dot": ".",
    "is two dots": "..",
    "holds a dot": "a/./b",
    "has an empty part": "a//b",
    "ends with a slash": "a/",
    "is CON": "con",
    "is CON with a suffix": "CON.jsonl",
    "is NUL in a folder": "a/nul.txt",
    "is COM1": "com1.jsonl",
    "is LPT with a small digit": "lpt¹",
    "is the console's input": "CONIN$",
    "ends with a dot": "evil.",
    "ends with a blank": "evil ",
    "begins with a blank": " evil",
    "names a stream": "session.jsonl:hidden",
    "holds a line break": "a\nb",
    "holds an escape": "a\x1b[31mb",
    "holds a mark that turns the reading round": "gpj\u202eexe",
    "holds an invisible letter": "a\u200bb",
    "holds a star": "a*",
    "holds a question mark": "a?",
    "holds a quote": 'a"b',
    "holds a pipe": "a|b",
    "is too long": "a" * 300,
    "has a part that is too long in bytes": "é" * 150,
    "is too deep": "/".join("a" * 30),
}
MANIFESTS = {
    "is no JSON": b"{",
    "is a list": b"[]",
    "is a number": b"1",
    "is empty": b"",
    "is not UTF-8": b"\xff\xfe{}",
    "is nested too deep": b"[" * 200_000,
    "has no format": json.dumps({**manifest(), "format": None}).encode(),
    "has the format true": json.dumps({**manifest(), "format": True}).encode(),
    "has a format of tomorrow": json.dumps({**manifest(), "format": 2}).encode(),
    "names no files": json.dumps({**manifest(), "files": []}).encode(),
    "names files that are a text": json.dumps({**manifest(), "files": "session.jsonl"}).encode(),
    "names a file that is a text": json.dumps({**manifest(), "files": ["session.jsonl"]}).encode(),
    "names too many files": json.dumps(
        {**manifest(), "files": [{"path": f"{n}", "size": 0, "sha256": "0" * 64} for n in range(FILES_LIMIT + 1)]}
    ).encode(),
    "names a file twice": json.dumps({**manifest(), "files": manifest()["files"] * 2}).encode(),
    "names a negative size": json.dumps({**manifest(), "files": [{**manifest()["files"][0], "size": -1}]}).encode(),
    "names an absurd size": json.dumps({**manifest(), "files": [{**manifest()["files"][0], "size": 10**30}]}).encode(),
    "names a size that is a fraction": json.dumps(
        {**manifest(), "files": [{**manifest()["files"][0], "size": 1.5}]}
    ).encode(),
    "names another size": json.dumps({**manifest(), "files": [{**manifest()["files"][0], "size": 3}]}).encode(),
    "names another checksum": json.dumps(
        {**manifest(), "files": [{**manifest()["files"][0], "sha256": "0" * 64}]}
    ).encode(),
    "names a checksum that is none": json.dumps(
        {**manifest(), "files": [{**manifest()["files"][0], "sha256": "../../evil"}]}
    ).encode(),
    "names an agent with a path": json.dumps({**manifest(), "agent": "../evil"}).encode(),
    "names an agent that is a list": json.dumps({**manifest(), "agent": ["demo"]}).encode(),
    "names a session with a path": json.dumps({**manifest(), "session": "../../evil"}).encode(),
    "names a session that is an option": json.dumps({**manifest(), "session": "--dangerously"}).encode(),
    "names a session with a blank": json.dumps({**manifest(), "session": "a b"}).encode(),
    "holds half a letter": json.dumps({**manifest(), "title": "\ud800"}).encode(),
    "has a title without end": json.dumps({**manifest(), "title": "a" * 10_000}).encode(),
    "comes from no time": json.dumps({**manifest(), "saved": "yesterday"}).encode(),
    "comes from the end of time": b'{"format": 1, "saved": 1e999}',
}


def with_mode(mode: int) -> bytes:
    head, _ = good()
    return parcel([head, (entry("1/files/session.jsonl", mode), BODY)])


def lying_about_its_size() -> bytes:
    """The list of entries says 43 bytes, the entry unpacks to a hundred thousand."""
    raw = bytearray(parcel([good()[0], ("1/files/session.jsonl", b"0" * 100_000)]))
    at = raw.rfind(b"PK\x01\x02")
    raw[at + 24 : at + 28] = struct.pack("<L", len(BODY))
    return bytes(raw)


def encrypted() -> bytes:
    raw = bytearray(parcel(good()))
    at = raw.rfind(b"PK\x01\x02")
    raw[at + 8] |= 1
    return bytes(raw)


def packed_by(method: int) -> bytes:
    raw = bytearray(parcel(good()))
    at = raw.rfind(b"PK\x01\x02")
    raw[at + 10 : at + 12] = struct.pack("<H", method)
    return bytes(raw)


def bomb() -> bytes:
    """Says openly that it holds more than any session does."""
    raw = bytearray(parcel([*good(), ("1/files/more", b"")]))
    at = raw.rfind(b"PK\x01\x02")
    raw[at + 24 : at + 28] = struct.pack("<L", min(BYTES_LIMIT + 1, 0xFFFFFFFE))
    return bytes(raw)


def names_with_a_nul() -> bytes:
    raw = parcel([good()[0], ("1/files/session.jsonlXevil", BODY)])
    return raw.replace(b"session.jsonlXevil", b"session.jsonl\x00evil")


def damaged_in_the_middle() -> bytes:
    raw = bytearray(parcel(good({"session.jsonl": BODY * 500})))
    at = raw.find(b"session.jsonl")
    raw[at + 16 : at + 24] = b"\xff" * 8
    return bytes(raw)


def many_entries() -> bytes:
    raw = bytearray(parcel(good()))
    raw[-12:-10] = struct.pack("<H", 60_000)
    return bytes(raw)


ZIPS = {
    "is empty": b"",
    "is a text": b"hello, this is no zip at all, but it is long enough",
    "has no end": parcel(good())[:-10],
    "has something before it": b"#!/bin/sh\nrm -r ~\n" + parcel(good()),
    "has something after it": parcel(good()) + b"more",
    "holds nothing": parcel([]),
    "has no manifest": parcel(good()[1:]),
    "has no files": parcel(good()[:1]),
    "has a file that the manifest does not name": parcel([*good(), ("1/files/extra", b"x")]),
    "has a file beside the manifest": parcel([*good(), ("1/evil.sh", b"x")]),
    "has a file beside the sessions": parcel([*good(), ("evil.sh", b"x")]),
    "has a second session that is broken": parcel([*good(), ("2/manifest.json", b"{")]),
    "holds a link": with_mode(0o120777),
    "holds a device": with_mode(0o020666),
    "holds a pipe": with_mode(0o010666),
    "holds a folder with a file's name": with_mode(0o040755),
    "names the same file in two spellings": parcel([*good(), ("1/files/SESSION.jsonl", BODY)]),
    "is encrypted": encrypted(),
    "is packed by bzip2": packed_by(12),
    "is packed in an unknown way": packed_by(99),
    "lies about a size": lying_about_its_size(),
    "is a bomb": bomb(),
    "hides a name behind a NUL": names_with_a_nul(),
    "is damaged in the middle": damaged_in_the_middle(),
    "says that it has many entries": many_entries(),
}


def table() -> Iterator[tuple[str, bytes]]:
    for what, name in NAMES.items():
        yield f"a file's name {what}", parcel(good({name: BODY}))
        yield f"an entry's name {what}", parcel([good()[0], (name, BODY)])
    for what, text in MANIFESTS.items():
        yield f"the manifest {what}", parcel([("1/manifest.json", text), ("1/files/session.jsonl", BODY)])
    for what, raw in ZIPS.items():
        yield f"the parcel {what}", raw


CASES = dict(table())


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("what", CASES)
def test_a_hostile_parcel_is_refused_and_leaves_nothing_behind(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "inner" / "data" / "snapshots"
    shelf = shelf_in(folder)
    file = tmp_path / "parcel.zip"
    file.write_bytes(CASES[what])
    with pytest.raises(SnapshotError) as refused:
        unpack(shelf, file)
    assert refused.value.title
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path != file]
    assert left == []
    assert shelf.all() == []


def test_an_honest_parcel_of_the_same_making_is_taken(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path / "snapshots")
    file = tmp_path / "parcel.zip"
    file.write_bytes(parcel(good()))
    assert [saved.name for saved in unpack(shelf, file)] == ["first"]
    assert (shelf.open(shelf.all()[0]).folder / "session.jsonl").read_bytes() == BODY


def test_a_small_parcel_that_unpacks_to_much_more_than_allowed_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.snapshots.manifest.BYTES_LIMIT", 1_000_000)
    file = tmp_path / "parcel.zip"
    file.write_bytes(parcel(good({"session.jsonl": b"0" * 2_000_000})))
    assert file.stat().st_size < 10_000
    with pytest.raises(SnapshotError):
        unpack(shelf_in(tmp_path / "snapshots"), file)
    assert [path for path in (tmp_path / "snapshots").rglob("*") if path.is_file()] == []


def test_the_tests_zips_can_be_read_at_all() -> None:
    """A parcel that is broken by the test's own making would prove nothing."""
    assert zipfile.ZipInfo("1/files/x").filename == "1/files/x"
    assert parcel(good())[-22:-18] == b"PK\x05\x06"
