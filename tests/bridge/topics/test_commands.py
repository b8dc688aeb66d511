"""What each command of a topic answers and does."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from agents.contract import (
    AgentChoice,
    SessionId,
    SessionStarted,
    ToolFinished,
    ToolId,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnFinished,
    TurnOutcome,
    Usage,
)
from bridge.commands.table import CommandSpec
from bridge.inbound import Place
from tests.bridge.topics.stage import CHAT, GENERAL, OLEG, OTHER, TOPIC, Stage, stage

MODELS = (AgentChoice("opus", "Opus 5", "For hard things"), AgentChoice("haiku", "Haiku 5"))
MODES = (AgentChoice("default", "Ask"), AgentChoice("plan", "Plan"))


def offering(hub: Stage) -> SessionStarted:
    return SessionStarted(SessionId("s1"), hub.root, "2.1", "opus", "default", models=MODELS, modes=MODES)


def count(hub: Stage) -> int:
    return sum(len(hub.texts(place)) for place in (TOPIC, GENERAL, Place(CHAT, 701)))


def has_more(hub: Stage, before: int) -> bool:
    return count(hub) > before


@pytest.mark.asyncio
async def test_every_command_of_help_answers_something(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = offering(hub)
        for name in hub.hub.commands.names():
            for place in (TOPIC, GENERAL):
                before = count(hub)
                await hub.say(f"/{name}", place=place)
                await hub.until(partial(has_more, hub, before))


@pytest.mark.asyncio
async def test_help_lists_every_command_of_a_topic(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/help")
        assert all(f"/{name}" in hub.last() for name in ("new", "stop", "status", "model", "queue", "log"))


@pytest.mark.asyncio
async def test_the_command_menu_of_the_chat_is_set_at_the_start(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        assert {"new", "stop", "status", "help"} <= set(hub.messenger.menus[CHAT])


@pytest.mark.asyncio
async def test_new_starts_afresh_with_another_agent_in_another_folder(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "shop").mkdir()
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        await hub.say("/new codex shop")
        assert session.is_closed
        await hub.say("do it")
        spec = hub.codex.sessions[0].spec
        assert (spec.cwd, spec.resume) == (hub.root / "shop", None)


@pytest.mark.asyncio
async def test_new_during_a_turn_is_refused_and_the_turn_runs_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        await hub.say("/new")
        assert "turn is running" in hub.last()
        assert session.calls == []


@pytest.mark.asyncio
async def test_new_in_general_makes_a_topic_and_its_card(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/new codex", place=GENERAL)
        place = Place(CHAT, 701)
        assert hub.messenger.topics == ["work · Codex"]
        assert "Codex" in hub.last(place)
        await hub.say("do it", place=place)
        assert hub.codex.sessions[0].prompts[0].text == "do it"


@pytest.mark.asyncio
async def test_reset_forgets_the_session_but_not_the_folder(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        await hub.say("/reset")
        await hub.say("again")
        assert hub.session.spec.resume is None
        assert hub.session.spec.cwd == hub.root


@pytest.mark.asyncio
async def test_model_shows_what_the_agent_offers_and_a_press_sets_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = offering(hub)
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        await hub.say("/model")
        assert "For hard things" in hub.last()
        await hub.press("Haiku 5")
        assert "model haiku" in session.calls
        await hub.pass_time(901, step=300)
        await hub.say("go on")
        assert hub.session.spec.model == "haiku"


@pytest.mark.asyncio
async def test_mode_before_the_first_turn_asks_the_agent_what_it_offers(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = offering(hub)
        await hub.say("/mode")
        assert [label for label in hub.buttons() if "Plan" in label]
        assert hub.session.prompts == []


@pytest.mark.asyncio
async def test_what_runs_unasked_is_said_of_the_mode_in_which_it_does(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = offering(hub)
        hub.claude.default_mode, hub.claude.runs_unasked = "default", "reading in the folder"
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        for command in ("/mode", "/status"):
            await hub.say(command)
            assert "Runs without asking: reading in the folder" in hub.last()
        await hub.say("/mode Plan")
        assert "mode plan" in session.calls
        for command in ("/mode", "/status"):
            await hub.say(command)
            assert "Runs without asking in the mode “Ask”: reading in the folder" in hub.last()


@pytest.mark.asyncio
async def test_a_mode_that_is_not_offered_is_refused_with_the_offered_ones(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = offering(hub)
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        await hub.say("/mode yolo")
        assert "plan" in hub.last()
        assert not any(call.startswith("mode") for call in session.calls)


@pytest.mark.asyncio
async def test_cwd_shows_the_roots_as_buttons(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "shop").mkdir()
        await hub.say("/cwd shop")
        await hub.say("/cwd")
        await hub.press(hub.root.name[-20:], shown=list(hub.delivery.shown.values())[-1])
        await hub.say("do it")
        await hub.until(lambda: bool(hub.claude.sessions))
        assert hub.session.spec.cwd in (hub.root, hub.root / "shop")


@pytest.mark.asyncio
async def test_an_unknown_agent_is_named_with_the_known_ones(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/agent claud")
        assert "claude" in hub.last()


@pytest.mark.asyncio
async def test_an_agent_that_is_not_installed_is_named_and_no_button(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.codex.is_installed = False
        await hub.say("/agent")
        assert "Not on this computer: Codex. How to get one: /agent codex" in hub.last()
        assert hub.buttons() == ["• Claude"]


@pytest.mark.asyncio
@pytest.mark.parametrize("command", ["/agent codex", "/new codex"])
async def test_an_agent_that_is_not_installed_takes_no_session_away(tmp_path: Path, command: str) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        hub.codex.is_installed = False
        await hub.say(command)
        assert "Install it: codex" in hub.last()
        assert not session.is_closed
        await hub.say("go on")
        assert [prompt.text for prompt in session.prompts][-1] == "go on"


@pytest.mark.asyncio
async def test_no_topic_is_made_for_an_agent_that_is_not_installed(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.codex.is_installed = False
        await hub.say("/new codex", place=GENERAL)
        assert "Install it: codex" in hub.last(GENERAL)
        assert hub.messenger.topics == []


@pytest.mark.asyncio
async def test_status_says_what_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.started = offering(hub)
        (hub.root / ".git").mkdir()
        (hub.root / ".git" / "HEAD").write_text("ref: refs/heads/topic/x\n")
        session = await hub.started_turn()
        session.say(TurnFinished(TurnOutcome.COMPLETED, "ok", Usage(context_used=50_000, context_window=200_000)))
        await hub.settle()
        await hub.say("/status")
        for fact in (
            "Claude 2.1",
            str(hub.root),
            "(topic/x)",
            "opus",
            "Mode: Ask",
            "s1",
            "context 25\u00a0%",
            "Turns: 1",
        ):
            assert fact in hub.last()


@pytest.mark.asyncio
async def test_queue_lists_what_waits_with_buttons(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        await hub.say("also this")
        await hub.say("/queue")
        assert "also this" in hub.last()
        await hub.press("Drop", shown=list(hub.delivery.shown.values())[-1])
        await hub.say("/queue")
        assert "Nothing waits" in hub.last()


@pytest.mark.asyncio
async def test_a_long_queue_is_counted_and_not_poured_into_the_chat(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.takes_steering = False
        for number in range(25):
            await hub.say(f"text {number}")
        before = len(hub.texts())
        await hub.say("/queue")
        assert len(hub.texts()) - before == 11
        assert hub.last() == "… and 15 more"


@pytest.mark.asyncio
async def test_log_hands_out_everything_of_the_last_turn_with_full_output(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn("build it")
        tool = ToolId("t1")
        session.say(
            ToolStarted(tool, "Bash", ToolKind.EXECUTE, "make", "make"),
            ToolFinished(tool, ToolStatus.OK, "line\n" * 5000),
        )
        session.answer("built")
        await hub.settle()
        await hub.say("/log")
        (file,) = list(hub.delivery.shown.values())[-1].message.files
        text = file.path.read_text()
        assert text.count("line\n") == 5000
        assert "build it" in text
        assert "built" in text


@pytest.mark.asyncio
async def test_diff_shows_the_edits_of_the_last_turn_as_card_and_file(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        tool = ToolId("t1")
        diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+new\n"
        session.say(
            ToolStarted(tool, "Edit", ToolKind.EDIT, "x.py", "x.py"), ToolFinished(tool, ToolStatus.OK, diff=diff)
        )
        session.answer()
        await hub.settle()
        await hub.say("/diff")
        await hub.until(lambda: any(shown.message.files for shown in hub.delivery.shown.values()))
        card, file = list(hub.delivery.shown.values())[-2:]
        assert "x.py" in card.part.text
        assert file.message.files[0].path.read_text().strip() == diff.strip()


@pytest.mark.asyncio
async def test_a_parked_session_is_brought_into_another_topic_with_its_unsent_messages(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        session.answer()
        await hub.settle()
        hub.hub.topic_lost(TOPIC)
        await hub.settle()
        await hub.say("/parked", place=OTHER)
        await hub.press("#7")
        await hub.say("go on", place=OTHER)
        assert hub.session.spec.resume == session.session_id
        assert hub.delivery.rehomed == [(TOPIC, OTHER)]


@pytest.mark.asyncio
async def test_owners_commands_are_refused_to_operators(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        ran: list[str] = []

        async def run(call: object) -> None:
            del call
            ran.append("ran")

        hub.hub.commands.add(CommandSpec("secret", "For owners", needs_owner=True, run=run))
        await hub.say("/secret", person=OLEG)
        assert "Only an owner" in hub.last()
        await hub.say("/secret")
        await asyncio.sleep(0)
        assert ran == ["ran"]


@pytest.mark.asyncio
async def test_text_from_the_window_stops_and_rests_a_topic(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        session = await hub.started_turn()
        hub.hub.stop_topic(TOPIC)
        await hub.settle()
        assert session.calls == ["interrupt"]
        hub.hub.hibernate_topic(TOPIC)
        await hub.settle()
        assert session.is_closed
        summary = hub.hub.status().topics[0]
        assert (summary.busy_for, summary.pid) == (None, None)


@pytest.mark.asyncio
async def test_status_warns_when_the_group_has_more_members_than_the_settings_name(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        listed = len(hub.hub.context.config.users) + 1
        hub.messenger.members = listed
        await hub.say("/status", place=GENERAL)
        assert "can read along" not in hub.last(GENERAL)
        hub.messenger.members = listed + 2
        await hub.say("/status", place=GENERAL)
        assert "At least 2 members of this group are not on the list" in hub.last(GENERAL)
