"""Texts that wait in a topic, over the lives of the hub: one card each, whose buttons go on working."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bridge.inbound import FileKind, IncomingFile, IncomingMessage
from bridge.recovery import Pending
from bridge.store import UpdateState
from tests.bridge.pending.stage import Shown
from tests.bridge.topics.stage import Stage, journalled, stage


async def two_waiting_behind_a_turn(hub: Stage) -> tuple[IncomingMessage, IncomingMessage]:
    """A life that ends while a turn runs and two texts wait for its end."""
    await hub.say("/agent codex")
    await hub.say("do it")
    waiting = []
    for text in ("and this", "and that"):
        message = hub.message(text)
        await journalled(hub, message)
        await hub.hub.handle(message)
        await hub.pass_time(30)
        waiting.append(message)
    await hub.end()
    return waiting[0], waiting[1]


def waiting_cards(hub: Stage) -> list[Shown]:
    return [shown for shown in hub.delivery.shown.values() if "Waits until this turn is done" in shown.looks[0]]


@pytest.mark.asyncio
async def test_a_text_that_waits_on_after_a_restart_keeps_its_card(tmp_path: Path) -> None:
    async with stage(tmp_path, runs_backlog=True) as hub:
        first, second = await two_waiting_behind_a_turn(hub)
        await hub.begin((Pending(first, UpdateState.RECEIVED), Pending(second, UpdateState.RECEIVED)))
        session = hub.codex.sessions[-1]
        assert [prompt.text for prompt in session.prompts] == ["and this"]
        assert [shown.looks[1:] for shown in waiting_cards(hub)] == [["▶ Started."], []]
        session.answer()
        await hub.settle()
        assert [prompt.text for prompt in session.prompts] == ["and this", "and that"]
        assert [shown.looks[1:] for shown in waiting_cards(hub)] == [["▶ Started."], ["▶ Started."]]


@pytest.mark.asyncio
async def test_the_buttons_of_a_waiting_text_work_after_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path, runs_backlog=True) as hub:
        first, second = await two_waiting_behind_a_turn(hub)
        await hub.begin((Pending(first, UpdateState.RECEIVED), Pending(second, UpdateState.RECEIVED)))
        await hub.press("Drop", shown=waiting_cards(hub)[1])
        hub.codex.sessions[-1].answer()
        await hub.settle()
        assert [prompt.text for session in hub.codex.sessions for prompt in session.prompts] == ["do it", "and this"]
        assert waiting_cards(hub)[1].part.text == "🗑 Dropped. The agent did not get it."


@pytest.mark.asyncio
@pytest.mark.parametrize("age", [0, 7200])
async def test_an_edit_of_a_waiting_text_counts_after_a_restart_too(tmp_path: Path, age: int) -> None:
    async with stage(tmp_path, runs_backlog=True) as hub:
        await hub.say("/agent codex")
        await hub.say("do it")
        waiting = hub.message("delete all")
        edit = hub.message("delete nothing", edits=waiting.message_id)
        await journalled(hub, waiting, edit)
        for update in (waiting, edit):
            await hub.hub.handle(update)
            await hub.settle()
        journal = hub.hub.context.journal
        await hub.end()
        hub.clock.move(age)
        left = [entry.update_id for entry in journal.unfinished()]
        assert left == [waiting.update_id, edit.update_id]
        await hub.begin(tuple(Pending(update, UpdateState.RECEIVED) for update in (waiting, edit)))
        session = hub.codex.sessions[-1]
        assert [prompt.text for prompt in session.prompts] == ["delete nothing"]
        session.answer()
        await hub.settle()
        assert journal.unfinished() == []


@pytest.mark.asyncio
async def test_an_edit_of_a_text_that_was_given_but_not_taken_before_a_crash_counts(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        waiting = hub.message("delete all")
        edit = hub.message("delete nothing", edits=waiting.message_id)
        await journalled(hub, waiting, edit)
        await hub.begin(tuple(Pending(update, UpdateState.HANDED) for update in (waiting, edit)))
        assert "delete nothing" in hub.last()
        await hub.press("Run")
        assert [prompt.text for prompt in hub.session.prompts] == ["delete nothing"]


@pytest.mark.asyncio
async def test_an_edit_within_the_second_in_which_pieces_are_joined_leaves_no_update_open(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        long = hub.message("x" * 4000)
        edit = hub.message("y" * 4000, edits=long.message_id)
        await journalled(hub, long, edit)
        for update in (long, edit):
            await hub.hub.handle(update)
        await hub.pass_time(2)
        assert [prompt.text for prompt in hub.session.prompts] == ["y" * 4000]
        hub.session.answer()
        await hub.settle()
        assert hub.hub.context.journal.unfinished() == []


@pytest.mark.asyncio
async def test_stop_also_holds_a_text_whose_files_are_still_on_their_way(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        gate = asyncio.Event()
        fetch = hub.messenger.download

        async def slow(file_id: str, to: Path) -> None:
            await gate.wait()
            await fetch(file_id, to)

        hub.messenger.download = slow  # type: ignore[method-assign]
        hub.messenger.files["F1"] = b"one"
        await hub.say("look", files=(IncomingFile(FileKind.PHOTO, "F1", size=3),))
        await hub.say("/stop")
        assert "held" in hub.last()
        gate.set()
        await hub.until(lambda: "look" in hub.last())
        assert hub.claude.sessions == []
        await hub.press("Run")
        assert hub.session.prompts[0].text == "look"


@pytest.mark.asyncio
async def test_a_waiting_text_that_is_offered_after_a_restart_says_so_on_its_card(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        first, second = await two_waiting_behind_a_turn(hub)
        hub.clock.move(7200)
        await hub.begin((Pending(first, UpdateState.RECEIVED), Pending(second, UpdateState.RECEIVED)))
        assert [shown.part.text for shown in waiting_cards(hub)] == ["⏸ Held. See the message below."] * 2
        assert [shown.keyboard for shown in waiting_cards(hub)] == [(), ()]
