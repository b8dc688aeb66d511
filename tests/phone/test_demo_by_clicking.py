"""The whole demo by clicking: page, simulator, hub, demo agent, nothing scripted between the taps and the process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from agents.contract import AgentLaunch
from agents.demo.history import HOME
from app.demo import Demo, DemoOptions, demo_in
from tests.phone.backstage import Backstage
from tests.phone.browser import Page

pytestmark = pytest.mark.system
ROOT = Path(__file__).resolve().parents[2]
TURN = 100.0
"""Seconds a turn may take: the hub keeps to Telegram's budget here, too."""


class Playing(Backstage):
    """A running demo."""

    def __init__(self, options: DemoOptions | None = None) -> None:
        super().__init__()
        self._opened = demo_in(options or DemoOptions())
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


@pytest.fixture
def two_agents(tmp_path: Path) -> Iterator[Playing]:
    """A demo on a computer with a second agent that speaks ACP."""
    variables = {"PYTHONPATH": str(ROOT), HOME: str(tmp_path)}
    launch = AgentLaunch(command=sys.executable, args=("-m", "agents.demo"), env=variables)
    playing = Playing(DemoOptions(launches=(("second", launch),)))
    try:
        playing.run(playing.demo.offer_agents(), 60)
        yield playing
    finally:
        playing.close()


def test_an_installed_agent_is_chosen_at_the_start_and_does_the_work(
    two_agents: Playing, clean_driver: webdriver.Chrome
) -> None:
    page = Page(clean_driver, two_agents.demo.simulator.phone_url)
    page.click("[data-agent=second]")
    page.until(lambda: not page.all(".chooser"), "the choice is made", TURN)
    page.create_topic("Another agent")
    page.write("hello")
    page.sees("demo agent", TURN)
    page.write("/status")
    page.sees("second", TURN)


def test_an_edit_in_the_demos_workspace_needs_no_second_warning(
    playing: Playing, clean_driver: webdriver.Chrome
) -> None:
    page = Page(clean_driver, playing.demo.simulator.phone_url)
    page.create_topic("Edit")
    page.write("edit")
    page.sees("demo-notes.md", TURN)
    page.press("Allow")
    page.until((playing.demo.workspace / "demo-notes.md").exists, "the note is written", TURN)


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
    page.offers("echo never", "Deny", TURN)
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
    page.until(lambda: bool(playing.demo.engine and playing.demo.engine.make_view().running), "the turn runs", TURN)
    page.write("/stop")
    page.until(lambda: any("topped" in text for text in page.texts()[-3:]), "the turn is stopped", TURN)
    page.write("hello again")
    page.until(lambda: any("demo agent" in text for text in page.texts()[-3:]), "it goes on", TURN)

    playing.run(playing.demo.restart_hub(), 60)
    page.write("what did I say before?")
    page.until(
        lambda: any("hello again" in text and len(text) > 30 for text in page.texts()[-3:]),
        "the session is resumed",
        TURN,
    )
    assert page.errors() == []
