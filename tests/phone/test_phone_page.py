"""The phone page by clicking, in real Chromium: what a person does, and what two pages and a restart make of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from bridge.simulator import AgentChoice, Fault, FaultKind, Human
from tests.bridge.simulator.conftest import picture
from tests.phone.bot import Bot
from tests.phone.browser import Page, resize
from tests.phone.served import Served

pytestmark = pytest.mark.system


def page_of(one: Served, driver: webdriver.Chrome, **options: str) -> Page:
    return Page(driver, one.simulator.phone_url, **options)


def test_a_whole_turn_is_done_by_clicking(
    one: Served, playing_bot: Bot, clean_driver: webdriver.Chrome, tmp_path: Path
) -> None:
    page = page_of(one, clean_driver)
    page.create_topic("Release")
    page.write("Build the release")
    page.sees("Working")
    page.press("Allow")
    page.sees("Allowed once")
    assert "You chose allow" in page.toast()
    page.press("Green")
    page.until(lambda: any("✅ Green" in key.text for key in page.all(".key")), "the choice is marked")
    page.press("Done")
    page.sees("report.md")
    page.sees("All done")
    page.write("Again, please")
    page.until(lambda: any("Deny" in key.text for key in page.all(".key")), "a second card")
    page.menu_of("make release")
    page.click_text(".menu [role=menuitem]", "Reply")
    page.write("Not on a Friday")
    page.sees("Denied: Not on a Friday")
    page.write("/stop")
    page.sees("Stopped")
    sent = tmp_path / "plan.txt"
    sent.write_text("the plan")
    page.script("document.getElementById('file-picker').hidden = false")
    page.all("#file-picker")[0].send_keys(str(sent))
    page.one(".chip")
    page.write("Here is the plan")
    page.sees("Got the file")
    assert playing_bot.pressed == ["allow", "green", "done"]
    assert page.errors() == []


def test_two_pages_stay_in_step(one: Served, bot: Bot, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Both"))
    first = page_of(one, clean_driver)
    first.open_topic("Both")
    clean_driver.switch_to.new_window("tab")
    resize(clean_driver, 1200, 800)
    second = page_of(one, clean_driver)
    second.open_topic("Both")
    first.write("seen by both")
    second.sees("seen by both")
    sent = one.run(bot.say(topic, "before the edit"))
    for page in (first, second):
        page.sees("before the edit")
    one.run(bot.change(sent, "after the edit"))
    for page in (first, second):
        page.sees("after the edit")
    second.create_topic("Made on the second")
    first.click("[aria-label='Back to topics']")
    first.until(lambda: any("Made on the second" in row.text for row in first.all(".topic")), "the new topic")


def test_a_topic_that_is_told_of_after_its_address_is_opened_all_the_same(
    one: Served, clean_driver: webdriver.Chrome
) -> None:
    page = Page(clean_driver, one.simulator.phone_url)
    first = one.do(lambda: one.human.create_topic("First"))
    page.until(lambda: any("First" in item.text for item in page.all(".topic")), "the first topic")
    page.script(f"location.hash = 'topic={first + 1}'")
    assert one.do(lambda: one.human.create_topic("Second")) == first + 1
    page.until(lambda: page.one(".chat h1").text == "Second", "the topic is open")


def test_the_page_comes_back_after_the_server_restarts(one: Served, bot: Bot, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Restart"))
    page = page_of(one, clean_driver)
    page.open_topic("Restart")
    one.run(one.simulator.stop())
    page.until(lambda: "Connecting" in page.one(".chat .under").text, "the page says it is offline")
    one.do(lambda: one.human.write("written while away", topic))
    one.run(one.simulator.start())
    page.sees("written while away")
    page.until(lambda: "in Agents" in page.one(".chat .under").text, "the page is online again")
    assert page.texts().count(page.texts()[-1]) == 1


def test_unread_marks_count_and_vanish_when_read(one: Served, bot: Bot, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Unread"))
    page = page_of(one, clean_driver)
    one.run(bot.say(topic, "silent"))
    one.run(bot.say(topic, "ringing", rings=True))
    page.until(lambda: page.one(".unread").text == "2", "two unread")
    page.open_topic("Unread")
    page.click("[aria-label='Back to topics']")
    page.until(lambda: not page.all(".unread"), "nothing unread")


def test_topics_are_renamed_closed_and_deleted(one: Served, clean_driver: webdriver.Chrome) -> None:
    page = page_of(one, clean_driver)
    page.create_topic("Old name")
    page.click("#topic-menu")
    page.click_text(".menu [role=menuitem]", "Rename")
    page.one(".dialog input").send_keys(Keys.CONTROL + "a" + Keys.NULL, "New name", Keys.ENTER)
    page.until(lambda: page.one(".chat h1").text == "New name", "the new name")
    page.click("#topic-menu")
    page.click_text(".menu [role=menuitem]", "Close topic")
    page.until(lambda: any(topic.is_closed for topic in one.human.topics()), "the topic is closed")
    page.click("#topic-menu")
    page.click_text(".menu [role=menuitem]", "Delete topic")
    page.click(".dialog .danger")
    page.until(lambda: one.human.topics() == [], "the topic is deleted")
    page.until(lambda: not any("New name" in row.text for row in page.all(".topic")), "the row is gone")


def test_a_press_shows_its_spinner_until_the_toast(
    one: Served, playing_bot: Bot, clean_driver: webdriver.Chrome
) -> None:
    topic = one.do(lambda: one.human.create_topic("Press"))
    one.run(playing_bot.say(topic, "Card", [[("Allow", "allow")]]))
    page = page_of(one, clean_driver)
    page.open_topic("Press")
    one.do(lambda: one.simulator.fail(Fault(FaultKind.HANG, "answerCallbackQuery", seconds=0.4)))
    page.press("Allow")
    page.one(".key.waiting")
    page.until(lambda: page.toast() == "You chose allow", "the toast")
    page.until(lambda: not page.all(".key.waiting"), "no spinner")


def test_a_stranger_is_told_no_and_may_go_back(one: Served, playing_bot: Bot, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Strangers"))
    one.run(playing_bot.say(topic, "Card", [[("Allow", "allow")]]))
    page = page_of(one, clean_driver)
    page.click("#me")
    page.click_text(".menu [role=menuitem]", "stranger")
    page.one(".stranger-bar")
    page.open_topic("Strangers")
    page.write("let me in")
    page.press("Allow")
    page.until(lambda: page.toast() == "This is not yours to decide", "the refusal")
    written = one.do(lambda: one.human.messages(topic))[-1]
    assert written.sender_id == Human.stranger(one.simulator).id
    page.click("[aria-label='Back to topics']")
    page.click(".stranger-bar button")
    page.until(lambda: page.one("#me .avatar").text != "S", "the owner again")


def test_text_is_shown_as_telegram_shows_it(one: Served, bot: Bot, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Styles"))
    long_quote = "\n".join(f"line {n}" for n in range(12))
    html = (
        "😀 <b>bold</b> <i>it</i> <code>x = 1</code> <a href='https://example.org/a'>link</a> "
        "<tg-spoiler>secret</tg-spoiler>\n"
        "<pre><code class='language-python'>if a &lt; b:\n    pass</code></pre>\n"
        f"<blockquote expandable>{long_quote}</blockquote>\nhttps://bare.example.org/x and /status &lt;img src=x&gt;"
    )
    one.run(bot.say(topic, html))
    page = page_of(one, clean_driver)
    page.open_topic("Styles")
    assert page.one(".text b").text == "bold"
    assert page.one(".pre-head").text == "python"
    assert page.script("return document.querySelector('.pre code').textContent") == "if a < b:\n    pass"
    links = [item.get_attribute("href") for item in page.all(".text a")]
    assert links == ["https://example.org/a", "https://bare.example.org/x"]
    assert page.all(".text img") == []
    quote = page.one("blockquote.expandable")
    folded = quote.size["height"]
    page.click(".quote-more")
    page.until(lambda: quote.size["height"] > folded * 2, "the quote is open")
    page.click(".inline-link")
    page.until(lambda: one.human.messages(topic)[-1].text == "/status", "the command is sent")


def test_pictures_albums_and_reactions_go_both_ways(
    one: Served, bot: Bot, clean_driver: webdriver.Chrome, tmp_path: Path
) -> None:
    topic = one.do(lambda: one.human.create_topic("Pictures"))
    one.run(bot.album(topic, [picture(300, 200), picture(300, 200)], "Two charts"))
    page = page_of(one, clean_driver)
    page.open_topic("Pictures")
    page.until(lambda: page.script("return document.querySelectorAll('.gallery img')[1].naturalWidth") == 300, "shown")
    assert len(page.all(".row[role=article]")) == 1
    page.click(".picture")
    page.one(".lightbox").click()
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in paths:
        path.write_bytes(picture(40, 40))
    page.script("document.getElementById('file-picker').hidden = false")
    page.all("#file-picker")[0].send_keys("\n".join(str(path) for path in paths))
    page.write("mine")
    page.until(lambda: len(one.human.messages(topic)) == 5, "both arrived")
    first, second = one.human.messages(topic)[-2:]
    assert first.album == second.album != ""
    assert (first.text, first.file.kind if first.file else "") == ("mine", "photo")
    page.menu_of("Two charts")
    page.click(".menu-reactions button")
    page.until(lambda: any("👍" in message.reactions for message in one.human.messages(topic)), "the reaction")
    page.one(".reactions .mine")


def test_the_drawer_shows_calls_and_the_budget(one: Served, bot: Bot, clean_driver: webdriver.Chrome) -> None:
    page = page_of(one, clean_driver)
    topic = one.do(lambda: one.human.create_topic("Drawer"))
    one.run(bot.say(topic, "counted"))
    page.open_topic("Drawer")
    page.click("#open-drawer")
    page.until(lambda: "sendMessage" in page.one(".calls li").text, "the call")
    page.until(lambda: page.one(".figure").text.startswith("1 of"), "the budget")
    assert "counted" in page.one(".calls li").text


@pytest.mark.parametrize("width", [390, 800, 1200])
def test_the_drawer_leaves_the_rest_of_a_wide_page_in_view(
    one: Served, bot: Bot, clean_driver: webdriver.Chrome, width: int
) -> None:
    topic = one.do(lambda: one.human.create_topic("Drawer"))
    one.run(bot.say(topic, "a call with a long text " * 20))
    resize(clean_driver, width, 800)
    page = page_of(one, clean_driver)
    page.open_topic("Drawer")
    page.click("#open-drawer")
    page.until(lambda: "sendMessage" in page.one(".calls li").text, "the call")
    assert page.one("#drawer").size["width"] <= (390 if width == 390 else 380)
    if width == 1200:
        chat, drawer = page.one("#chat").rect, page.one("#drawer").rect
        assert chat["width"] >= 500
        assert chat["x"] + chat["width"] <= drawer["x"]
    ActionChains(clean_driver).send_keys(Keys.ESCAPE).perform()
    page.until(lambda: focus_is_on(page, "#open-drawer"), "the focus is back")


def test_a_message_that_is_taken_back_is_not_counted_as_unread(
    one: Served, bot: Bot, clean_driver: webdriver.Chrome
) -> None:
    topic = one.do(lambda: one.human.create_topic("Taken back"))
    page = page_of(one, clean_driver)
    one.run(bot.say(topic, "it stays"))
    sent = one.run(bot.say(topic, "it goes"))
    page.until(lambda: page.one(".unread").text == "2", "two unread")
    one.run(bot.call("deleteMessage", chat_id=bot.chat, message_id=sent))
    page.until(lambda: page.one(".unread").text == "1", "one unread")
    assert "it stays" in page.one(f"[data-topic='{topic}']").text


def test_what_is_written_goes_to_the_topic_on_screen_while_another_is_loading(
    one: Served, clean_driver: webdriver.Chrome
) -> None:
    first = one.do(lambda: one.human.create_topic("First"))
    second = one.do(lambda: one.human.create_topic("Second"))
    resize(clean_driver, 1200, 800)
    page = page_of(one, clean_driver)
    page.open_topic("First")
    page.one(".composer textarea").send_keys("meant for the first")
    page.script(
        "const real = window.fetch;"
        "window.fetch = (path, ...rest) => String(path).startsWith('messages')"
        " ? new Promise((go) => { window.release = go; }).then(() => real(path, ...rest)) : real(path, ...rest);"
    )
    page.click(f"[data-topic='{second}']")
    page.until(lambda: page.script("return Boolean(window.release)"), "the second is being loaded")
    page.one(".composer textarea").send_keys(Keys.ENTER)
    page.until(lambda: one.human.messages(first)[-1].text == "meant for the first", "it is in the first")
    page.script("window.release()")
    page.until(lambda: page.one(".chat h1").text == "Second", "the second is open")
    assert page.one(".composer textarea").get_attribute("value") == ""


def test_what_could_not_be_sent_is_kept_and_the_reason_is_said(one: Served, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Away"))
    page = page_of(one, clean_driver)
    page.open_topic("Away")
    one.run(one.simulator.stop())
    page.write("do not lose me")
    page.until(lambda: "does not answer" in page.toast(), "the reason")
    field = page.one(".composer textarea")
    page.until(lambda: field.get_attribute("value") == "do not lose me", "the text is back")
    one.run(one.simulator.start())
    page.until(lambda: "in Agents" in page.one(".chat .under").text, "the page is online again")
    field.send_keys(Keys.ENTER)
    page.until(lambda: one.human.messages(topic)[-1].text == "do not lose me", "it is sent")


def test_a_reply_leads_to_its_message_while_older_ones_are_loading(one: Served, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Long way"))

    def fill() -> None:
        first = one.human.write("the very first", topic)
        for number in range(700):
            one.human.write(f"message {number}", topic)
        one.human.reply(first, "an answer to the first")

    one.do(fill)
    page = page_of(one, clean_driver)
    page.open_topic("Long way")
    page.sees("an answer to the first")
    page.script(
        "const box = document.querySelector('.scroller'); const reply = document.querySelector('.reply-head');"
        "for (let n = 0; n < 4; n += 1) { box.scrollTop = 0; box.dispatchEvent(new Event('scroll')); }"
        "reply.click();"
    )
    page.until(lambda: page.all(".flash") and "the very first" in page.one(".flash").text, "the first is shown")


def test_the_focus_stays_on_its_button_when_the_card_is_drawn_anew(
    one: Served, bot: Bot, clean_driver: webdriver.Chrome
) -> None:
    topic = one.do(lambda: one.human.create_topic("Focus"))
    sent = one.run(bot.say(topic, "Card", [[("Red", "r"), ("Green", "g")], [("Done", "d")]]))
    page = page_of(one, clean_driver)
    page.open_topic("Focus")
    page.script("document.querySelectorAll('.key')[1].focus()")
    one.run(bot.change(sent, "Card", [[("Red", "r"), ("✅ Green", "g")], [("Done", "d")]]))
    page.until(lambda: any("✅ Green" in key.text for key in page.all(".key")), "the card is drawn anew")
    assert page.script("return document.activeElement.textContent") == "✅ Green"
    one.run(bot.change(sent, "Card", [[("Stop", "s")]]))
    page.until(lambda: any("Stop" in key.text for key in page.all(".key")), "the card has other buttons")
    assert page.script("return document.activeElement.className.includes('row')")


def test_typing_is_shown_and_ends(one: Served, bot: Bot, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Typing"))
    page = page_of(one, clean_driver)
    page.open_topic("Typing")
    one.run(bot.typing(topic))
    page.until(lambda: "Agent Hub is typing" in page.one(".chat .under").text, "typing")
    one.run(bot.say(topic, "done typing"))
    page.until(lambda: "in Agents" in page.one(".chat .under").text, "typing ended")


def test_commands_are_offered_and_sent_by_keyboard(one: Served, bot: Bot, clean_driver: webdriver.Chrome) -> None:
    commands = [{"command": "status", "description": "What runs"}, {"command": "stop", "description": "Stop the turn"}]
    one.run(bot.call("setMyCommands", commands=commands))
    topic = one.do(lambda: one.human.create_topic("Commands"))
    page = page_of(one, clean_driver)
    page.open_topic("Commands")
    field = page.one(".composer textarea")
    field.send_keys("/st")
    page.until(lambda: len(page.all(".command-list button")) == 2, "two commands")
    field.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    page.until(lambda: one.human.messages(topic)[-1].text == "/stop", "the command is sent")


def test_everything_can_be_reached_by_keyboard(one: Served, playing_bot: Bot, clean_driver: webdriver.Chrome) -> None:
    one.do(lambda: one.human.create_topic("Keys"))
    page = page_of(one, clean_driver)
    page.one(".topic")

    def keys(*pressed: str) -> None:
        ActionChains(clean_driver).send_keys(*pressed).perform()

    page.until(lambda: focused(page, keys, "#new-topic"), "Tab comes to the new topic button")
    keys(Keys.ENTER)
    page.one(".dialog input")
    keys("By keyboard", Keys.ENTER)
    page.until(lambda: page.one(".chat h1").text == "By keyboard", "the topic is open")
    page.until(lambda: focused(page, keys, ".composer textarea"), "Tab comes to the text field")
    keys("a task", Keys.ENTER)
    page.until(lambda: any("Allow" in key.text for key in page.all(".key")), "the card")
    page.until(lambda: focused(page, keys, ".key", back=True), "Tab comes to the buttons")
    keys(Keys.ENTER)
    page.until(lambda: playing_bot.pressed != [], "the press arrives")


def focus_is_on(page: Page, selector: str) -> bool:
    return bool(page.script("return document.activeElement.matches(arguments[0])", selector))


def focused(page: Page, keys: object, selector: str, *, back: bool = False) -> bool:
    """Press Tab once unless the focus is there already."""
    if focus_is_on(page, selector):
        return True
    keys(*((Keys.SHIFT, Keys.TAB) if back else (Keys.TAB,)))  # type: ignore[operator]
    if back:
        keys(Keys.NULL)  # type: ignore[operator]
    return False


def test_of_five_thousand_messages_only_a_window_is_in_the_page(
    one: Served, bot: Bot, clean_driver: webdriver.Chrome
) -> None:
    topic = one.do(lambda: one.human.create_topic("Long"))

    def fill() -> None:
        for number in range(5000):
            one.human.write(f"message {number} with some words to fill a line or two of a narrow screen", topic)

    one.do(fill)
    page = page_of(one, clean_driver)
    page.open_topic("Long")
    page.sees("message 4999")
    assert len(page.all(".row")) <= 130
    one.run(bot.say(topic, "the newest"))
    page.sees("the newest")
    for _ in range(12):
        page.script("document.querySelector('.scroller').scrollTop = 0; return new Promise((d) => setTimeout(d, 60))")
    page.until(lambda: all("message 4999" not in text for text in page.texts()), "the window has moved on")
    assert len(page.all(".row")) <= 130
    page.click(".to-end")
    page.sees("the newest")


def test_what_is_on_screen_does_not_jump_when_older_messages_come(one: Served, clean_driver: webdriver.Chrome) -> None:
    topic = one.do(lambda: one.human.create_topic("Still"))
    one.do(lambda: [one.human.write(f"message {number} " + "word " * (number % 40), topic) for number in range(600)])
    page = page_of(one, clean_driver)
    page.open_topic("Still")
    page.sees("message 599")
    moved = page.script(
        """
        const box = document.querySelector('.scroller');
        const top = () => {
          const edge = box.getBoundingClientRect().top;
          const row = [...box.querySelectorAll('.row')].find((one) => one.getBoundingClientRect().bottom > edge);
          return [row.dataset.id, row.getBoundingClientRect().top - edge];
        };
        box.scrollTop = 300;
        const before = top();
        return new Promise((done) => setTimeout(() => {
          const edge = box.getBoundingClientRect().top;
          const row = box.querySelector(`[data-id="${before[0]}"]`);
          done(Math.abs(row.getBoundingClientRect().top - edge - before[1]));
        }, 400));
        """
    )
    assert isinstance(moved, float | int)
    assert moved < 2


def test_the_agent_is_chosen_at_the_start(one: Served, clean_driver: webdriver.Chrome) -> None:
    chosen: list[str] = []

    async def choose(name: str) -> None:
        chosen.append(name)

    choices = [AgentChoice("demo", "Demo agent", "no account needed"), AgentChoice("claude", "Claude Code", "2.1.332")]
    one.do(lambda: one.simulator.phone.stage.offer(choices, choose))
    page = page_of(one, clean_driver)
    page.click("[data-agent=claude]")
    page.until(lambda: not page.all(".chooser"), "the choice is made")
    assert chosen == ["claude"]


def test_the_tour_has_six_steps_and_stays_away_when_dismissed(one: Served, clean_driver: webdriver.Chrome) -> None:
    page = page_of(one, clean_driver, tour="yes")
    titles = []
    for _ in range(6):
        titles.append(page.one(".tour h2").text)
        page.click("#tour-next")
    assert len(set(titles)) == 6
    assert not page.all(".tour")[0].is_displayed()
    again = page_of(one, clean_driver, tour="")
    assert not again.all(".tour")[0].is_displayed()


def test_an_empty_topic_says_what_to_do(one: Served, clean_driver: webdriver.Chrome) -> None:
    page = page_of(one, clean_driver)
    page.create_topic("Empty")
    assert "Write a task" in page.one(".hint").text
    page.write("a task")
    page.until(lambda: not page.all(".hint")[0].is_displayed(), "the hint is gone")


def test_the_page_speaks_russian(one: Served, clean_driver: webdriver.Chrome) -> None:
    page = page_of(one, clean_driver, lang="ru")
    assert page.one("#new-topic").get_attribute("aria-label") == "Новая тема"


def test_nothing_is_fetched_from_anywhere_else(one: Served, clean_driver: webdriver.Chrome) -> None:
    page = page_of(one, clean_driver)
    page.create_topic("Offline")
    fetched = page.script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert isinstance(fetched, list)
    assert [name for name in fetched if not str(name).startswith(one.simulator.address)] == []
