"""Chromium under a driver, offline and with a fresh profile; the page's parts found by what a person reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.parts import require_program

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en-US",
)
PATIENCE = 30.0


@contextmanager
def chromium(width: int = 390, height: int = 844) -> Iterator[webdriver.Chrome]:
    """A browser whose page is ``width`` by ``height`` CSS pixels. Skips (in CI: fails) where Chromium is missing."""
    program, driver_program = require_program("chromium"), require_program("chromedriver")
    with tempfile.TemporaryDirectory(prefix="phone-") as folder:
        options = Options()
        options.binary_location = str(program)
        for flag in (*FLAGS, f"--user-data-dir={folder}/profile", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(str(driver_program)))
        driver.set_page_load_timeout(20)
        driver.set_script_timeout(10)
        try:
            resize(driver, width, height)
            yield driver
        finally:
            driver.quit()


def resize(driver: webdriver.Chrome, width: int, height: int, scale: float = 1.0) -> None:
    """Set the size of the page itself: a window has a least width of its own."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def screenshot(driver: webdriver.Chrome, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    driver.save_screenshot(str(to))


class Page:
    """The phone page in one browser tab."""

    def __init__(self, driver: webdriver.Chrome, url: str, **options: str) -> None:
        self.driver = driver
        self.url = url
        self.tab = driver.current_window_handle
        query = "&".join(f"{key}={value}" for key, value in {"tour": "no", "lang": "en", **options}.items())
        driver.get(f"{url}?{query}")
        self.until(lambda: self.script("return document.documentElement.dataset.ready") == "yes", "the page is ready")

    def script(self, text: str, *arguments: object) -> object:
        self.driver.switch_to.window(self.tab)
        return self.driver.execute_script(text, *arguments)

    def until(self, what: object, reason: str, patience: float = PATIENCE) -> object:
        """Wait until a call gives something true; elements that were replaced meanwhile are looked up again."""

        def holds(_: object) -> object:
            return what()  # type: ignore[operator]

        waiting = WebDriverWait(
            self.driver, patience, poll_frequency=0.05, ignored_exceptions=[StaleElementReferenceException, IndexError]
        )
        return waiting.until(holds, reason)

    def all(self, selector: str) -> list[WebElement]:
        self.driver.switch_to.window(self.tab)
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str, patience: float = PATIENCE) -> WebElement:
        """The first shown element that fits, waited for."""
        found = self.until(
            lambda: next((item for item in self.all(selector) if item.is_displayed()), None), selector, patience
        )
        assert isinstance(found, WebElement)
        return found

    def click(self, selector: str) -> None:
        self.until(lambda: self._clicked(selector), f"{selector} can be clicked")

    def _clicked(self, selector: str) -> bool:
        self.one(selector).click()
        return True

    def click_text(self, selector: str, text: str) -> None:
        """Click the last shown element that contains a text."""

        def clicked() -> bool:
            fitting = [item for item in self.all(selector) if item.is_displayed() and text in item.text]
            fitting[-1].click()
            return True

        self.until(clicked, f"{selector} with {text!r} can be clicked")

    # --- what a person does ----------------------------------------------------------------------------------------

    def create_topic(self, name: str) -> None:
        self.click("#new-topic")
        self.one(".dialog input").send_keys(name, Keys.ENTER)
        self.until(lambda: self.one(".chat h1").text == name, f"the topic {name} is open")

    def open_topic(self, name: str) -> None:
        self.click_text(".topic", name)
        self.until(lambda: self.one(".chat h1").text == name, f"the topic {name} is open")

    def write(self, text: str) -> None:
        self.one(".composer textarea").send_keys(text, Keys.ENTER)

    def press(self, label: str) -> None:
        """Press the newest button with a label."""
        self.click_text(".key", label)

    def menu_of(self, text: str) -> None:
        """Open the menu of the newest message that contains a text."""

        def opened() -> bool:
            self.script(
                "const rows = [...document.querySelectorAll('.row[role=article]')];"
                "rows.filter((row) => row.textContent.includes(arguments[0])).at(-1).openMenu();",
                text,
            )
            return True

        self.until(opened, f"the menu of {text!r}")
        self.one(".menu")

    def offers(self, text: str, label: str, patience: float = PATIENCE) -> None:
        """Wait until the newest message that contains a text has a button: an older card may still have its own."""
        script = (
            "const row = [...document.querySelectorAll('.row[role=article]')]"
            ".filter((row) => row.textContent.includes(arguments[0])).at(-1);"
            "const keys = [...(row ? row.querySelectorAll('.key') : [])];"
            "return keys.some((key) => key.textContent.includes(arguments[1]));"
        )
        self.until(lambda: self.script(script, text, label), f"{label!r} on the message with {text!r}", patience)

    def texts(self) -> list[str]:
        found = self.script("return [...document.querySelectorAll('.row .bubble')].map((item) => item.innerText)")
        assert isinstance(found, list)
        return found

    def sees(self, text: str, patience: float = PATIENCE) -> None:
        """Wait until a bubble contains a text."""
        self.until(lambda: any(text in item for item in self.texts()), f"a message with {text!r}", patience)

    def toast(self) -> str:
        return self.one("#toast").text

    def errors(self) -> list[str]:
        """What the page complained about."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
