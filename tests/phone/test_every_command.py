"""Every command of /help on the page, 390 pixels wide: its reply is shown whole, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver

from bridge.simulator.human import Message
from tests.e2e.command_uses import Use
from tests.phone.browser import Page, resize
from tests.phone.commands import TOO_WIDE, playing, read

pytestmark = pytest.mark.system


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_reply_to_every_command_fits_a_narrow_screen(
    language: str, tmp_path: Path, clean_driver: webdriver.Chrome
) -> None:
    resize(clean_driver, 390, 844)
    seen: list[str] = []
    with playing(tmp_path, language) as one:
        page = Page(clean_driver, one.demo.simulator.phone_url, lang=language)

        def look(use: Use, reply: Message) -> None:
            assert page.script(TOO_WIDE, str(reply.id)) == [], use.text
            seen.append(use.text)

        read(one, page, look)
        assert page.errors() == []
        clean_driver.get("about:blank")  # or it would complain of the demo's end, into the next test's log
    assert "/help" in seen
