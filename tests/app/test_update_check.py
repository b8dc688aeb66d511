"""The daily look for a newer version: asks one address, says what is new, never more."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.engine_facade import version_row
from app.settings import Settings
from app.settings_fields import problem_with
from app.update_check import (
    DAY,
    LARGEST_ANSWER,
    Known,
    Release,
    UpdateCheckError,
    UpdateWatch,
    ask,
    is_newer,
    parse_release,
    read_record,
    write_record,
)

NEWS = {"version": "0.9.0", "link": "https://example.org/agent-hub/0.9.0", "news": "Faster.\nKinder."}


class Address:
    """What answers on loopback, and what it was asked."""

    def __init__(self, body: bytes, status: str = "200 OK") -> None:
        self.body, self.status = body, status
        self.url = ""
        self.questions: list[str] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.questions.append((await reader.readuntil(b"\r\n\r\n")).decode())
        head = f"HTTP/1.1 {self.status}\r\nContent-Length: {len(self.body)}\r\nConnection: close\r\n\r\n"
        try:
            writer.write(head.encode() + self.body)
            await writer.drain()
        except ConnectionError:
            self.questions.append("hung up")
        writer.close()


@asynccontextmanager
async def address(said: Any, status: str = "200 OK") -> AsyncIterator[Address]:
    one = Address(said if isinstance(said, bytes) else json.dumps(said).encode(), status)
    server = await asyncio.start_server(one.answer, "127.0.0.1", 0)
    async with server:
        one.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/latest"
        yield one


def watch_of(folder: Path, url: str, *, is_on: bool = True, running: str = "0.1.0") -> UpdateWatch:
    settings = Settings.model_validate({"hub": {"update_url": url, "update_check": is_on}})
    return UpdateWatch(folder, lambda: settings, running)


@pytest.mark.asyncio
async def test_a_newer_version_is_known_with_its_link_and_news(tmp_path: Path) -> None:
    async with address(NEWS) as one:
        watch = watch_of(tmp_path, one.url)
        await watch.look(1_000_000.0)
    assert watch.newer == Release("0.9.0", "https://example.org/agent-hub/0.9.0", "Faster. Kinder.")


@pytest.mark.asyncio
async def test_the_health_page_and_the_log_say_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "app.update_check")
    async with address(NEWS) as one:
        watch = watch_of(tmp_path, one.url)
        await watch.look(1_000_000.0)
    row = version_row(watch.newer)
    assert "0.9.0" in row.value
    assert (row.hint, row.link) == ("Faster. Kinder.", "https://example.org/agent-hub/0.9.0")
    assert "agent-hub 0.9.0 is there" in caplog.text


@pytest.mark.asyncio
async def test_it_asks_once_a_day_also_after_a_new_start(tmp_path: Path) -> None:
    async with address(NEWS) as one:
        await watch_of(tmp_path, one.url).look(1_000_000.0)
        again = watch_of(tmp_path, one.url)
        await again.look(1_000_000.0 + DAY - 1)
        assert len(one.questions) == 1
        assert again.newer is not None
        await again.look(1_000_000.0 + DAY)
    assert len(one.questions) == 2


@pytest.mark.asyncio
async def test_a_clock_set_back_does_not_stop_the_look(tmp_path: Path) -> None:
    async with address(NEWS) as one:
        watch = watch_of(tmp_path, one.url)
        await watch.look(1_000_000.0)
        await watch.look(900_000.0)
    assert len(one.questions) == 2


@pytest.mark.asyncio
async def test_switched_off_it_asks_nobody(tmp_path: Path) -> None:
    async with address(NEWS) as one:
        watch = watch_of(tmp_path, one.url, is_on=False)
        await watch.look(1_000_000.0)
    assert one.questions == []
    assert watch.newer is None


@pytest.mark.asyncio
async def test_without_an_address_which_is_the_default_it_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forbidden(url: str) -> Release:
        raise AssertionError(url)

    monkeypatch.setattr("app.update_check.ask", forbidden)
    watch = UpdateWatch(tmp_path, Settings, "0.1.0")
    await watch.look(1_000_000.0)
    assert watch.newer is None


@pytest.mark.asyncio
async def test_the_question_tells_nothing_about_the_computer(tmp_path: Path) -> None:
    async with address(NEWS) as one:
        await watch_of(tmp_path, one.url).look(1_000_000.0)
    lines = one.questions[0].split("\r\n")
    assert lines[0] == "GET /latest HTTP/1.1"
    names = {line.split(":")[0].lower() for line in lines[1:] if line}
    assert names <= {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert "user-agent: agent-hub" in one.questions[0].lower()


@pytest.mark.asyncio
async def test_a_redirect_is_not_followed() -> None:
    async with address(b"", "302 Found\r\nLocation: http://127.0.0.1:9/elsewhere") as one:
        with pytest.raises(UpdateCheckError, match="answered 302"):
            await ask(one.url)


@pytest.mark.asyncio
async def test_an_endless_answer_is_refused() -> None:
    async with address(b" " * (LARGEST_ANSWER + 1)) as one:
        with pytest.raises(UpdateCheckError, match="too large"):
            await ask(one.url)


@pytest.mark.asyncio
async def test_nobody_there_is_tried_again_the_next_day_and_keeps_what_was_known(tmp_path: Path) -> None:
    async with address(NEWS) as one:
        await watch_of(tmp_path, one.url).look(1_000_000.0)
    watch = watch_of(tmp_path, one.url)
    await watch.look(1_000_000.0 + DAY)
    assert watch.newer is not None
    assert read_record(tmp_path / "update.json").asked == 1_000_000.0 + DAY


@pytest.mark.parametrize("body", [b"", b"[]", b'{"version": 3}', b'{"version": "soon"}', b"\xff\xfe", b"[" * 100_000])
def test_an_answer_without_a_version_is_a_named_problem(body: bytes) -> None:
    with pytest.raises(UpdateCheckError):
        parse_release(body)


def test_the_latest_release_of_a_code_host_is_read_too() -> None:
    body = {"tag_name": "v1.2.3", "html_url": "https://example.org/r/1.2.3", "body": "## New\r\n- a thing"}
    assert parse_release(json.dumps(body).encode()) == Release(
        "1.2.3", "https://example.org/r/1.2.3", "## New - a thing"
    )


@pytest.mark.parametrize("link", ["javascript:alert(1)", "file:///etc/passwd", "http://example.org", "https://", "x"])
def test_a_link_that_is_not_https_is_left_out(link: str) -> None:
    assert parse_release(json.dumps({"version": "2.0.0", "link": link}).encode()).link == ""


@pytest.mark.parametrize(
    ("running", "newer"), [("0.1.0", True), ("0.9.0", False), ("1.0.0", False), ("0 (not installed)", False)]
)
def test_only_a_higher_version_is_news(running: str, newer: bool) -> None:
    assert is_newer(Release("0.9.0"), running) is newer


@pytest.mark.parametrize("record", ["", "{}", '{"asked": "x", "release": null}', '{"asked": 1, "release": {"a": 1}}'])
def test_a_broken_record_only_means_to_ask_again(tmp_path: Path, record: str) -> None:
    (tmp_path / "update.json").write_text(record, encoding="utf-8")
    assert read_record(tmp_path / "update.json") == Known()


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    known = Known(5.0, Release("0.9.0", "https://example.org/x", "News"))
    write_record(tmp_path / "update.json", known)
    assert read_record(tmp_path / "update.json") == known


@pytest.mark.parametrize("address", ["ftp://example.org", "http://example.org/x", "example.org"])
def test_the_address_must_be_https(address: str) -> None:
    assert "https" in problem_with("hub.update_url", address)
