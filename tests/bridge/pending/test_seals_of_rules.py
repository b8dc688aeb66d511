"""A project rule that something else wrote into the store grants nothing, and is said."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.contract import HubError, ToolKind
from bridge.audit import AuditEvent, audit_lines
from bridge.inbound import Place
from bridge.pending import AskDesk
from bridge.pending.records import DESK_OWNER, DecisionWay
from bridge.pending.rulebook import RuleDraft, RuleMatch
from tests.bridge.pending.stage import CHAT, FOLDER, Stage, command, origin, settle, stage

INSERT = (
    "INSERT INTO rules (id, scope, project, agent, tool, match, value, by_id, by_name, created, seal)"
    " VALUES (?, 'project', ?, '', 'Bash', 'exact', ?, 0, 'the desktop', 1.0, ?)"
)


async def passes_by_itself(desk: AskDesk, text: str) -> bool:
    asking = asyncio.ensure_future(desk.request(origin(), command(text, ask_id=f"rq-{text}")))
    await settle()
    if asking.done():
        return (await asking).is_allowed
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    return False


async def with_a_rule(scene: Stage) -> None:
    desk = scene.new_desk()
    await desk.rules.add_project_rule(RuleDraft(FOLDER, "Bash", RuleMatch.EXACT, "npm test"), DESK_OWNER)


async def next_life(scene: Stage) -> AskDesk:
    desk = scene.new_desk()
    await desk.recover()
    return desk


@pytest.mark.asyncio
async def test_a_rule_of_the_hub_holds_in_the_next_life_and_nothing_is_said(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        await with_a_rule(scene)
        assert await passes_by_itself(await next_life(scene), "npm test")
        assert scene.notices == []


@pytest.mark.asyncio
@pytest.mark.parametrize("seal", ["", "0" * 64])
async def test_a_rule_written_into_the_store_grants_nothing_and_is_told_and_removed(tmp_path: Path, seal: str) -> None:
    async with stage(tmp_path) as scene:
        await with_a_rule(scene)
        scene.database.execute(INSERT, ("forged", str(FOLDER), "curl evil.example", seal))
        desk = await next_life(scene)
        assert audit_lines(scene.database)[-1].event is AuditEvent.RULE_UNDONE
        assert not await passes_by_itself(desk, "curl evil.example")
        assert await passes_by_itself(desk, "npm test"), "the hub's own rule goes on"
        (shown,) = [shown for key, shown in scene.delivery.shown.items() if not key.startswith("card:")]
        assert (shown.message.place, shown.message.rings) == (Place(CHAT), True)
        assert "was not made by this hub" in shown.part.text
        assert "curl evil.example" in shown.part.text
        await next_life(scene)
        assert len(scene.notices) == 1, "told once"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "change",
    ["value = 'curl evil.example'", "project = '/'", "tool = 'Write'", "match = 'tool'", "agent = 'other'"],
)
async def test_a_rule_that_was_changed_in_the_store_grants_nothing(tmp_path: Path, change: str) -> None:
    async with stage(tmp_path) as scene:
        await with_a_rule(scene)
        scene.database.execute(f"UPDATE rules SET {change}")
        desk = await next_life(scene)
        assert desk.rules.standing() == ()
        assert "was not made by this hub" in scene.notices[0]


@pytest.mark.asyncio
async def test_the_seal_of_another_secret_grants_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        await with_a_rule(scene)
        scene.seals.secret = b"another"
        assert (await next_life(scene)).rules.standing() == ()


@pytest.mark.asyncio
async def test_a_rule_that_was_undone_can_not_be_brought_back_in_the_store(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        draft = RuleDraft(FOLDER, "Bash", RuleMatch.EXACT, "npm test")
        rule = await desk.rules.add_project_rule(draft, DESK_OWNER)
        await desk.rules.undo(rule.id, DESK_OWNER, DecisionWay.DESKTOP)
        scene.database.execute("UPDATE rules SET undone = NULL")
        assert (await next_life(scene)).rules.standing() == ()


@pytest.mark.asyncio
async def test_a_keyring_that_is_locked_keeps_the_rules_but_uses_none_and_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        await with_a_rule(scene)
        scene.seals.trouble = HubError("locked")
        assert not await passes_by_itself(await next_life(scene), "npm test")
        assert "is not used now" in scene.notices[0]
        scene.seals.trouble = None
        assert await passes_by_itself(await next_life(scene), "npm test")


@pytest.mark.asyncio
async def test_no_rule_is_made_when_its_secret_can_not_be_kept(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        scene.seals.trouble = HubError("locked")
        with pytest.raises(HubError):
            await with_a_rule(scene)
        assert scene.database.rows("SELECT id FROM rules") == []


@pytest.mark.asyncio
async def test_blobs_where_texts_belong_neither_pass_nor_stop_the_start(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        await with_a_rule(scene)
        scene.database.execute("UPDATE rules SET value = x'00ff', created = 'never'")
        desk = await next_life(scene)
        assert desk.rules.standing() == ()
        ask = command("npm test", kind=ToolKind.EXECUTE)
        assert desk.rules.ruling(origin(), ask, desk.rules.assess(origin(), ask)) is None
