"""What must not stop the hub, reach an agent by accident, or pass without a word."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bridge.inbound import Person, Place, UnknownUpdate
from bridge.router import Refusal
from bridge.store import StoreBusyError
from tests.bridge.topics.stage import CHAT, GENERAL, STRANGER, TOPIC, journalled, stage

ANONYMOUS = Person(1087968824, "Group", is_bot=True, is_anonymous=True)


@pytest.mark.asyncio
async def test_an_unknown_command_names_the_nearest_ones_and_never_reaches_the_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/statsu")
        assert "/status" in hub.last()
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_a_command_for_another_bot_is_ignored_without_a_word(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/stop@other_bot")
        assert hub.texts() == []
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_a_command_with_our_own_name_works(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/stop@our_bot")
        assert "Nothing is running" in hub.last()


@pytest.mark.asyncio
async def test_two_slashes_send_the_text_with_one_to_the_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("//stop is a word here")
        assert hub.session.prompts[0].text == "/stop is a word here"
        assert not hub.session.prompts[0].is_command


@pytest.mark.asyncio
async def test_a_path_is_text_and_no_command(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/etc/hosts is broken")
        assert hub.session.prompts[0].text == "/etc/hosts is broken"


@pytest.mark.asyncio
async def test_text_in_general_is_answered_helpfully_and_reaches_no_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("hello", place=GENERAL)
        assert "/new" in hub.last(GENERAL)
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_a_stranger_is_dropped_with_one_log_line_that_names_reason_and_ids(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(tmp_path) as hub:
        with caplog.at_level(logging.INFO, logger="bridge.router"):
            await hub.say("let me in", person=STRANGER)
        (line,) = [record.getMessage() for record in caplog.records if record.name == "bridge.router"]
        assert "user is not on the list" in line
        assert "999" in line
        assert str(CHAT) in line
        assert "let me in" not in line
        assert hub.texts() == []
        assert hub.hub.status().recent_refusals[-1].reason is Refusal.FOREIGN_USER


@pytest.mark.asyncio
async def test_a_message_from_a_chat_that_is_not_on_the_list_is_dropped(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("hello", place=Place(-1002, 7))
        assert hub.claude.sessions == []
        assert hub.hub.gate.counts[Refusal.FOREIGN_CHAT] == 1


@pytest.mark.asyncio
async def test_an_anonymous_administrator_is_refused_with_an_explanation_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("do it", person=ANONYMOUS)
        await hub.say("do it!", person=ANONYMOUS)
        (explanation,) = hub.texts()
        assert "anonymous" in explanation
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_another_bots_message_is_ignored(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("beep", person=Person(77, "bot", is_bot=True))
        assert hub.texts() == []
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_a_strangers_press_gets_a_toast_and_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("and then this")
        toast = await hub.press("Drop", person=STRANGER)
        assert "not on" in toast
        assert len(hub.hub.topics()[0].line.open) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "data",
    ["", "x", "queue", "queue:0", "queue:0:nothing", "queue:99:id1", "a:b:c:d:e", "ask:allow:gone", "\udcff", "::"],
)
async def test_garbled_button_data_gets_a_toast(tmp_path: Path, data: str) -> None:
    async with stage(tmp_path) as hub:
        assert await hub.press_data(data)
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_an_empty_message_is_said_to_be_empty(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say(" \u200b \n")
        assert "empty" in hub.last()
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_a_sticker_gets_a_clear_word(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("", other="sticker")
        assert "sticker" in hub.last()
        assert len(hub.texts()) == 1
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_ten_thousand_letters_cut_by_the_client_are_one_prompt(tmp_path: Path) -> None:
    text = "".join(chr(ord("a") + number % 26) for number in range(10_000))
    async with stage(tmp_path) as hub:
        for start in range(0, 10_000, 4096):
            await hub.say(text[start : start + 4096])
        assert [prompt.text for prompt in hub.session.prompts] == [text]


@pytest.mark.asyncio
async def test_a_folder_outside_the_roots_is_refused(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say(f"/cwd {tmp_path}")
        assert "outside the allowed folders" in hub.last()


@pytest.mark.asyncio
async def test_a_folder_that_is_gone_is_said_and_the_text_is_kept(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "project").mkdir()
        await hub.say("/cwd project")
        (hub.root / "project").rmdir()
        await hub.say("do it")
        assert "no folder" in hub.last()
        (hub.root / "project").mkdir()
        await hub.press("Try again")
        assert [prompt.text for prompt in hub.session.prompts] == ["do it"]


@pytest.mark.asyncio
async def test_a_folder_that_a_link_leads_out_of_the_roots_is_refused_at_the_start_too(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "project").mkdir()
        await hub.say("/cwd project")
        (hub.root / "project").rmdir()
        (hub.root / "project").symlink_to(tmp_path)
        await hub.say("do it")
        assert "outside the allowed folders" in hub.last()
        assert hub.claude.sessions == []


@pytest.mark.asyncio
async def test_an_update_of_an_unknown_kind_is_dropped(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.hub.handle(UnknownUpdate(1, "new_thing"))
        assert hub.hub.gate.counts[Refusal.UNKNOWN] == 1


@pytest.mark.asyncio
async def test_a_failure_inside_is_said_and_the_topic_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(tmp_path) as hub:
        with monkeypatch.context() as broken:
            broken.setattr("bridge.topics.actor.said", lambda *_args, **_more: 1 / 0)
            await hub.say("first")
        assert "wrong inside the hub" in hub.last()
        assert "ZeroDivisionError" in caplog.text
        await hub.say("second")
        assert hub.session.prompts[0].text == "second"


@pytest.mark.asyncio
async def test_a_message_that_the_hub_stumbles_over_is_answered_and_not_swallowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as hub:
        with monkeypatch.context() as broken:
            broken.setattr("bridge.hub.parse_command", lambda _text: 1 / 0)
            message = hub.message("first")
            await journalled(hub, message)
            await hub.hub.handle(message)
        assert "wrong inside the hub" in hub.last()
        assert hub.hub.context.journal.unfinished() == []


@pytest.mark.asyncio
async def test_a_text_that_comes_while_the_database_is_held_by_another_program_is_run_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as hub:
        message = hub.message("first")
        await journalled(hub, message)

        def busy(*_args: object, **_more: object) -> None:
            raise StoreBusyError("Another program is using the hub's database.")

        with monkeypatch.context() as held:
            held.setattr(hub.hub.context.bindings, "make", busy)
            await hub.hub.handle(message)
            await hub.pass_time(3)
        assert hub.hub.context.journal.unfinished() != []
        await hub.pass_time(15)
        assert [prompt.text for prompt in hub.session.prompts] == ["first"]


@pytest.mark.asyncio
async def test_every_refused_update_is_finished_in_the_journal(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        message = hub.message("hello", person=STRANGER)
        await journalled(hub, message)
        await hub.hub.handle(message)
        assert hub.hub.context.journal.unfinished() == []


@pytest.mark.asyncio
async def test_general_commands_are_refused_in_a_topic_with_a_word(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/stopall")
        assert "General" in hub.last(TOPIC)


@pytest.mark.asyncio
@pytest.mark.parametrize("place", [TOPIC, GENERAL], ids=["topic", "General"])
async def test_a_message_changed_into_a_command_is_said_not_to_be_one(tmp_path: Path, place: Place) -> None:
    async with stage(tmp_path) as hub:
        typed = await hub.say("/stp", place=place)
        await hub.say("/status", place=place, edits=typed.message_id)
        assert "not taken as a command" in hub.last(place)


@pytest.mark.asyncio
async def test_a_command_that_is_corrected_in_its_words_says_nothing_more_than_that(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        typed = await hub.say("/status")
        before = len(hub.texts())
        await hub.say("thanks", edits=typed.message_id)
        assert len(hub.texts()) == before


@pytest.mark.asyncio
@pytest.mark.parametrize("text", ["\u200e\u200f", "\u2800\u3164", "\u2063", "\u202e", "\ufe0f", "\U000e0020"])
async def test_a_message_of_nothing_that_can_be_seen_is_said_to_be_empty(tmp_path: Path, text: str) -> None:
    async with stage(tmp_path) as hub:
        await hub.say(text)
        assert "empty" in hub.last()
        assert hub.claude.sessions == []
