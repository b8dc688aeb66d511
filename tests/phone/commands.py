"""Pictures of what every command of /help answers: ``python -m tests.phone.commands FOLDER [LANGUAGE]``.

390 pixels wide, light and dark, on the page that a person sees. To be read as on a phone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bridge.simulator.human import Human, Message
from bridge.texts import set_language
from tests.e2e.command_uses import PATIENCE, USES, Player, Use, quick_demo
from tests.phone.backstage import Backstage
from tests.phone.browser import Page, chromium, resize, screenshot

TOPIC = "Commands"
THEMES = ("light", "dark")
TOO_WIDE = """
const row = document.querySelector(`[data-id="${arguments[0]}"]`);
const edge = document.documentElement.clientWidth;
return [row, ...row.querySelectorAll('.bubble, .bubble *, .key')]
  .filter((one) => !one.closest('pre') && !one.closest('.picture'))
  .filter((one) => one.getBoundingClientRect().right > edge + 1
    || one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible')
  .map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 60)}`);
"""
"""What of a message sticks out of the screen or is cut off at its side; code may be scrolled."""


class Playing(Backstage):
    """A quick demo in a thread, and the person in its topic."""

    def __init__(self, root: Path, language: str) -> None:
        super().__init__()
        self._opened = quick_demo(root, language)
        self.demo = self.run(self._opened.__aenter__(), 60)
        human = Human(self.demo.simulator, patience=PATIENCE)
        self.player = self.do(lambda: Player(self.demo, human, human.create_topic(TOPIC)))

    def reply_to(self, use: Use) -> Message:
        return self.run(self.player.reply_to(use), 4 * PATIENCE)

    def close(self) -> None:
        self.run(self._opened.__aexit__(None, None, None), 60)
        self.end()


@contextmanager
def playing(root: Path, language: str) -> Iterator[Playing]:
    """The demo in a language; English again afterwards."""
    one = Playing(root, language)
    try:
        yield one
    finally:
        one.close()
        set_language("en")


def read(one: Playing, page: Page, look: Callable[[Use, Message], None]) -> None:
    """Use every command; ``look`` is called with the page at its reply."""
    shown: str | None = None
    for use in USES:
        reply = one.reply_to(use)
        wanted = "General" if use.is_general else TOPIC
        if shown != wanted:
            if shown is not None:
                page.click("[aria-label='Back to topics'], [aria-label='Назад к темам']")
            page.open_topic(wanted)
            shown = wanted
        page.one(f'[data-id="{reply.id}"]')
        page.script(f"document.querySelector('[data-id=\"{reply.id}\"]').scrollIntoView({{block: 'end'}})")
        look(use, reply)


def take(folder: Path, language: str) -> None:
    """All pictures in one language."""
    with tempfile.TemporaryDirectory(prefix="commands-") as root, chromium() as driver:
        resize(driver, 390, 844, 1.5)
        with playing(Path(root), language) as one:
            page = Page(driver, one.demo.simulator.phone_url, lang=language, theme="light")

            def look(use: Use, reply: Message) -> None:
                page.script("return new Promise((done) => setTimeout(done, 250))")
                for theme in THEMES:
                    page.script("document.documentElement.dataset.theme = arguments[0]", theme)
                    name = "-".join([*("general" for _ in range(use.is_general)), use.name, str(reply.id)])
                    screenshot(driver, folder / f"{language}-{name}-{theme}.png")
                page.script("document.documentElement.dataset.theme = 'light'")

            read(one, page, look)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    for language in sys.argv[2:] or ("en", "ru"):
        take(folder, language)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main()
