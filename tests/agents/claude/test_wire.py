"""Whatever the program says is a value; nothing it says is an exception."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.claude.handshake import started
from agents.claude.messages import Delta, Result, Silent, Stray, ToolPermission, Unknown
from agents.claude.translate import Translator
from agents.claude.wire import line_of, parse, user_message
from agents.contract import SessionId

KINDS = [
    *("system", "assistant", "user", "stream_event", "result", "control_request", "control_response"),
    *("control_cancel_request", "command_lifecycle", "rate_limit_event", "something else"),
]
SUBTYPES = ["init", "status", "api_retry", "background_tasks_changed", "task_started", "can_use_tool", "mcp_message"]
FIELDS = [
    *("type", "subtype", "message", "request", "response", "content", "event", "delta", "usage", "modelUsage", "text"),
    *("rate_limit_info", "unifiedWindows", "resetsAt", "tasks", "input", "tool_result_meta", "total_cost_usd"),
    *("errors", "is_error", "attempt", "api_error_status", "id", "name", "structuredPatch", "lines", "todos"),
]
ATOMS = [None, True, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "text", "tool_use", "tool_result", "Write"]


def anything(chance: random.Random, depth: int = 0) -> object:
    """A JSON value made of the protocol's own words in the wrong places."""
    shape = chance.random()
    if depth > 4 or shape < 0.4:
        return chance.choice([*ATOMS, *SUBTYPES])
    if shape < 0.6:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(3))]
    return {chance.choice(FIELDS): anything(chance, depth + 1) for _ in range(chance.randrange(5))}


@pytest.mark.parametrize("seed", range(4))
def test_no_message_breaks_the_parser_or_the_translator(seed: int) -> None:
    chance = random.Random(seed)
    translator = Translator(started({}, SessionId("s"), Path()))
    for _ in range(1500):
        message = {chance.choice(FIELDS): anything(chance) for _ in range(6)} | {"type": chance.choice(KINDS)}
        translator.events(parse(json.dumps(message).encode()))


@given(st.binary(max_size=60))
def test_no_bytes_break_the_parser(line: bytes) -> None:
    parse(line)


@pytest.mark.parametrize("noise", [b"\x07[?25h", b"\x1b[2K\x1b[1G", b"  \t", b""])
def test_terminal_noise_before_a_message_is_skipped(noise: bytes) -> None:
    found = parse(noise + b'{"type":"result","result":"ok","is_error":false}')
    assert isinstance(found, Result)
    assert found.text == "ok"


@pytest.mark.parametrize(
    "line", [b"Warning: node is old", b'log: {"type":"result"}', b'{"type":"res', b"[1, 2]", b"\xff\xfe"]
)
def test_what_is_no_message_is_stray_text(line: bytes) -> None:
    assert isinstance(parse(line), Stray)


def test_a_message_nobody_knows_keeps_its_name_and_its_beginning() -> None:
    found = parse(b'{"type":"system","subtype":"of_tomorrow","n":1}')
    assert isinstance(found, Unknown)
    assert found.name == "system/of_tomorrow"
    assert '"n":1' in found.raw


def test_only_the_main_models_text_is_streamed() -> None:
    event = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}}
    assert parse(line_of({"type": "stream_event", "event": event})) == Delta("hi")
    assert parse(line_of({"type": "stream_event", "event": event, "parent_tool_use_id": "t1"})) == Silent()


def test_a_permission_request_keeps_the_input_as_it_came() -> None:
    arguments = {"command": "touch ключ", "deep": {"a": [1, 2.5, None]}}
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": arguments}
    found = parse(line_of({"type": "control_request", "request_id": "r1", "request": request}))
    assert isinstance(found, ToolPermission)
    assert found.arguments == arguments


def test_a_prompt_is_one_line_of_ascii_whatever_letters_it_has() -> None:
    line = user_message("id-1", "две\nстроки \u2028 \ud800", is_literal=True)
    assert b"\n" not in line
    assert line.isascii()
    assert json.loads(line)["message"]["content"] == "две\nстроки \u2028 \ud800"
