"""Bytes from strangers as JSON objects: what is one comes out whole and in order, anything else is nothing at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.json_lines import objects_in, read_object

NO_OBJECTS = {
    "nothing": b"",
    "a blank": b" \n",
    "zeros": b"\0" * 100,
    "words": b"hello",
    "half an object": b'{"type":"user","text":"he',
    "two objects in one line": b'{"a":1}{"b":2}',
    "a list": b'[{"a":1}]',
    "a text": b'"user"',
    "a number": b"17",
    "null": b"null",
    "a number beyond reason": b'{"n":' + b"1" * 5_000 + b"}",
    "nested beyond reason": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "UTF-16": '{"a":1}'.encode("utf-16"),
}


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_nothing(data: bytes) -> None:
    assert isinstance(read_object(data), dict | None)


@pytest.mark.parametrize("what", NO_OBJECTS)
def test_what_is_no_object_is_nothing(what: str) -> None:
    assert read_object(NO_OBJECTS[what]) is None


def test_a_broken_letter_costs_that_letter_only() -> None:
    assert read_object(b'{"text":"a\xffb"}\r\n') == {"text": "a\ufffdb"}


def test_half_a_surrogate_pair_becomes_the_replacement_character_and_a_whole_one_its_letter() -> None:
    line = b'{"a\\ud83d":["x\\uD83D!",{"b":"\\ude00"}],"c":"\\ud83d\\ude00","d":"\\\\ud83d"}'
    assert read_object(line) == {"a\ufffd": ["x\ufffd!", {"b": "\ufffd"}], "c": "😀", "d": "\\ud83d"}


@pytest.mark.parametrize("what", NO_OBJECTS)
def test_a_hostile_line_hides_neither_the_one_before_nor_the_one_after(what: str, tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(b'{"n":1}\n' + NO_OBJECTS[what].replace(b"\n", b"") + b'\n{"n":2}\n')
    assert list(objects_in(file)) == [{"n": 1}, {"n": 2}]


def test_a_last_line_without_its_end_counts_when_it_is_whole_and_not_when_it_is_cut(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    whole.write_bytes(b'{"n":1}\n{"n":2}')
    cut.write_bytes(b'{"n":1}\n{"n":2')
    assert [len(list(objects_in(file))) for file in (whole, cut)] == [2, 1]


@pytest.mark.parametrize("over", [-1, 0, 1, 2, 99, 100, 101, 1_000])
def test_a_huge_line_is_passed_over_and_nothing_of_it_is_taken_for_a_line(over: int, tmp_path: Path) -> None:
    longest, frame = 100, len('{"n":""}\n')
    huge = json.dumps({"n": "x" * (longest - frame + over)}, separators=(",", ":")) + "\n"
    file = tmp_path / "history.jsonl"
    file.write_text('{"n":1}\n' + huge + '{"n":2}\n', encoding="utf-8")
    expected = [{"n": 1}, *([json.loads(huge)] if over <= 1 else []), {"n": 2}]
    assert list(objects_in(file, longest)) == expected


def test_a_huge_last_line_ends_the_history(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(b'{"n":1}\n{"n":"' + b"x" * 1_000)
    assert list(objects_in(file, 100)) == [{"n": 1}]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(objects_in(tmp_path / "none.jsonl"))
