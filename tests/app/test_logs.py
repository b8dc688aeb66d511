"""What reaches a log file: never a token, never a key."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import logs

TOKEN = "110201543:DUMMY-dummy_DUMMY-dummy_DUMMY-dum1"


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    before, level = tuple(root.handlers), root.level
    for handler in before:
        root.removeHandler(handler)
    yield logs.set_up(tmp_path, verbose=True)
    for handler in tuple(root.handlers):
        root.removeHandler(handler)
        handler.close()
    for handler in before:
        root.addHandler(handler)
    root.setLevel(level)


@pytest.mark.parametrize(
    "text",
    [
        f"Client error '404' for url 'https://127.0.0.1/bot{TOKEN}/getFile'",
        f"GET /file/bot{TOKEN}/photos/a.jpg",
        "env ANTHROPIC_API_KEY=dummy-value",
        "Authorization: Bearer dummy-value-of-some-length",
    ],
)
def test_a_token_or_key_in_a_message_is_hidden(log_file: Path, text: str) -> None:
    logging.getLogger("test").warning("said: %s", text)
    written = log_file.read_text(encoding="utf-8")
    assert "said:" in written
    assert "DUMMY-dummy" not in written
    assert "dummy-value" not in written


def test_the_bot_id_stays_readable(log_file: Path) -> None:
    logging.getLogger("test").warning("bot%s/getMe", TOKEN)
    assert "110201543:…" in log_file.read_text(encoding="utf-8")


def test_a_token_in_a_traceback_is_hidden(log_file: Path) -> None:
    try:
        raise RuntimeError(f"no answer from bot{TOKEN}")
    except RuntimeError:
        logging.getLogger("test").exception("call failed")
    written = log_file.read_text(encoding="utf-8")
    assert "RuntimeError" in written
    assert "DUMMY-dummy" not in written


def test_a_known_secret_without_a_shape_is_hidden(log_file: Path) -> None:
    logs.redactor.hide("correct horse battery")
    logging.getLogger("test").warning("it is correct horse battery!")
    assert "horse" not in log_file.read_text(encoding="utf-8")


def test_the_http_library_is_quiet_below_warning(log_file: Path) -> None:
    logging.getLogger("httpx").info("HTTP Request: POST bot%s", TOKEN)
    assert not log_file.exists() or log_file.read_text(encoding="utf-8") == ""
