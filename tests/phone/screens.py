"""Pictures of the phone page, made of the hub's own cards: ``python -m tests.phone.screens FOLDER [LANGUAGE...]``.

390 and 1200 pixels wide, light and dark, English and Russian. To be looked at, beside a real Telegram.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from agents.contract import AskId, Choice, PermissionRequest, Question, ToolKind, ToolStatus
from bridge import cards
from bridge.commands.table import CommandTable
from bridge.commands.topic import SPECS
from bridge.markdown import render
from bridge.simulator import Limits
from bridge.texts import set_language
from tests.bridge.simulator.conftest import picture
from tests.phone.bot import Bot
from tests.phone.browser import Page, chromium, resize, screenshot
from tests.phone.served import Served, served

CWD = Path("/home/alex/shop")
DIFF = """--- a/cart/total.py
+++ b/cart/total.py
@@ -10,7 +10,9 @@ def total(cart: Cart) -> Money:
     amount = Money(0)
     for line in cart.lines:
-        amount += line.price * line.count
+        if line.count < 0:
+            raise ValueError(f"{line.count} of {line.article}")
+        amount += line.price * line.count
     return amount
"""
TABLE = """The slowest ten requests of yesterday, from `access.log`:

| Path | Calls | Median | p99 | Worst | Where the time goes |
|---|---:|---:|---:|---:|---|
| /search | 18,220 | 212 ms | 1.9 s | 6.1 s | one query per facet, no index on `articles.tag` |
| /checkout | 3,104 | 180 ms | 1.2 s | 2.4 s | the bank's sandbox, twice |
| /export.csv | 61 | 4.2 s | 9.8 s | 12.0 s | reads the table into memory |

I would start with **/search**: an index costs nothing and wins most.
"""
ANSWER = """## Done: totals refuse negative counts

I changed `cart/total.py` and added two tests.

