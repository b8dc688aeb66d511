"""No token and no key in anything that leaves the program."""

from __future__ import annotations

import io
import logging

import pytest

from bridge.redaction import RedactingFilter, redact

SECRET = "DUMMY-dummy_DUMMY-dummy_DUMMY-dum1"


@pytest.mark.parametrize(
    ("text", "secret", "stays"),
    [
        (f"Client error '404' for url 'https://api.telegram.org/bot110201543:{SECRET}/getFile'", SECRET, "/getFile"),
        (f"GET /file/bot110201543:{SECRET}/photos/a.jpg", SECRET, "/photos/a.jpg"),
        (f"GET /bot110201543%3A{SECRET}/getMe", SECRET, "110201543"),
        (f"token is 110201543:{SECRET}", SECRET, "110201543"),
        ("GET /bot1:short/getMe", "short", "getMe"),
        ("env ANTHROPIC_API_KEY=dummy-value", "dummy-value", "ANTHROPIC_API_KEY"),
        ("{'OPENAI_API_KEY': 'dummy-value', 'HOME': '/home/x'}", "dummy-value", "/home/x"),
        ('{"api_key": "dummy-value"}', "dummy-value", "api_key"),
        ("Authorization: Bearer dummy-value", "dummy-value", "Authorization"),
        ("ProxyError: socks5://ann:dummy-value@127.0.0.1:1080 refused", "dummy-value", "127.0.0.1:1080"),
        ("using sk-ant-abcdefghijklmnopqrst here", "abcdefghijklmnopqrst", "using sk"),
    ],
)
def test_a_secret_is_masked_and_the_rest_stays(text: str, secret: str, stays: str) -> None:
    assert secret not in redact(text)
    assert stays in redact(text)


@pytest.mark.parametrize("text", ["12:30 start", "port 127.0.0.1:8080", "1800000000: tick", "tokens: many"])
def test_ordinary_text_keeps_its_numbers(text: str) -> None:
    assert redact(text).split(":")[0] == text.split(":", maxsplit=1)[0]
    assert redact("12:30 start") == "12:30 start"


def test_message_arguments_and_traceback_of_a_log_line_are_masked() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter())
    logger = logging.getLogger("test-of-redaction")
    logger.propagate = False
    logger.addHandler(handler)

    def fail() -> None:
        raise RuntimeError(f"https://x/bot110201543:{SECRET}/getMe")

    try:
        fail()
    except RuntimeError:
        logger.exception("call of %s failed", f"/bot110201543:{SECRET}/sendMessage")
    assert SECRET not in stream.getvalue()
    assert "RuntimeError" in stream.getvalue()
    logger.removeHandler(handler)
