"""A served simulator, a small bot in it, and a browser before it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from selenium import webdriver

from tests.phone.bot import Bot
from tests.phone.browser import chromium
from tests.phone.served import Served, served


@pytest.fixture
def one() -> Iterator[Served]:
    with served() as one:
        yield one


@pytest.fixture
def bot(one: Served) -> Iterator[Bot]:
    """A bot that does only what the test tells it."""
    bot = Bot(one.simulator)
    yield bot
    one.run(bot.close())


@pytest.fixture
def playing_bot(one: Served, bot: Bot) -> Iterator[Bot]:
    """A bot that plays its scripted turn by itself."""
    future = asyncio.run_coroutine_threadsafe(bot.serve(), one.loop)
    yield bot
    future.cancel()


@pytest.fixture(scope="module")
def driver() -> Iterator[webdriver.Chrome]:
    with chromium() as driver:
        yield driver


@pytest.fixture
def clean_driver(driver: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """The module's browser, back on an empty page with one tab after each test."""
    first = driver.current_window_handle
    yield driver
    for tab in driver.window_handles:
        if tab != first:
            driver.switch_to.window(tab)
            driver.close()
    driver.switch_to.window(first)
    driver.get("about:blank")