1. `total()` raises `ValueError` for a negative count.
2. The error names the article, see [the guide](https://docs.example.org/errors).

```python
def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 of tea"):
        total(Cart([Line("tea", Money(3), -1)]))
```

> The old behaviour silently lowered the sum.

All **214 tests** pass.
"""
TOPICS = (
    "Shop: cart totals",
    "Speed of the search",
    "Write the release notes",
    "Flaky test in CI",
    "Перевод интерфейса",
    "Clean up the build",
    "Upgrade the database",
)


async def stage(bot: Bot, one: Served) -> dict[str, int]:
    """Topics in the states the pictures show."""
    human = one.human
    menu = [{"command": name, "description": text} for name, text in CommandTable(SPECS).menu()]
    await bot.call("setMyCommands", commands=menu)
    ids = {name: human.create_topic(name) for name in TOPICS}
    cart, speed, notes, flaky, russian, clean, upgrade = ids.values()
    human.write("Look at the README and tell me what is missing")
    await bot.say(0, "I work in topics. Make one with the pencil and write your task there.")
    await bot.say(speed, "⏳ <b>Reading access.log</b> · 0:41")
    human.write("Which requests were the slowest yesterday?", speed)
    for part in render(TABLE):
        await bot.say(speed, part, rings=True)
    human.write("Draft the notes for 2.4 from the commits", notes)
    await bot.say(notes, render("Here is the beginning. The whole text is in the file.\n\n# 2.4\n\n- Carts " * 1)[0])
    await bot.send(notes, "release-notes-2.4.md", b"# 2.4\n" * 400, "<b>The whole answer</b>, 12 parts")
    await bot.album(notes, [picture(900, 600, b"\x35\x78\xb4"), picture(900, 600, b"\xd0\x8a\x3c")], "Two charts")
    human.send_voice(b"OggS" + bytes(9_000), notes)
    human.write("Почини перенос строк в длинных названиях", russian)
    await bot.say(russian, "✅ Готово: поправил 3 файла, 48 тестов проходят.", rings=True)
    await waiting_topic(bot, one, clean)
    await running_topic(bot, one, upgrade)
    await flaky_topic(bot, one, flaky)
    await cart_topic(bot, one, cart)
    return ids


async def waiting_topic(bot: Bot, one: Served, topic: int) -> None:
    """A command that waits for its permission."""
    one.human.write("Throw away old build folders, but ask me first", topic)
    request = PermissionRequest(
        AskId("3"), "Bash", ToolKind.EXECUTE, "Remove build output", "rm -rf build/ dist/ .pytest_cache/", CWD,
        reason="The folders are older than the last release.",
    )  # fmt: skip
    part = cards.permission_card(request, risk="destructive: removes whole folders")
    await bot.say(topic, part, [[("✅ Allow", "p:a:z", "success"), ("⛔ Deny", "p:d:z", "danger")]], rings=True)


async def running_topic(bot: Bot, one: Served, topic: int) -> None:
    """A turn that runs, with a text being written, a folded quote and an unread end."""
    one.human.write("Upgrade to PostgreSQL 18 and tell me what breaks", topic)
    lines = [
        cards.tool_line("Read", "docker-compose.yml", ToolStatus.OK),
        cards.tool_line("Bash", "docker compose pull db", ToolStatus.OK),
        cards.tool_line("Edit", "docker-compose.yml", ToolStatus.DENIED),
        cards.tool_line("Bash", "pytest -q tests/db", None),
    ]
    tail = render("Two things differ so far:\n\n- `numeric` columns sort *null* last\n- the old `md5` logins are gone")[
        0
    ]
    await bot.say(topic, cards.status_block(doing="Running the tests", tools=lines, elapsed=203, tail=tail))
    log = "\n".join(f"tests/db/test_{name}.py  ok" for name in ("carts", "users", "prices", "search", "audit"))
    await bot.say(topic, cards.notice("The agent wrote to its log.", hint="Nothing to do.", detail=log))
    await bot.typing(topic)


async def flaky_topic(bot: Bot, one: Served, topic: int) -> None:
    """A question with several answers."""
    one.human.write("test_upload fails one time in ten. Find out why.", topic)
    lines = [
        cards.tool_line("Grep", "retry_after", ToolStatus.OK),
        cards.tool_line("Bash", "pytest -x tests/upload -n 4 --count 50", ToolStatus.FAILED),
        cards.tool_line("Read", "shop/upload/client.py", None),
    ]
    tail = render("The failure needs two workers: both write `part-0`. I will check where the name comes from.")[0]
    await bot.say(topic, cards.status_block(doing="Reading", tools=lines, elapsed=74, tail=tail))
    question = Question(
        "k", "Which of these shall I change?", "Upload",
        choices=(
            Choice("Unique part names", "uuid4 in front of the number"),
            Choice("A lock file", "one writer at a time"),
            Choice("A retry", "hides it, does not mend it"),
        ),
        is_multiple=True,
    )  # fmt: skip
    part = cards.question_card(question, number=1, total=2, chosen=["Unique part names"])
    rows = [[("✅ Unique part names", "q:0:x")], [("A lock file", "q:1:x"), ("A retry", "q:2:x")], [("Done", "q:d:x")]]
    await bot.say(topic, part, rows, rings=True)


async def cart_topic(bot: Bot, one: Served, topic: int) -> None:
    """A decided card, an answer, a diff card that waits."""
    one.human.write("Make total() refuse negative counts and test it", topic)
    run = PermissionRequest(
        AskId("1"), "Bash", ToolKind.EXECUTE, "Run the tests", "pytest -q tests/cart", CWD, reason="To see them pass."
    )
    card = await bot.say(topic, cards.permission_card(run), [[("✅ Allow", "p:a:x"), ("❌ Deny", "p:d:x")]], rings=True)
    below = cards.status_block(
        doing="Writing the answer", tools=[cards.tool_line("Bash", "pytest -q", ToolStatus.OK)], elapsed=32, tail=None
    )
    await bot.change(card, cards.permission_card(run, verdict="✅ Allowed once by Alex", below=below))
    asked = one.human.write("Say it in one sentence for the changelog, too", topic)
    for part in render(ANSWER):
        last = await bot.say(topic, part, rings=True, reply=asked.id)
    seen = one.human.look(last)
    assert seen is not None
    one.human.react(seen, "👍")
    await bot.call(
        "setMessageReaction", chat_id=bot.chat, message_id=asked.id, reaction=[{"type": "emoji", "emoji": "👀"}]
    )
    edit = PermissionRequest(
        AskId("2"), "Edit", ToolKind.EDIT, "Edit cart/total.py", "cart/total.py", CWD, diff=DIFF,
        reason="Refuse negative counts.",
    )  # fmt: skip
    part = cards.permission_card(edit)
    await bot.say(
        topic, part, [[("✅ Allow", "p:a:y"), ("❌ Deny", "p:d:y")], [("✏️ Deny with a reason", "p:r:y")]], rings=True
    )


SCENES: dict[str, tuple[str, Callable[[Page], object]]] = {
    "topics": ("", lambda page: None),
    "diff-card": (TOPICS[0], lambda page: None),
    "answer": (TOPICS[0], lambda page: scroll(page, "Done: totals")),
    "decided-card": (TOPICS[0], lambda page: scroll(page, "Allowed once")),
    "table": (TOPICS[1], lambda page: scroll(page, "The slowest ten")),
    "album-and-voice": (TOPICS[2], lambda page: None),
    "answer-as-file": (TOPICS[2], lambda page: scroll(page, "Here is the beginning")),
    "commands": (TOPICS[3], lambda page: page.one(".composer textarea").send_keys("/")),
    "question": (TOPICS[3], lambda page: None),
    "permission-card": (TOPICS[5], lambda page: None),
    "running-turn": (TOPICS[6], lambda page: None),
}


def scroll(page: Page, text: str) -> object:
    return page.script(
        "[...document.querySelectorAll('.row')].filter((row) => row.textContent.includes(arguments[0])).at(-1)"
        ".scrollIntoView({block: 'start'})",
        text,
    )


def take(one: Served, folder: Path, language: str) -> None:
    """All pictures in one language: every scene, both widths, both themes; then menus, drawer and tour."""
    url = one.simulator.phone_url
    with chromium() as driver:
        for theme in ("light", "dark"):
            for width, height in ((390, 844), (1200, 800)):
                resize(driver, width, height, 2.0 if width == 390 else 1.0)
                for name, (topic, prepare) in SCENES.items():
                    page = Page(driver, url, theme=theme, lang=language)
                    if topic:
                        page.open_topic(topic)
                    prepare(page)
                    page.script("return new Promise((done) => setTimeout(done, 250))")
                    screenshot(driver, folder / f"{language}-{name}-{width}-{theme}.png")
                page = Page(driver, url, theme=theme, tour="yes", lang=language)
                screenshot(driver, folder / f"{language}-tour-{width}-{theme}.png")
                page = Page(driver, url, theme=theme, lang=language)
                page.open_topic(TOPICS[0])
                page.click("#open-drawer")
                screenshot(driver, folder / f"{language}-drawer-{width}-{theme}.png")
                page.click("#drawer .icon-button")
                page.menu_of("Say it in one sentence")
                screenshot(driver, folder / f"{language}-menu-{width}-{theme}.png")
                driver.get("about:blank")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    for language in sys.argv[2:] or ("en", "ru"):
        set_language(language)
        with served(Limits(group_calls=60)) as one:
            bot = Bot(one.simulator)
            one.run(stage(bot, one))
            take(one, folder, language)
            one.run(bot.close())
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main()
