"""A permission request from the agent's question to the agent's ear: what the person sees, what the agent gets."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agents.contract import AskId, Decision, PermissionRequest, ToolKind, Verdict
from bridge.inbound import Place
from bridge.pending import AskOrigin
from bridge.pending.attachments import attach
from bridge.store import StoreError
from tests.bridge.pending.stage import (
    ANNA,
    FOLDER,
    OTHER_TOPIC,
    STRANGER,
    TOPIC,
    agent,
    command,
    edit,
    origin,
    pressed,
    settle,
    stage,
)


@pytest.mark.asyncio
async def test_a_request_is_shown_at_once_with_command_and_buttons_and_rings(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command("npm test")))
        await settle()
        assert "npm test" in scene.card.part.text
        assert [button.label for row in scene.card.keyboard for button in row] == ["✅ Allow", "⛔ Deny"]
        assert scene.card.message.rings
        await desk.void(TOPIC, "end of test")
        await asking


@pytest.mark.asyncio
async def test_allow_reaches_the_agent_and_the_card_says_delivered_only_after_it_was_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        toast = await pressed(desk, scene.press_of("Allow"))
        assert await asking == Decision(Verdict.ALLOW)
        assert "delivered" in toast
        assert scene.card.part.text.startswith("✅ Allowed by Anna ·")
        assert "delivered" in scene.card.part.text.splitlines()[0]
        assert scene.card.keyboard == ()
        assert len(scene.card.looks) == 2, "one edit closes the card"


@pytest.mark.asyncio
async def test_a_decision_the_agent_has_not_taken_is_never_called_allowed(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command()))
        await settle()
        pressing = asyncio.ensure_future(desk.press(scene.press_of("Allow")))
        await asking
        await settle()
        scene.clock.move(2)
        reply = await pressing
        assert reply is not None
        assert "not taken it yet" in reply.text
        assert "Telling the agent" in scene.card.part.text
        assert "Allowed" not in scene.card.part.text
        await desk.told(AskId("rq-1"), delivered=True)
        assert scene.card.part.text.startswith("✅ Allowed by Anna")


@pytest.mark.asyncio
async def test_a_closed_pipe_is_said_on_card_and_toast(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command(), hears=False))
        await settle()
        toast = await pressed(desk, scene.press_of("Allow"))
        await asking
        assert toast.startswith("Not delivered")
        assert scene.card.part.text.startswith("⚠️ Not delivered: Anna chose “Allow”")


@pytest.mark.asyncio
async def test_a_second_press_is_harmless_and_says_who_and_when(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        first, second = scene.press_of("Allow"), scene.press_of("Deny")
        await pressed(desk, first)
        toast = await pressed(desk, second)
        assert await asking == Decision(Verdict.ALLOW)
        assert toast.startswith("Already decided: Anna chose “Allow” at ")


@pytest.mark.asyncio
async def test_a_strangers_press_changes_nothing_and_gets_a_toast(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        toast = await pressed(desk, scene.press_of("Allow", STRANGER))
        assert "not on this hub's list" in toast
        assert not asking.done()
        assert len(scene.card.looks) == 1
        await pressed(desk, scene.press_of("Deny", ANNA))
        assert (await asking).verdict is Verdict.DENY


@pytest.mark.asyncio
async def test_time_out_is_a_denial_with_a_reason_and_an_audible_line(tmp_path: Path) -> None:
    async with stage(tmp_path, ask_timeout=600.0) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        scene.clock.move(601)
        decision = await asking
        assert decision.verdict is Verdict.DENY
        assert "Nobody answered within 600 seconds" in decision.reason
        assert scene.card.part.text.startswith("⌛ Nobody answered in 10 minutes: denied · delivered")
        assert [shown.message.rings for shown in scene.delivery.shown.values()] == [True, True]


@pytest.mark.asyncio
async def test_a_sleep_of_eight_hours_expires_requests_even_if_the_monotonic_clock_stood_still(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        press = scene.press_of("Allow")
        scene.clock.wall += 8 * 3600
        toast = await pressed(desk, press)
        assert toast.startswith("Too late: this expired at ")
        assert (await asking).verdict is Verdict.DENY


@pytest.mark.asyncio
async def test_a_withdrawn_request_loses_its_buttons_and_says_why(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command()))
        await settle()
        await desk.withdrawn(AskId("rq-1"), "Answered at the desk.")
        await asking
        assert scene.card.part.text.startswith("↩️ The agent withdrew this. Nothing was decided\nAnswered at the desk.")
        assert scene.card.keyboard == ()


@pytest.mark.asyncio
async def test_a_dead_session_voids_its_requests(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command()))
        await settle()
        await desk.void(TOPIC, "The agent's process ended.")
        assert (await asking).verdict is Verdict.DENY
        assert scene.card.part.text.startswith("⚪ No longer open. Nothing was allowed\nThe agent's process ended.")
        assert not desk.has_open_permission(TOPIC)


@pytest.mark.asyncio
async def test_a_cancelled_wait_counts_as_no_answer_and_closes_the_card(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command()))
        await settle()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert scene.card.part.text.startswith("⚪ No longer open. Nothing was allowed")
        toast = await pressed(desk, scene.press_with("ask:allow:id1"))
        assert toast.startswith("This request is no longer open.")


@pytest.mark.asyncio
async def test_after_a_crash_an_open_card_says_so_and_a_press_on_it_runs_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        former = scene.new_desk()
        asking = asyncio.ensure_future(former.request(origin(), command()))
        await settle()
        press = scene.press_of("Allow")
        desk = scene.new_desk()
        await desk.recover()
        assert scene.card.part.text.startswith(
            "⚪ No longer open. Nothing was allowed\nThe hub was restarted meanwhile."
        )
        assert scene.card.keyboard == ()
        assert "1 open request here is closed" in scene.notices[0]
        assert (await pressed(desk, press)).startswith("This request is no longer open.")
        assert not asking.done()
        asking.cancel()


@pytest.mark.asyncio
async def test_after_a_crash_between_decision_and_ear_the_card_says_that_it_is_not_known(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        former = scene.new_desk()
        asking = asyncio.ensure_future(former.request(origin(), command()))
        await settle()
        pressing = asyncio.ensure_future(former.press(scene.press_of("Allow")))
        await asking
        await settle()
        desk = scene.new_desk()
        await desk.recover()
        assert scene.card.part.text.startswith("❔ Anna chose “Allow” at ")
        assert "not known" in scene.card.part.text.splitlines()[0]
        scene.clock.move(2)
        await pressing


@pytest.mark.asyncio
async def test_too_many_open_requests_are_denied_with_a_clear_word(tmp_path: Path) -> None:
    async with stage(tmp_path, open_asks_per_topic=2) as scene:
        desk = scene.new_desk()
        waiting = [asyncio.ensure_future(desk.request(origin(), command(ask_id=f"rq-{n}"))) for n in range(2)]
        await settle()
        decision = await desk.request(origin(), command(ask_id="rq-9"))
        assert decision.verdict is Verdict.DENY
        assert "2 requests of this session already wait" in decision.reason
        assert len(scene.cards) == 2
        assert "Denied by the hub" in scene.notes[0]
        await desk.void(TOPIC, "end of test")
        await asyncio.gather(*waiting)


@pytest.mark.asyncio
async def test_a_request_sent_twice_by_the_agent_is_one_card_and_one_decision(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        twice = [asyncio.ensure_future(agent(desk, command())) for _ in range(2)]
        await settle()
        await pressed(desk, scene.press_of("Deny"))
        assert [decision.verdict for decision in await asyncio.gather(*twice)] == [Verdict.DENY, Verdict.DENY]
        assert len(scene.cards) == 1


@pytest.mark.asyncio
async def test_an_agents_own_time_limit_is_undercut_so_that_it_hears_the_denial_from_the_hub(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command(time_limit=60.0)))
        await settle()
        scene.clock.move(58.5)
        assert (await asking).verdict is Verdict.DENY


@pytest.mark.asyncio
async def test_a_read_inside_the_folder_passes_and_leaves_a_line(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        here = AskOrigin(TOPIC, "claude", "Claude Code", "e1", tmp_path)
        ask = PermissionRequest(AskId("rd"), "Read", ToolKind.READ, "Read a file", str(tmp_path / "a.py"), tmp_path)
        assert await desk.request(here, ask) == Decision(Verdict.ALLOW)
        assert scene.cards == []
        assert scene.notes == ["☑️ Allowed by the hub (the settings allow “read”): Read a file"]


@pytest.mark.asyncio
async def test_a_request_too_long_for_its_card_comes_whole_as_a_file_below_it(tmp_path: Path) -> None:
    long = "echo " + "x" * 3000 + "; rm -rf tail"
    async with stage(tmp_path) as scene:
        desk = scene.new_desk(files=tmp_path / "asks")
        waiting = [
            asyncio.ensure_future(agent(desk, command(long, ask_id="1"))),
            asyncio.ensure_future(agent(desk, command("npm test", ask_id="2"))),
        ]
        await settle()
        (files,) = [shown.message.files for shown in scene.delivery.shown.values() if shown.message.files]
        assert [file.name for file in files] == ["command.txt"]
        assert files[0].path.read_text() == long
        await desk.void(TOPIC, "end of test")
        await asyncio.gather(*waiting)


@pytest.mark.asyncio
async def test_requests_follow_their_group_to_its_new_id(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        desk.move_chat(TOPIC.chat_id, -100999)
        moved = Place(-100999, TOPIC.topic_id)
        assert desk.has_open_permission(moved)
        await desk.void(moved, "end of test")
        assert (await asking).verdict is Verdict.DENY


@pytest.mark.asyncio
async def test_a_card_that_can_never_be_shown_does_not_keep_the_agent_waiting(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        scene.delivery.failure = "Telegram refused this text."
        decision = await agent(scene.new_desk(), command())
        assert decision.verdict is Verdict.DENY
        assert "could not be shown" in decision.reason


@pytest.mark.asyncio
async def test_half_a_letter_in_a_command_neither_hides_the_request_nor_breaks_the_desk(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("echo \ud83d", title="half \udc80")))
        await settle()
        await pressed(desk, scene.press_of("Deny"))
        assert (await asking).verdict is Verdict.DENY


@pytest.mark.asyncio
async def test_another_request_under_an_id_in_use_gets_a_denial_and_never_the_others_allow(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command("npm test")))
        await settle()
        other = asyncio.ensure_future(desk.request(origin(), command("rm -rf /")))
        elsewhere = asyncio.ensure_future(desk.request(origin(OTHER_TOPIC), command("npm test")))
        again = asyncio.ensure_future(desk.request(origin(), command("npm test")))
        await settle()
        pressing = asyncio.ensure_future(desk.press(scene.press_of("Allow")))
        assert (await asking).is_allowed
        assert (await again).is_allowed
        assert not (await other).is_allowed
        assert not (await elsewhere).is_allowed
        await desk.told(AskId("rq-1"), delivered=True)
        await pressing


@pytest.mark.asyncio
async def test_a_decision_cut_off_while_the_disk_refuses_it_is_a_denial(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command()))
        await settle()
        refused = asyncio.Event()

        async def full(_work: object) -> None:
            await refused.wait()
            raise StoreError("the disk is full")

        scene.database.durably = full  # type: ignore[method-assign]
        pressing = asyncio.ensure_future(desk.press(scene.press_of("Allow")))
        await settle()
        pressing.cancel()
        await settle()
        refused.set()
        with pytest.raises(asyncio.CancelledError):
            await pressing
        async with asyncio.timeout(5):
            assert not (await asking).is_allowed


@pytest.mark.asyncio
async def test_a_file_of_the_session_is_named_from_its_folder_on_open_and_settled_cards_alike(tmp_path: Path) -> None:
    path = f"{FOLDER}/src/a.py"
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        for number, diff in enumerate(("", f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-x\n+y\n")):
            waiting = asyncio.create_task(agent(desk, edit(path, ask_id=f"rq-{number}", diff=diff)))
            await settle()
            assert "src/a.py" in scene.cards[-1].part.text
            listed = desk.make_list(TOPIC).part.text
            await pressed(desk, scene.press_of("Allow"))
            await waiting
            texts = [*scene.cards[-1].looks, listed]
            head = desk.answered_card(TOPIC)
            assert head is not None
            assert not [text for text in [*texts, head.head.text] if str(FOLDER) in text]


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ["/home/anna/shopping/a.py", f"{FOLDER}/../other/a.py", "/etc/hosts"])
async def test_a_file_outside_of_the_folder_is_named_in_full(tmp_path: Path, path: str) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        waiting = asyncio.create_task(agent(desk, edit(path, diff="")))
        await settle()
        assert path in scene.cards[-1].part.text
        await pressed(desk, scene.press_of("Deny"))
        await waiting
        assert path in scene.cards[-1].part.text


def test_an_old_file_that_can_not_be_removed_does_not_keep_a_long_request_from_being_shown_whole(
    tmp_path: Path,
) -> None:
    held = tmp_path / "held"
    held.mkdir()  # unlink refuses a folder as Windows refuses a file that is open
    os.utime(held, (0, 0))
    (written,) = attach(command("echo " + "x" * 9_000), tmp_path, "token")
    assert written.path.read_text(encoding="utf-8").startswith("echo x")
