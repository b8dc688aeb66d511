"""The outside of the Bot API: addresses, bodies, envelopes."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from tests.bridge.simulator.client import Client


@pytest.mark.asyncio
async def test_a_form_a_json_and_a_multipart_body_mean_the_same(client: Client) -> None:
    fields = {"chat_id": str(client.chat_id), "text": "<b>hi</b> ö", "parse_mode": "HTML"}
    answers = [
        await client.http.post(client.url("sendMessage"), data=fields),
        await client.http.post(client.url("sendMessage"), json=fields),
        await client.http.post(client.url("sendMessage"), data=fields, files={"x": ("x.txt", b"x")}),
        await client.http.get(client.url("sendMessage"), params=fields),
    ]
    results = [answer.json()["result"] for answer in answers]
    assert [result["text"] for result in results] == ["hi ö"] * 4
    assert all(result["entities"] == [{"type": "bold", "offset": 0, "length": 2}] for result in results)


@pytest.mark.asyncio
async def test_a_method_name_is_read_in_any_case(client: Client) -> None:
    assert (await client.ok("GETME"))["is_bot"] is True


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "status", "description"),
    [
        ("/botnonsense/getMe", 401, "Unauthorized: invalid token specified"),
        ("/bot7000000001:AAanother-token-of-a-bot-that-is-not_real/getMe", 401, "Unauthorized"),
        ("/nothing", 404, "Not Found"),
    ],
)
async def test_a_wrong_address_gets_the_servers_own_refusal(
    client: Client, path: str, status: int, description: str
) -> None:
    answer = await client.http.post(client.simulator.address + path)
    assert answer.status_code == status
    assert answer.json() == {"ok": False, "error_code": status, "description": description}


@pytest.mark.asyncio
async def test_an_unknown_method_is_not_found(client: Client) -> None:
    assert await client.refusal("sendTelepathy") == "Not Found: method not found"


@pytest.mark.asyncio
async def test_an_unknown_chat_is_refused(client: Client) -> None:
    assert await client.refusal("sendMessage", chat_id=42, text="x") == "Bad Request: chat not found"


@pytest.mark.asyncio
async def test_a_body_that_is_no_json_is_refused(client: Client) -> None:
    answer = await client.http.post(
        client.url("getMe"), content=b"{nonsense", headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400


@pytest.mark.asyncio
async def test_bytes_that_are_no_http_are_answered_with_400(client: Client) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.simulator.port)
    writer.write(b"nonsense\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 400")
    writer.close()


@pytest.mark.asyncio
async def test_a_stopped_simulator_comes_back_on_its_port_with_its_state(client: Client) -> None:
    sent = await client.send("before")
    port = client.simulator.port
    await client.simulator.stop()
    with pytest.raises(httpx.TransportError):
        await client.call("getMe")
    await client.simulator.start()
    assert client.simulator.port == port
    assert (await client.send("after"))["message_id"] == sent["message_id"] + 1
