"""The hub's tools: the real program over stdio, and what the hub does with its calls."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.contract import Answer, Answers, Declined, FileDelivery, OutgoingFile, Question
from agents.hub_tools import HubTools, ToolSeat, answers_for_agent, read_questions


class Host:
    """The person behind the tools. ``thinks``: never answers."""

    def __init__(self, *, thinks: bool = False) -> None:
        self.thinks = thinks
        self.files: list[OutgoingFile] = []
        self.asked = asyncio.Event()
        self.given_up = asyncio.Event()

    async def send_file(self, file: OutgoingFile) -> FileDelivery:
        self.files.append(file)
        return FileDelivery(True, "The user has it.")

    async def ask_user(self, questions: tuple[Question, ...]) -> Answers | Declined:
        self.asked.set()
        if self.thinks:
            try:
                await asyncio.Event().wait()
            finally:
                self.given_up.set()
        return Answers(tuple(Answer(one.key, ("yes",)) for one in questions))


class Client:
    """An agent that has started the program."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._next = 0

    async def tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self.process.stdin.drain()

    async def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(10):
            heard: dict[str, Any] = json.loads(await self.process.stdout.readline())
        return heard

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        self._next += 1
        params = {"name": name, "arguments": arguments}
        await self.tell({"id": self._next, "method": "tools/call", "params": params})
        result = (await self.hear())["result"]
        return result["content"][0]["text"], result["isError"]


