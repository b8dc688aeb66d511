"""Destructive requests, session scopes, project rules, automatic decisions, and the audit of it all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agents.contract import AskId, Decision, ToolKind, Verdict
from bridge.audit import AuditEvent, audit_lines
from bridge.commands.approvals import approve, list_rules
from bridge.pending import DESK_OWNER, RuleDraft, RuleMatch
from bridge.policy import Mode, PolicySettings, RiskClass
from tests.bridge.pending.stage import (
    FOLDER,
    OLEG,
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


def buttons(card: object) -> list[str]:
    return [button.label for row in card.keyboard for button in row]  # type: ignore[attr-defined]


@pytest.mark.asyncio
async def test_a_destructive_request_needs_really_run_after_allow(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("rm -rf build")))
        await settle()
        assert "deletes folders with all in them" in scene.card.part.text
        toast = await pressed(desk, scene.press_of("Allow"))
        assert toast.startswith("Careful:")
        assert not asking.done()
        assert buttons(scene.card) == ["🔥 Really run", "⛔ Deny", "Back"]
        await pressed(desk, scene.press_of("Really run"))
        assert await asking == Decision(Verdict.ALLOW)


@pytest.mark.asyncio
async def test_a_second_press_on_the_old_allow_button_is_no_second_step(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("rm -rf build")))
        await settle()
        press = scene.press_of("Allow")
        await pressed(desk, press)
        await pressed(desk, press)
        assert not asking.done()
        await pressed(desk, scene.press_of("Back"))
        assert buttons(scene.card) == ["✅ Allow", "⛔ Deny"]
        await pressed(desk, scene.press_of("Deny"))
        await asking


@pytest.mark.asyncio
async def test_a_thumb_up_and_approve_by_text_need_the_second_step_as_well(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("git push --force")))
        await settle()
        await desk.react(scene.reaction("👍"))
        assert not asking.done()
        assert "Really run" in buttons(scene.card)[0]
        reply = await approve(desk, scene.text("/approve"), "")
        assert "/approve really" in reply.part.text
        assert not asking.done()
        await approve(desk, scene.text("/approve really"), "really")
        assert await asking == Decision(Verdict.ALLOW)


@pytest.mark.asyncio
async def test_really_without_the_first_step_only_arms(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("rm -rf build")))
        await settle()
        await approve(desk, scene.text("/approve really"), "really")
        assert not asking.done()
        await desk.void(TOPIC, "end of test")
        await asking


@pytest.mark.asyncio
async def test_the_session_button_is_there_only_where_it_is_switched_on_and_not_for_destructive_ones(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, allows_session_scope=True) as scene:
        desk = scene.new_desk()
        tasks = [
            asyncio.ensure_future(agent(desk, command("npm test", ask_id="1"))),
            asyncio.ensure_future(agent(desk, command("rm -rf x", ask_id="2"))),
        ]
        await settle()
        assert "✅ Allow for this session" in buttons(scene.cards[0])
        assert "✅ Allow for this session" not in buttons(scene.cards[1])
        await desk.void(TOPIC, "end of test")
        await asyncio.gather(*tasks)


@pytest.mark.asyncio
async def test_a_session_scope_covers_the_same_command_only_and_ends_with_the_process(tmp_path: Path) -> None:
    async with stage(tmp_path, allows_session_scope=True) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("npm test", ask_id="1")))
        await settle()
        await pressed(desk, scene.press_of("Allow for this session"))
        assert await asking == Decision(Verdict.ALLOW)
        assert await agent(desk, command("npm test", ask_id="2")) == Decision(Verdict.ALLOW)
        assert "session rule, Bash: npm test" in scene.notes[0]
        others = [
            asyncio.ensure_future(agent(desk, command("npm test -- --all", ask_id="3"))),
            asyncio.ensure_future(desk.request(origin(epoch="e2"), command("npm test", ask_id="4"))),
        ]
        await settle()
        assert not any(task.done() for task in others)
        await desk.void(TOPIC, "the process ended")
        await asyncio.gather(*others)
        assert desk.rules.standing() == ()


@pytest.mark.asyncio
async def test_a_session_scope_for_an_unknown_tool_covers_the_same_arguments_only(tmp_path: Path) -> None:
    async with stage(tmp_path, allows_session_scope=True) as scene:
        desk = scene.new_desk()
        deploy = command("deploy", ask_id="1", tool="deploy", kind=ToolKind.OTHER, arguments='{"to": "staging"}')
        asking = asyncio.ensure_future(agent(desk, deploy))
        await settle()
        await pressed(desk, scene.press_of("Allow for this session"))
        assert await asking == Decision(Verdict.ALLOW)
        assert await agent(desk, replace(deploy, id=AskId("2"))) == Decision(Verdict.ALLOW)
        other = asyncio.ensure_future(agent(desk, replace(deploy, id=AskId("3"), arguments='{"to": "production"}')))
        await settle()
        assert not other.done()
        await desk.void(TOPIC, "end of test")
        assert not (await other).is_allowed


@pytest.mark.asyncio
async def test_a_session_scope_for_an_edit_covers_the_tool_in_the_same_folder(tmp_path: Path) -> None:
    async with stage(tmp_path, allows_session_scope=True) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, edit("src/a.py", ask_id="1")))
        await settle()
        await pressed(desk, scene.press_of("Allow for this session"))
        await asking
        assert await agent(desk, edit("src/b.py", ask_id="2")) == Decision(Verdict.ALLOW)
        elsewhere = asyncio.ensure_future(agent(desk, edit("docs/a.md", ask_id="3")))
        await settle()
        assert not elsewhere.done()
        await desk.void(TOPIC, "end of test")
        await elsewhere


@pytest.mark.asyncio
async def test_an_operator_can_not_make_a_scope(tmp_path: Path) -> None:
    async with stage(tmp_path, allows_session_scope=True) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        toast = await pressed(desk, scene.press_of("session", OLEG))
        assert toast.startswith("Only an owner can allow for a session")
        assert not asking.done()
        await desk.void(TOPIC, "end of test")
        await asking


@pytest.mark.asyncio
async def test_a_project_rule_outlives_a_restart_and_is_undone_by_its_button(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        await desk.rules.add_project_rule(RuleDraft(FOLDER, "Bash", RuleMatch.EXACT, "npm test"), DESK_OWNER)
        later = scene.new_desk()
        await later.recover()
        assert await agent(later, command("npm test", ask_id="1")) == Decision(Verdict.ALLOW)
        listed = await list_rules(later, scene.text("/rules"), "")
        assert "npm test" in listed.part.text
        ((button,),) = listed.keyboard
        asking = asyncio.ensure_future(agent(later, command("make", ask_id="2")))
        await settle()
        assert "Only an owner" in await pressed(later, scene.press_with(button.data, OLEG))
        assert "not on this hub's list" in await pressed(later, scene.press_with(button.data, STRANGER))
        assert (await pressed(later, scene.press_with(button.data))).startswith("Undone.")
        again = asyncio.ensure_future(agent(later, command("npm test", ask_id="3")))
        await settle()
        assert not again.done()
        await later.void(TOPIC, "end of test")
        await asyncio.gather(asking, again)


@pytest.mark.asyncio
async def test_no_rule_covers_a_destructive_request(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        await desk.rules.add_project_rule(RuleDraft(FOLDER, "Bash", RuleMatch.EXACT, "rm -rf build"), DESK_OWNER)
        asking = asyncio.ensure_future(agent(desk, command("rm -rf build")))
        await settle()
        assert not asking.done()
        await desk.void(TOPIC, "end of test")
        await asking


@pytest.mark.asyncio
async def test_a_denied_class_is_denied_without_a_card_and_with_the_reason(tmp_path: Path) -> None:
    settings = PolicySettings(modes={RiskClass.NETWORK: Mode.DENY})
    async with stage(tmp_path, policy=settings) as scene:
        desk = scene.new_desk()
        decision = await agent(desk, command("curl https://example.com"))
        assert decision.verdict is Verdict.DENY
        assert "settings" in decision.reason
        assert scene.cards == []
        assert scene.notes[0].startswith("🚫 Denied by the hub")


@pytest.mark.asyncio
async def test_the_audit_has_who_when_what_and_whether_it_was_delivered(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command("npm test")))
        await settle()
        await pressed(desk, scene.press_of("Allow", STRANGER))
        press = scene.press_of("Allow")
        await pressed(desk, press)
        await asking
        await pressed(desk, press)
        lines = audit_lines(scene.database)
        assert [(line.event, line.way, line.by_name, line.delivered) for line in lines] == [
            (AuditEvent.REFUSED, "button", "Mallory", None),
            (AuditEvent.ALLOWED, "button", "Anna", True),
            (AuditEvent.LATE, "button", "Anna", None),
        ]
        assert {line.subject for line in lines} == {"npm test"}


@pytest.mark.asyncio
async def test_several_prompts_a_foreign_press_a_restart_and_a_late_press_leave_four_lines(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        former = scene.new_desk()
        first = asyncio.ensure_future(agent(former, command("rm -r build", ask_id="rq-1")))
        second = asyncio.ensure_future(agent(former, edit("a.txt", ask_id="rq-2")))
        await settle()
        assert len(scene.cards) == 2
        late = scene.press_of("Allow", card=scene.cards[0])
        await pressed(former, scene.press_of("Allow", STRANGER, scene.cards[1]))
        await pressed(former, scene.press_of("Allow", card=scene.cards[1]))
        assert await second == Decision(Verdict.ALLOW)
        desk = scene.new_desk()
        await desk.recover()
        await pressed(desk, late)
        assert not first.done()
        assert scene.cards[0].keyboard == ()
        events = [line.event for line in audit_lines(scene.database)]
        assert events == [AuditEvent.REFUSED, AuditEvent.ALLOWED, AuditEvent.VOID, AuditEvent.LATE]
        first.cancel()


@pytest.mark.asyncio
async def test_the_audit_forgets_what_is_older_than_the_settings_say(tmp_path: Path) -> None:
    async with stage(tmp_path, audit_days=90) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        await pressed(desk, scene.press_of("Deny"))
        await asking
        scene.clock.move(91 * 86_400)
        await scene.new_desk().recover()
        assert audit_lines(scene.database) == ()


@pytest.mark.asyncio
async def test_a_decision_that_can_not_be_written_is_a_denial(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.request(origin(), command()))
        await settle()
        press = scene.press_of("Allow")
        scene.database.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
        toast = await pressed(desk, press)
        assert toast.startswith("Denied: the hub could not write its records")
        assert (await asking).verdict is Verdict.DENY
        await desk.told(AskId("rq-1"), delivered=True)
        assert "Allowed" not in scene.card.part.text
