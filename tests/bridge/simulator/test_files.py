"""Files both ways, and their limits."""

from __future__ import annotations

import json

import pytest

from bridge.simulator import Human
from tests.bridge.simulator.client import Client


async def upload(client: Client, method: str, data: bytes, **fields: str) -> dict:
    kind = method.removeprefix("send").lower()
    answer = await client.http.post(
        client.url(method),
        data={"chat_id": str(client.chat_id), **fields},
        files={kind: ("дорога.txt", data)},
        timeout=30,
    )
    body: dict = answer.json()
    return body


@pytest.mark.asyncio
async def test_a_sent_document_is_seen_with_its_name_and_bytes(client: Client, human: Human) -> None:
    body = await upload(client, "sendDocument", b"\x00binary\r\n--bytes", caption="<b>c</b>", parse_mode="HTML")
    assert body["result"]["caption_entities"] == [{"type": "bold", "offset": 0, "length": 1}]
    seen = human.from_bot()[-1]
    assert seen.file is not None
    assert (seen.file.name, seen.file.data, seen.text) == ("дорога.txt", b"\x00binary\r\n--bytes", "c")


@pytest.mark.asyncio
async def test_a_persons_file_is_downloaded_by_its_path(client: Client, human: Human) -> None:
    human.send_file(b"hello", "notes.md", caption="read this")
    (update,) = await client.updates()
    document = update["message"]["document"]
    found = await client.ok("getFile", file_id=document["file_id"])
    answer = await client.http.get(f"{client.simulator.base_file_url}{client.simulator.token}/{found['file_path']}")
    assert (document["file_name"], answer.content) == ("notes.md", b"hello")


@pytest.mark.asyncio
async def test_a_file_over_20_mib_cannot_be_downloaded(client: Client, human: Human) -> None:
    human.send_file(bytes((20 << 20) + 1), "big.bin")
    document = (await client.updates())[-1]["message"]["document"]
    assert await client.refusal("getFile", file_id=document["file_id"]) == "Bad Request: file is too big"
    assert await client.refusal("getFile", file_id="nonsense") == (
        "Bad Request: wrong file_id or the file is temporarily unavailable"
    )


@pytest.mark.asyncio
async def test_a_file_over_50_mb_is_too_large_to_send(client: Client) -> None:
    body = await upload(client, "sendDocument", bytes(50_000_001))
    assert body == {"ok": False, "error_code": 413, "description": "Request Entity Too Large"}


@pytest.mark.asyncio
async def test_what_is_no_picture_is_refused_as_a_photo(client: Client, png: bytes) -> None:
    assert (await upload(client, "sendPhoto", b"text"))["description"] == "Bad Request: IMAGE_PROCESS_FAILED"
    photo = (await upload(client, "sendPhoto", png))["result"]["photo"]
    assert (photo[-1]["width"], photo[-1]["height"]) == (8, 8)


@pytest.mark.asyncio
async def test_an_album_is_several_messages_and_costs_as_many_calls(client: Client, human: Human, png: bytes) -> None:
    media = [{"type": "photo", "media": f"attach://p{n}", "caption": "two" if n == 0 else ""} for n in range(2)]
    answer = await client.http.post(
        client.url("sendMediaGroup"),
        data={"chat_id": str(client.chat_id), "media": json.dumps(media)},
        files={"p0": ("a.png", png), "p1": ("b.png", png)},
    )
    assert len(answer.json()["result"]) == 2
    first, second = human.from_bot()
    assert first.album == second.album != ""
    assert client.simulator.world.flood.used(client.chat_id) == 2


@pytest.mark.asyncio
async def test_documents_are_not_mixed_with_pictures(client: Client) -> None:
    media = [{"type": "photo", "media": "x"}, {"type": "document", "media": "y"}]
    refusal = await client.refusal("sendMediaGroup", chat_id=client.chat_id, media=media)
    assert refusal == "Bad Request: different types of media can't be mixed in the album"
