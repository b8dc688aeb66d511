"""The whole demo by clicking: page, simulator, hub, demo agent, nothing scripted between the taps and the process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver

from app.demo import Demo, DemoOptions, demo_in
from tests.phone.backstage import Backstage
from tests.phone.browser import Page

pytestmark = pytest.mark.system
TURN = 40.0
"""Seconds a turn may take: the hub keeps to Telegram's budget here, too."""


class Playing(Backstage):
    """A running demo."""

    def __init__(self) -> None:
        super().__init__()
        self._opened = demo_in(DemoOptions())
        self.demo: Demo = self.run(self._opened.__aenter__(), 60)

    def close(self) -> None:
        self.run(self._opened.__aexit__(None, None, None), 60)
        self.end()


@pytest.fixture
def playing() -> Iterator[Playing]:
    playing = Playing()
    try:
        yield playing
    finally:
        playing.close()


def test_the_demo_scenario_is_done_by_clicking(playing: Playing, clean_driver: webdriver.Chrome) -> None:
    page = Page(clean_driver, playing.demo.simulator.phone_url)
    page.create_topic("By clicking")
    page.write("hello")
    page.sees("demo agent", TURN)

    page.write("run `echo agent-hub`")
    page.sees("echo agent-hub", TURN)
    page.press("Allow")
    page.sees("exit code 0", TURN)

    page.write("run `echo never`")
    page.until(lambda: any("Deny" in key.text for key in page.all(".key")), "a card to deny", TURN)
    page.menu_of("echo never")
    page.click_text(".menu [role=menuitem]", "Reply")
    page.write("the disk is full")
    page.until(lambda: sum("the disk is full" in text for text in page.texts()) >= 2, "the agent heard why", TURN)

    page.write("ask me")
    page.until(lambda: any("SQLite" in key.text for key in page.all(".key")), "the question", TURN)
    page.press("SQLite")
    page.until(lambda: not any("SQLite" in key.text for key in page.all(".key")), "the question is closed", TURN)

    page.write("file please")
    page.until(lambda: page.all("a.file"), "the file", TURN)

    page.write("slow")
    page.until(lambda: "⏳" in page.texts()[-1], "the turn runs", TURN)
    page.write("/stop")
    page.until(lambda: any("topped" in text for text in page.texts()[-3:]), "the turn is stopped", TURN)
    page.write("hello again")
    page.until(lambda: "demo agent" in page.texts()[-1], "it goes on", TURN)

    playing.run(playing.demo.restart_hub(), 60)
    page.write("what did I say before?")
    page.until(lambda: "hello again" in page.texts()[-1] and len(page.texts()[-1]) > 30, "the session is resumed", TURN)
    assert page.errors() == []
