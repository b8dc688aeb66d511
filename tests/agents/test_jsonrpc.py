"""The JSON-RPC peer: order, ids by type, strays, time-outs and ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agents.contract import AgentError, AgentGoneError
from agents.jsonrpc import Notification, Peer, Request, RpcError, Success, parse_line


class MemoryPipe:
    """The agent's side of a pipe, in memory."""

    def __init__(self) -> None:
        self.arriving: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        self.written = asyncio.Event()
        self.is_stuck = False

    @property
    def lines(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncIterator[bytes]:
        while (line := await self.arriving.get()) is not None:
            yield line

    async def send(self, line: bytes) -> None:
        if self.is_stuck:
            await asyncio.Event().wait()
        self.raw.append(line)
        self.sent.append(json.loads(line))
        self.written.set()

    def says(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self.arriving.put_nowait(json.dumps(message).encode())

    async def next_sent(self, count: int) -> list[dict[str, Any]]:
        async with asyncio.timeout(2):
            while len(self.sent) < count:
                self.written.clear()
                await self.written.wait()
        return self.sent


class Bench:
    """A peer on a memory pipe that keeps what it heard."""

    def __init__(self, **options: Any) -> None:
        self.pipe = MemoryPipe()
        self.heard: list[str] = []
        self.requests: list[Request] = []
        self.serve: Callable[[Request], Any] | None = None
        self.peer = Peer(self.pipe, "test agent", self._notified, self._asked, **options)

    def _notified(self, notification: Notification) -> None:
        self.heard.append(notification.method)
        if notification.method == "bad":
            raise ValueError("handler")

    async def _asked(self, request: Request) -> None:
        self.requests.append(request)
        if self.serve is not None:
            await self.serve(request)


@asynccontextmanager
async def bench(**options: Any) -> AsyncIterator[Bench]:
    one = Bench(**options)
    run = asyncio.create_task(one.peer.run())
    try:
        yield one
    finally:
        one.pipe.arriving.put_nowait(None)
        async with asyncio.timeout(2):
            await run


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_an_answer_reaches_the_call_it_belongs_to() -> None:
    async with bench() as b:
        calls = [asyncio.create_task(b.peer.call("m", {"n": n}, within=1)) for n in range(2)]
        first, second = await b.pipe.next_sent(2)
        b.pipe.says({"id": second["id"], "result": "second"}, {"id": first["id"], "result": "first"})
        assert await asyncio.gather(*calls) == ["first", "second"]


@pytest.mark.asyncio
async def test_a_message_with_id_and_method_is_a_request_even_when_its_id_is_that_of_our_own_call() -> None:
    async with bench() as b:
        call = asyncio.create_task(b.peer.call("turn/start", within=1))
        own = (await b.pipe.next_sent(1))[0]["id"]
        release = asyncio.Event()

        async def serve(request: Request) -> None:
            await release.wait()
            if request.method != "unknown/newThing":
                await request.reply({"decision": "accept"})

        b.serve = serve
        b.pipe.says(
            {"id": own, "method": "item/commandExecution/requestApproval", "params": {"command": "make deploy"}},
            {"id": str(own), "method": "item/fileChange/requestApproval", "params": {}},
            {"id": own, "result": {"turn": {"id": "u1"}}},
            {"id": 7, "method": "unknown/newThing", "params": {}},
        )
        assert await call == {"turn": {"id": "u1"}}
        release.set()
        answers = {(type(m["id"]), m["id"]): m for m in (await b.pipe.next_sent(4))[1:]}
        assert answers[int, own]["result"] == {"decision": "accept"}
        assert answers[str, str(own)]["result"] == {"decision": "accept"}
        assert answers[int, 7]["error"]["code"] == -32601


@pytest.mark.asyncio
async def test_an_answer_with_the_id_as_text_does_not_complete_a_call_with_the_id_as_number() -> None:
    async with bench() as b:
        call = asyncio.create_task(b.peer.call("m", within=1))
        own = (await b.pipe.next_sent(1))[0]["id"]
        b.pipe.says(
            {"id": str(own), "result": "wrong"}, {"id": True, "result": "wrong"}, {"id": own, "result": "right"}
        )
        assert await call == "right"


@pytest.mark.asyncio
async def test_notifications_and_answers_are_handled_in_the_order_of_the_wire() -> None:
    async with bench() as b:
        await b.peer.begin("session/prompt", {}, lambda outcome: b.heard.append(f"settled {type(outcome).__name__}"))
        own = b.pipe.sent[0]["id"]
        b.pipe.says({"method": "a"}, {"method": "b"}, {"id": own, "result": {}}, {"method": "c"})
        await settle()
        assert b.heard == ["a", "b", "settled Success", "c"]


@pytest.mark.asyncio
async def test_stray_text_and_malformed_lines_are_skipped_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    async with bench() as b:
        for line in (b"Warning: secret text", b"{broken", b"[1,2]", b"", b'{"id":5}', b"\xff\xfe", b"[" * 100_000):
            b.pipe.arriving.put_nowait(line)
        b.pipe.says({"method": "after"})
        await settle()
        assert b.heard == ["after"]
        assert b.peer.skipped == {"no JSON object": 5, "neither request, notification nor answer": 1}
        warnings = [record for record in caplog.records if record.levelname == "WARNING"]
        assert len(warnings) == 2
        assert "secret" not in caplog.text


def test_terminal_noise_before_an_object_does_not_hide_it() -> None:
    assert parse_line(b'\x07[?25h{"type":"result","ok":true}') == {"type": "result", "ok": True}


@pytest.mark.asyncio
async def test_a_handler_that_fails_does_not_end_the_conversation() -> None:
    async with bench() as b:

        async def serve(request: Request) -> None:
            raise KeyError(request.method)

        b.serve = serve
        b.pipe.says({"method": "bad"}, {"id": "x", "method": "ask"}, {"method": "after"})
        answer = (await b.pipe.next_sent(1))[0]
        assert answer["id"] == "x"
        assert answer["error"]["code"] == -32603
        assert b.heard == ["bad", "after"]


@pytest.mark.asyncio
async def test_the_end_of_the_agent_fails_every_open_call() -> None:
    b = Bench()
    settled: list[Success | AgentError] = []
    run = asyncio.create_task(b.peer.run())
    call = asyncio.create_task(b.peer.call("m", within=None))
    await b.peer.begin("n", {}, settled.append)
    b.pipe.arriving.put_nowait(None)
    with pytest.raises(AgentGoneError):
        await call
    await run
    assert isinstance(settled[0], AgentGoneError)
    with pytest.raises(AgentGoneError):
        await b.peer.call("later", within=1)


@pytest.mark.asyncio
async def test_a_request_still_open_at_the_end_is_cancelled() -> None:
    b = Bench()
    ends: list[str] = []

    async def serve(request: Request) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ends.append(request.method)
            raise

    b.serve = serve
    run = asyncio.create_task(b.peer.run())
    b.pipe.says({"id": 0, "method": "ask"})
    await settle()
    b.pipe.arriving.put_nowait(None)
    await run
    assert ends == ["ask"]


@pytest.mark.asyncio
async def test_a_call_without_an_answer_ends_at_its_time_limit_and_a_late_answer_harms_nobody() -> None:
    async with bench() as b:
        with pytest.raises(AgentGoneError, match="did not answer"):
            await b.peer.call("m", within=0.01)
        b.pipe.says({"id": b.pipe.sent[0]["id"], "result": 1})
        await settle()
        assert b.peer.skipped == {"answer to no open call": 1}


@pytest.mark.asyncio
async def test_an_agent_that_does_not_read_is_an_error_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.jsonrpc.WRITE_TIMEOUT", 0.01)
    async with bench() as b:
        b.pipe.is_stuck = True
        with pytest.raises(AgentGoneError, match="does not read"):
            await b.peer.notify("m")


@pytest.mark.asyncio
async def test_an_error_answer_carries_code_data_and_the_sentence_inside_the_data() -> None:
    async with bench() as b:
        call = asyncio.create_task(b.peer.call("m", within=1))
        own = (await b.pipe.next_sent(1))[0]["id"]
        error = {"code": -32000, "message": "Internal error", "data": {"details": "401 no key"}}
        b.pipe.says({"id": own, "error": error})
        with pytest.raises(RpcError) as caught:
            await call
        assert (caught.value.code, caught.value.detail) == (-32000, "401 no key")


@pytest.mark.asyncio
async def test_frames_are_plain_ascii_and_the_version_can_be_left_out() -> None:
    async with bench(says_version=False) as b:
        await b.peer.notify("m", {"text": "Привет \ud83d \u2028"})
        assert b.pipe.raw[0].isascii()
        assert "jsonrpc" not in b.pipe.sent[0]
    async with bench() as b:
        await b.peer.notify("m")
        assert b.pipe.sent[0] == {"jsonrpc": "2.0", "method": "m"}


@pytest.mark.asyncio
async def test_a_request_taken_back_by_the_agent_cancels_its_work_without_an_answer() -> None:
    async with bench() as b:

        async def serve(_: Request) -> None:
            await asyncio.Event().wait()

        b.serve = serve
        b.pipe.says({"id": "7", "method": "ask"})
        await settle()
        assert not b.peer.cancel_request(7)
        assert b.peer.cancel_request("7")
        await settle()
        assert b.pipe.sent == []


@pytest.mark.asyncio
async def test_a_request_is_answered_only_once() -> None:
    async with bench() as b:

        async def serve(request: Request) -> None:
            await request.reply(1)
            await request.reply(2)

        b.serve = serve
        b.pipe.says({"id": None, "method": "ask"})
        await b.pipe.next_sent(1)
        await settle()
        assert [message["result"] for message in b.pipe.sent] == [1]


@pytest.mark.asyncio
async def test_a_line_of_three_million_letters_is_one_message() -> None:
    async with bench() as b:
        b.pipe.says({"method": "x" * 3_000_000})
        await settle()
        assert len(b.heard[0]) == 3_000_000
