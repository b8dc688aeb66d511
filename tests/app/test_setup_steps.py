"""The set-up, step by step, against a simulated Telegram."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agents.contract import AgentHealth, HubError
from app import secrets
from app.paths import Folders
from app.setup_steps import SetUp, progress
from bridge.simulator.human import Human
from bridge.simulator.simulator import Simulator
from tests.app.conftest import write_settings

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def set_up(simulator: Simulator, place: Folders) -> AsyncIterator[SetUp]:
    write_settings(place, simulator)
    async with SetUp(place) as made:
        yield made


async def test_a_good_token_names_the_bot(set_up: SetUp, simulator: Simulator) -> None:
    account = await set_up.connect(simulator.token + "\n")
    assert account.username == simulator.world.bot.username


async def test_a_wrong_token_says_where_to_get_the_right_one(set_up: SetUp) -> None:
    with pytest.raises(secrets.SecretError) as caught:
        await set_up.connect("7000000002:" + "B" * 35)
    assert "BotFather" in caught.value.hint


async def test_no_network_is_told_apart_from_a_wrong_token(set_up: SetUp, simulator: Simulator) -> None:
    await simulator.stop()
    with pytest.raises(HubError) as caught:
        await set_up.connect(simulator.token)
    assert not isinstance(caught.value, secrets.SecretError)
    await simulator.start()


async def test_group_and_person_come_from_a_live_message(set_up: SetUp, simulator: Simulator) -> None:
    await set_up.connect(simulator.token)
    human = Human(simulator)
    human.write("hello bot")
    seen = await asyncio.wait_for(set_up.next_sighting(), 5)
    assert (seen.chat_id, seen.person.id) == (human.chat_id, human.id)


async def test_an_anonymous_administrator_is_no_person_to_allow(set_up: SetUp, simulator: Simulator) -> None:
    await set_up.connect(simulator.token)
    Human.anonymous(simulator).write("hello from behind the group")
    Human(simulator).write("hello from me")
    seen = await asyncio.wait_for(set_up.next_sighting(), 5)
    assert seen.person.id == Human(simulator).id


async def test_a_fit_group_passes_every_check(set_up: SetUp, simulator: Simulator) -> None:
    await set_up.connect(simulator.token)
    _facts, checks = await set_up.check_group(simulator.group.id)
    assert [check.name for check in checks if not check.is_fine] == []


async def test_the_right_to_manage_topics_is_named_when_it_is_missing(set_up: SetUp, simulator: Simulator) -> None:
    await set_up.connect(simulator.token)
    simulator.world.change_rights(simulator.group, can_manage_topics=False)
    _facts, checks = await set_up.check_group(simulator.group.id)
    missing = [check for check in checks if not check.is_fine]
    assert ["topics" in check.name for check in missing] == [True]
    assert "Manage topics" in missing[0].hint


async def test_a_group_without_topics_is_told_to_switch_them_on(set_up: SetUp, simulator: Simulator) -> None:
    await set_up.connect(simulator.token)
    simulator.group.is_forum = False
    _facts, checks = await set_up.check_group(simulator.group.id)
    assert any("Topics" in check.name and not check.is_fine for check in checks)


async def test_what_was_chosen_is_in_the_settings(set_up: SetUp, place: Folders, tmp_path: Path) -> None:
    set_up.keep_group(-1005)
    set_up.keep_person(77)
    set_up.keep_roots([tmp_path])
    set_up.keep_language("ru")
    current = set_up.current()
    assert current.telegram.chats == (-1005,)
    assert set(current.telegram.users) == {77}
    assert current.workspace.roots == (tmp_path,)
    assert current.hub.language == "ru"


async def test_a_folder_that_is_none_is_refused(set_up: SetUp, tmp_path: Path) -> None:
    with pytest.raises(HubError):
        set_up.keep_roots([tmp_path / "nowhere"])
    assert set_up.current().workspace.roots == ()


async def test_the_set_up_goes_on_where_it_was_left(
    set_up: SetUp, place: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulator: Simulator
) -> None:
    monkeypatch.setenv(secrets.TOKEN_VARIABLE, simulator.token)
    set_up.keep_group(-1005)
    now = progress(set_up.current())
    assert (now.has_group, now.has_people, now.is_complete) == (True, False, False)


async def test_the_test_topic_waits_for_its_button(set_up: SetUp, simulator: Simulator) -> None:
    await set_up.connect(simulator.token)
    human = Human(simulator)
    steps: list[str] = []
    waiting = asyncio.create_task(set_up.test_topic(simulator.group.id, steps.append))
    card = await human.wait_button("It works")
    toast = await human.press(card, "It works")
    person = await asyncio.wait_for(waiting, 5)
    assert person.id == human.id
    assert toast == "All set"
    assert steps


async def test_a_new_topic_gets_an_agent_that_is_there(set_up: SetUp) -> None:
    found = [
        AgentHealth("claude", "Claude Code", problem="Claude Code is not on this computer."),
        AgentHealth("codex", "Codex", is_usable=True),
        AgentHealth("demo", "Demo", is_usable=True),
    ]
    assert set_up.choose_agent(found[:1]) == ""
    assert set_up.choose_agent(found) == "codex"
    assert set_up.current().agents.default == "codex"
    set_up.keep_default_agent("demo")
    assert set_up.choose_agent(found) == "demo", "what the person chose stays"