@asynccontextmanager
async def started(seat: ToolSeat, cwd: Path) -> AsyncIterator[Client]:
    process = await asyncio.create_subprocess_exec(
        seat.program.command,
        *seat.program.args,
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **seat.program.env},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Client(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def seated(host: Host) -> AsyncIterator[tuple[HubTools, ToolSeat]]:
    tools = HubTools()
    try:
        yield tools, await tools.seat(host)
    finally:
        await tools.close()


@pytest.mark.asyncio
async def test_the_program_names_its_two_tools(tmp_path: Path) -> None:
    async with seated(Host()) as (_, seat), started(seat, tmp_path) as client:
        await client.tell({"id": "a", "method": "initialize", "params": {"protocolVersion": "2024-11-05"}})
        assert (await client.hear())["result"]["protocolVersion"] == "2024-11-05"
        await client.tell({"method": "notifications/initialized"})
        await client.tell({"id": 2, "method": "tools/list"})
        assert [tool["name"] for tool in (await client.hear())["result"]["tools"]] == ["send_file", "ask_user"]
        await client.tell({"id": 3, "method": "resources/list"})
        assert (await client.hear())["error"]["code"] == -32601


@pytest.mark.asyncio
async def test_a_module_in_the_session_s_folder_can_not_shadow_the_program_s_own(tmp_path: Path) -> None:
    for name in ("json", "socket", "agents", "contextlib"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(66)")
    async with seated(Host()) as (_, seat), started(seat, tmp_path) as client:
        assert await client.call("send_file", {"path": "a.txt"}) == ("The user has it.", False)


@pytest.mark.asyncio
async def test_a_call_reaches_the_session_of_its_secret_and_no_other(tmp_path: Path) -> None:
    one, two = Host(), Host()
    async with seated(one) as (tools, seat):
        other = await tools.seat(two)
        async with started(other, tmp_path) as client:
            await client.call("send_file", {"path": "b.txt", "caption": "B"})
        async with started(seat, tmp_path) as client:
            await client.call("send_file", {"path": "a.txt"})
        assert [file.path.name for file in one.files] == ["a.txt"]
        assert two.files == [OutgoingFile(Path("b.txt"), "B")]


@pytest.mark.asyncio
async def test_half_a_letter_in_a_caption_does_not_cost_the_file(tmp_path: Path) -> None:
    host = Host()
    async with seated(host) as (_, seat), started(seat, tmp_path) as client:
        await client.call("send_file", {"path": "a.txt", "caption": "so far \ud83d"})
    assert host.files == [OutgoingFile(Path("a.txt"), "so far \ufffd")]


@pytest.mark.asyncio
async def test_a_closed_seat_s_secret_opens_nothing(tmp_path: Path) -> None:
    host = Host()
    async with seated(host) as (_, seat), started(seat, tmp_path) as client:
        seat.close()
        text, is_error = await client.call("send_file", {"path": "a.txt"})
        assert is_error
        assert "ended" in text
        assert host.files == []


@pytest.mark.asyncio
async def test_an_agent_that_cancels_its_call_withdraws_the_question(tmp_path: Path) -> None:
    host = Host(thinks=True)
    async with seated(host) as (_, seat), started(seat, tmp_path) as client:
        params = {"name": "ask_user", "arguments": {"questions": [{"question": "?"}]}}
        await client.tell({"id": 1, "method": "tools/call", "params": params})
        async with asyncio.timeout(10):
            await host.asked.wait()
            await client.tell({"method": "notifications/cancelled", "params": {"requestId": 1}})
            await host.given_up.wait()


@pytest.mark.asyncio
async def test_an_agent_that_dies_withdraws_the_question(tmp_path: Path) -> None:
    host = Host(thinks=True)
    async with seated(host) as (_, seat), started(seat, tmp_path) as client:
        params = {"name": "ask_user", "arguments": {"questions": [{"question": "?"}]}}
        await client.tell({"id": 1, "method": "tools/call", "params": params})
        async with asyncio.timeout(10):
            await host.asked.wait()
            client.process.kill()
            await host.given_up.wait()


@pytest.mark.asyncio
async def test_a_ping_is_answered_while_a_question_waits(tmp_path: Path) -> None:
    host = Host(thinks=True)
    async with seated(host) as (_, seat), started(seat, tmp_path) as client:
        params = {"name": "ask_user", "arguments": {"questions": [{"question": "?"}]}}
        await client.tell({"id": 1, "method": "tools/call", "params": params})
        async with asyncio.timeout(10):
            await host.asked.wait()
        await client.tell({"id": 2, "method": "ping"})
        assert await client.hear() == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.asyncio
async def test_without_a_hub_the_agent_hears_that_the_user_got_nothing(tmp_path: Path) -> None:
    async with seated(Host()) as (tools, seat):
        await tools.close()
        async with started(seat, tmp_path) as client:
            text, is_error = await client.call("send_file", {"path": "a.txt"})
            assert is_error
            assert "did not get" in text


@pytest.mark.asyncio
async def test_started_by_hand_the_program_says_what_it_is(tmp_path: Path) -> None:
    async with seated(Host()) as (_, seat):
        process = await asyncio.create_subprocess_exec(
            sys.executable, *seat.program.args, cwd=tmp_path, env={}, stderr=asyncio.subprocess.PIPE
        )
        _, complaint = await process.communicate()
        assert process.returncode == 2
        assert b"agent-hub" in complaint


@pytest.mark.asyncio
async def test_a_stranger_on_the_port_gets_no_answer() -> None:
    host = Host()
    async with seated(host) as (_, seat):
        address, _, port = seat.program.env["AGENT_HUB_TOOLS_ADDRESS"].rpartition(":")
        reader, writer = await asyncio.open_connection(address, int(port))
        writer.write(b'{"secret": "guess", "tool": "send_file", "arguments": {"path": "a"}}\n')
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
        assert host.files == []


def test_questions_are_read_in_every_form_a_model_sends_them() -> None:
    told = read_questions(
        {"questions": [{"question": "A?", "options": ["x", {"label": "y", "description": "z"}, 5]}, "B?"]}
    )
    assert [(one.key, one.text, [choice.label for choice in one.choices]) for one in told] == [
        ("0", "A?", ["x", "y"]),
        ("1", "B?", []),
    ]
    assert read_questions({"question": "C?"})[0].text == "C?"
    assert read_questions({"questions": [{"question": " "}, 7]}) == ()
    for options in (5, "abc", {"label": "a"}, None):
        assert read_questions({"question": "C?", "options": options})[0].choices == ()


def test_answers_are_told_with_their_questions_and_a_refusal_with_its_reason() -> None:
    questions = (Question("0", "A?"), Question("1", "B?"))
    said = answers_for_agent(questions, Answers((Answer("0", ("x", "y")), Answer("1", ()))))
    assert said.text == "A?\n-> x, y\nB?\n-> (no answer)"
    assert "busy" in answers_for_agent(questions, Declined("busy")).text
