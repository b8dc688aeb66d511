"""Cutting bytes into lines: any length, any chunks, never a broken letter."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.lines import LineSplitter, LineTooLongError, StderrTail


@given(lines=st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b""))), cuts=st.data())
def test_lines_come_out_whole_however_the_stream_is_cut(lines: list[bytes], cuts: st.DataObject) -> None:
    stream = b"".join(line + b"\r\n" for line in lines)
    splitter, found = LineSplitter(), []
    while stream:
        size = cuts.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == [line for line in lines if line]
    assert splitter.flush() == b""


@pytest.mark.parametrize("size", [7, 4095, 65536])
def test_a_three_megabyte_message_keeps_every_letter_when_cut_inside_letters(size: int) -> None:
    text = "Ж" * 1_572_864
    stream = b"Warning: node is old\r\n" + json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n"
    splitter, found = LineSplitter(), []
    for start in range(0, len(stream), size):
        found += splitter.feed(stream[start : start + size])
    assert found[0] == b"Warning: node is old"
    assert json.loads(found[1])["text"] == text


def test_a_line_over_the_limit_is_a_clear_error_and_frees_its_memory() -> None:
    splitter = LineSplitter(limit=1024 * 1024)
    for _ in range(16):
        assert splitter.feed(b"x" * 65536) == []
    with pytest.raises(LineTooLongError, match="too large") as caught:
        splitter.feed(b"x")
    assert "1 MiB" in caught.value.detail
    assert splitter.flush() == b""


def test_the_last_line_without_an_end_is_not_lost() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert splitter.flush() == b'{"b"'


def test_the_stderr_tail_keeps_the_last_hundred_lines_and_cuts_long_ones() -> None:
    tail = StderrTail()
    tail.feed(b"".join(b"line %d\n" % number for number in range(250)) + b"y" * 100_000)
    kept = tail.text.splitlines()
    assert kept[0] == "line 150"
    assert kept[99] == "line 249"
    assert len(kept[100]) == 4096
