"""The client: the right call on the wire, and each failure as the one error that says what to do."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bridge.inbound import Place
from bridge.markdown.part import Part
from bridge.messenger import (
    Button,
    ChatMovedError,
    FileUpload,
    FloodWaitError,
    ForbiddenError,
    MarkupRefusedError,
    MessageGoneError,
    MessengerError,
    NotModifiedError,
    OtherPollerError,
    OutcomeUnknownError,
    PressExpiredError,
    RefusedError,
    TooLongError,
    TopicClosedError,
    TopicGoneError,
    UnauthorizedError,
    UnreachableError,
)
from bridge.telegram import api
from bridge.telegram.api import ApiAddress
from bridge.telegram.client import TelegramClient
from bridge.telegram.failures import FileTooBigError
from tests.bridge.telegram.wire import TOKEN, Call, Reply, Wire, refusal

CHAT = -1001234500001
TOPIC = Place(CHAT, 7)
HELLO = Part("<b>hello</b>", "hello")


@pytest_asyncio.fixture
async def wire() -> AsyncIterator[Wire]:
    async with Wire() as wire:
        yield wire


@pytest_asyncio.fixture
async def client(wire: Wire) -> AsyncIterator[TelegramClient]:
    async with TelegramClient(TOKEN, ApiAddress(base_url=wire.base_url, uses_environment=False)) as client:
        yield client


def always(reply: Reply) -> object:
    return lambda call: reply


@pytest.mark.asyncio
async def test_a_text_goes_out_as_html_into_its_topic_silently_without_preview(
    wire: Wire, client: TelegramClient
) -> None:
    wire.answer = lambda call: Reply({"message_id": 42})
    assert await client.send_text(TOPIC, HELLO, keyboard=((Button("Allow", "p:a:1"),),), reply_to=5) == 42
    call = wire.calls[0]
    assert call.path == f"/bot{TOKEN}/sendMessage"
    assert call.fields["text"] == "<b>hello</b>"
    assert call.fields["parse_mode"] == "HTML"
    assert call.fields["message_thread_id"] == "7"
    assert call.fields["disable_notification"] == "true"
    assert json.loads(call.fields["link_preview_options"]) == {"is_disabled": True}
    assert json.loads(call.fields["reply_parameters"]) == {"message_id": 5, "allow_sending_without_reply": True}
    assert json.loads(call.fields["reply_markup"]) == {
        "inline_keyboard": [[{"text": "Allow", "callback_data": "p:a:1"}]]
    }


@pytest.mark.asyncio
@pytest.mark.parametrize("topic_id", [None, 1])
async def test_general_has_no_thread_id_on_the_wire(wire: Wire, client: TelegramClient, topic_id: int | None) -> None:
    await client.send_text(Place(CHAT, topic_id), HELLO, is_silent=False, as_plain=True)
    assert "message_thread_id" not in wire.calls[0].fields
    assert "parse_mode" not in wire.calls[0].fields
    assert "disable_notification" not in wire.calls[0].fields
    assert wire.calls[0].fields["text"] == "hello"


FAILURES: list[tuple[Reply, type[MessengerError]]] = [
    (
        refusal(400, 'Bad Request: can\'t parse entities: Unsupported start tag "h1" at byte offset 0'),
        MarkupRefusedError,
    ),
    (refusal(400, "Bad Request: message is too long"), TooLongError),
    (refusal(400, "Bad Request: text is too long"), TooLongError),
    (refusal(400, "Bad Request: message caption is too long"), TooLongError),
    (refusal(400, "Bad Request: MESSAGE_TOO_LONG"), TooLongError),
    (refusal(400, "Bad Request: message is not modified: specified new message content"), NotModifiedError),
    (refusal(400, "Bad Request: message to edit not found"), MessageGoneError),
    (refusal(400, "Bad Request: message can't be edited"), MessageGoneError),
    (refusal(400, "Bad Request: message thread not found"), TopicGoneError),
    (refusal(400, "Bad Request: TOPIC_DELETED"), TopicGoneError),
    (refusal(400, "Bad Request: TOPIC_CLOSED"), TopicClosedError),
    (refusal(400, "Bad Request: Topic_closed"), TopicClosedError),
    (refusal(400, "Bad Request: query is too old and response timeout expired"), PressExpiredError),
    (refusal(400, "Bad Request: not enough rights to send text messages to the chat"), ForbiddenError),
    (refusal(400, "Bad Request: chat not found"), ForbiddenError),
    (refusal(400, "Bad Request: BUTTON_DATA_INVALID"), RefusedError),
    (refusal(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-1009876500002), ChatMovedError),
    (refusal(401, "Unauthorized"), UnauthorizedError),
    (refusal(404, "Not Found"), UnauthorizedError),
    (refusal(404, "Not Found: method not found"), RefusedError),
    (refusal(403, "Forbidden: bot was kicked from the supergroup chat"), ForbiddenError),
    (refusal(409, "Conflict: terminated by other getUpdates request"), OtherPollerError),
    (refusal(429, "Too Many Requests: retry after 5827", retry_after=5827), FloodWaitError),
    (refusal(502, "Bad Gateway"), OutcomeUnknownError),
    (Reply(status=502, raw=b"<html>bad gateway</html>"), OutcomeUnknownError),
    (Reply(status=407, raw=b"<html>proxy login</html>"), UnreachableError),
    (Reply(fault="reset"), OutcomeUnknownError),
    (Reply(fault="half"), OutcomeUnknownError),
    (Reply(raw=b"<html>hotel login page</html>"), OutcomeUnknownError),
    (Reply(result={}), OutcomeUnknownError),
]


@pytest.mark.asyncio
@pytest.mark.parametrize(("reply", "kind"), FAILURES, ids=[f"{n}-{f[1].__name__}" for n, f in enumerate(FAILURES)])
async def test_each_failure_is_one_error(
    wire: Wire, client: TelegramClient, reply: Reply, kind: type[MessengerError]
) -> None:
    wire.answer = lambda call: reply
    with pytest.raises(MessengerError) as caught:
        await client.send_text(TOPIC, HELLO)
    assert type(caught.value) is kind
    assert len(wire.calls) == 1, "a call is never repeated here"


@pytest.mark.asyncio
async def test_a_flood_wait_says_its_whole_length(wire: Wire, client: TelegramClient) -> None:
    wire.answer = lambda call: refusal(429, "Too Many Requests: retry after 5827", retry_after=5827)
    with pytest.raises(FloodWaitError) as caught:
        await client.send_text(TOPIC, HELLO)
    assert caught.value.seconds == 5827


@pytest.mark.asyncio
async def test_a_missing_right_for_one_call_does_not_condemn_the_chat(wire: Wire, client: TelegramClient) -> None:
    wire.answer = lambda call: refusal(400, "Bad Request: not enough rights to send documents to the chat")
    with pytest.raises(ForbiddenError) as caught:
        await client.create_topic(CHAT, "x")
    assert not caught.value.is_for_chat
    wire.answer = lambda call: refusal(403, "Forbidden: bot was kicked from the supergroup chat")
    with pytest.raises(ForbiddenError) as kicked:
        await client.send_text(TOPIC, HELLO)
    assert kicked.value.is_for_chat


@pytest.mark.asyncio
async def test_a_reply_that_never_comes_leaves_the_outcome_unknown(
    wire: Wire, client: TelegramClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "SEND_READ_TIMEOUT", 0.1)
    wire.answer = lambda call: Reply(fault="hang")
    with pytest.raises(OutcomeUnknownError):
        await client.send_text(TOPIC, HELLO)


@pytest.mark.asyncio
async def test_no_server_at_all_is_surely_not_sent() -> None:
    async with Wire() as wire:
        address = ApiAddress(base_url=wire.base_url, uses_environment=False)
    async with TelegramClient(TOKEN, address) as client:
        with pytest.raises(UnreachableError):
            await client.send_text(TOPIC, HELLO)


@pytest.mark.asyncio
async def test_a_wrong_proxy_is_surely_not_sent(wire: Wire) -> None:
    async with Wire() as gone:
        proxy = f"http://127.0.0.1:{gone.port}"
    async with TelegramClient(TOKEN, ApiAddress(base_url=wire.base_url, proxy=proxy)) as client:
        with pytest.raises(UnreachableError):
            await client.send_text(TOPIC, HELLO)
    assert wire.calls == []


@pytest.mark.asyncio
async def test_both_pools_use_the_proxy(wire: Wire) -> None:
    wire.answer = lambda call: Reply([] if call.method == "getUpdates" else {"message_id": 3})
    address = ApiAddress(base_url="http://telegram.invalid", proxy=f"http://127.0.0.1:{wire.port}")
    async with TelegramClient(TOKEN, address) as client:
        await client.send_text(TOPIC, HELLO)
        await client.updates(None, 0)
    assert [call.path.startswith("http://telegram.invalid/bot") for call in wire.calls] == [True, True]


@pytest.mark.asyncio
async def test_calls_one_after_another_use_one_warm_connection(wire: Wire, client: TelegramClient) -> None:
    for _ in range(5):
        await client.send_text(TOPIC, HELLO)
    assert wire.connections == 1


@pytest.mark.asyncio
async def test_a_poll_names_every_kind_of_update_each_time(wire: Wire, client: TelegramClient) -> None:
    wire.answer = lambda call: Reply([{"update_id": 7, "something_new": {"x": 1}}])
    assert await client.updates(7, 1) == [{"update_id": 7, "something_new": {"x": 1}}]
    await client.updates(8, 1)
    for call in wire.calls:
        kinds = json.loads(call.fields["allowed_updates"])
        assert {"message", "edited_message", "callback_query", "message_reaction", "my_chat_member"} <= set(kinds)
    assert wire.calls[1].fields["offset"] == "8"


@pytest.mark.asyncio
async def test_the_token_is_in_no_error_log_or_repr(
    wire: Wire, client: TelegramClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = [repr(client._bot), str(client._bot), repr(client)]
    for reply in (refusal(404, f"Not Found: /bot{TOKEN}/sendMessage"), Reply(fault="reset"), Reply(fault="half")):
        wire.answer = lambda call, reply=reply: reply  # type: ignore[misc]
        with pytest.raises(MessengerError) as caught:
            await client.send_text(TOPIC, HELLO)
        error = caught.value
        seen += [str(error), repr(error), error.title, error.hint, error.detail]
    assert TOKEN.split(":")[1] not in "\n".join([*seen, caplog.text])


@pytest.mark.asyncio
async def test_a_file_goes_out_with_name_and_caption(wire: Wire, client: TelegramClient, tmp_path: Path) -> None:
    report = tmp_path / "a.bin"
    report.write_bytes(b"content of the report")
    upload = FileUpload(report, "отчёт.txt")
    await client.send_files(TOPIC, [upload], caption=Part("<i>here</i>", "here"), keyboard=((Button("x", "y"),),))
    call = wire.calls[0]
    assert call.method == "sendDocument"
    for piece in (b"content of the report", "отчёт.txt".encode(), b"<i>here</i>", b"inline_keyboard"):
        assert piece in call.body


@pytest.mark.asyncio
async def test_several_pictures_are_one_album_with_one_caption(
    wire: Wire, client: TelegramClient, tmp_path: Path
) -> None:
    wire.answer = lambda call: Reply([{"message_id": 11}, {"message_id": 12}])
    files = []
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(name.encode() * 10)
        files.append(FileUpload(tmp_path / name, name, is_photo=True))
    assert await client.send_files(TOPIC, files, caption=Part("two", "two")) == 11
    body = wire.calls[0].body
    assert wire.calls[0].method == "sendMediaGroup"
    assert body.count(b'"caption"') == 1
    assert body.count(b'"type": "photo"') == 2
    assert b"a.png" * 10 in body


@pytest.mark.asyncio
async def test_a_file_that_is_gone_or_empty_is_refused_before_any_call(
    wire: Wire, client: TelegramClient, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    for name in ("gone", "empty"):
        with pytest.raises(RefusedError) as caught:
            await client.send_files(TOPIC, [FileUpload(tmp_path / name, name)])
        assert name in caught.value.title
    assert wire.calls == []


@pytest.mark.asyncio
async def test_editing_a_file_edits_its_caption(wire: Wire, client: TelegramClient) -> None:
    def answer(call: Call) -> Reply:
        if call.method == "editMessageText":
            return refusal(400, "Bad Request: there is no text in the message to edit")
        return Reply()

    wire.answer = answer
    await client.edit_text(CHAT, 5, HELLO)
    assert wire.calls[1].fields["caption"] == "<b>hello</b>"


@pytest.mark.asyncio
async def test_a_download_lands_in_the_file(wire: Wire, client: TelegramClient, tmp_path: Path) -> None:
    def answer(call: Call) -> Reply:
        if call.method == "getFile":
            return Reply({"file_path": "photos/a b.jpg", "file_size": 4})
        return Reply(raw=b"\x00\x01\x02\x03")

    wire.answer = answer
    await client.download("F1", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == b"\x00\x01\x02\x03"
    assert wire.calls[1].path == f"/file/bot{TOKEN}/photos/a%20b.jpg"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "reply", [refusal(400, "Bad Request: file is too big"), Reply({"file_path": "x", "file_size": 21 << 20})]
)
async def test_a_file_over_20_mib_is_refused(wire: Wire, client: TelegramClient, tmp_path: Path, reply: Reply) -> None:
    wire.answer = lambda call: reply
    with pytest.raises(FileTooBigError):
        await client.download("F1", tmp_path / "got")
    assert len(wire.calls) == 1


@pytest.mark.asyncio
async def test_the_same_name_for_a_topic_is_as_good_as_done(wire: Wire, client: TelegramClient) -> None:
    wire.answer = lambda call: refusal(400, "Bad Request: TOPIC_NOT_MODIFIED")
    await client.rename_topic(TOPIC, "same")
    assert wire.calls[0].method == "editForumTopic"


@pytest.mark.asyncio
async def test_the_rights_of_the_bot_are_told_for_the_set_up(wire: Wire, client: TelegramClient) -> None:
    def answer(call: Call) -> Reply:
        if call.method == "getChat":
            return Reply({"id": CHAT, "type": "supergroup", "title": "Team", "is_forum": True})
        return Reply({"status": "administrator", "can_manage_topics": True, "can_delete_messages": False})

    wire.answer = answer
    facts = await client.chat_facts(CHAT, 1)
    assert (facts.is_forum, facts.is_administrator, facts.can_manage_topics) == (True, True, True)
    assert not facts.can_delete_messages


@pytest.mark.asyncio
async def test_closing_does_not_wait_for_a_call_that_hangs(wire: Wire) -> None:
    wire.answer = lambda call: Reply(fault="hang")
    client = TelegramClient(TOKEN, ApiAddress(base_url=wire.base_url, uses_environment=False))
    async with client:
        poll = asyncio.create_task(client.updates(None, 30))
        await asyncio.sleep(0.05)
        poll.cancel()
        with pytest.raises(asyncio.CancelledError):
            await poll
        await asyncio.wait_for(client.close(), 1)


@pytest.mark.parametrize(
    ("given", "calls", "files"),
    [
        ("", "https://api.telegram.org/bot", "https://api.telegram.org/file/bot"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80/bot", "http://127.0.0.1:80/file/bot"),
        ("http://127.0.0.1:80/bot/", "http://127.0.0.1:80/bot", "http://127.0.0.1:80/file/bot"),
    ],
)
def test_the_file_address_follows_the_call_address(given: str, calls: str, files: str) -> None:
    address = ApiAddress(base_url=given)
    assert (address.call_root(), address.file_root()) == (calls, files)
