"""The second factor: what opens the hub, what does not, and what a locked hub still does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pyotp
import pytest

from agents.contract import AskId, Decision, Verdict
from bridge.audit import AuditEvent, audit_lines
from bridge.commands.approvals import approve, deny
from bridge.config import LockSettings
from bridge.lock import STEP, HubLock, UnlockResult, new_secret, provisioning_uri
from bridge.pending import DESK_OWNER, DecisionWay, RuleDraft, RuleMatch
from tests.bridge.pending.stage import FOLDER, Stage, agent, command, pressed, settle, stage

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SETTINGS = LockSettings(is_enabled=True, idle=1800, open_for=3600, attempts=3, attempts_window=900)


def lock_of(scene: Stage, settings: LockSettings = SETTINGS, secret: str = SECRET) -> HubLock:
    return HubLock(lambda: settings, lambda: secret, scene.database, scene.clock)


def code(scene: Stage, steps: int = 0) -> str:
    return pyotp.TOTP(SECRET).generate_otp(int(scene.clock.now()) // STEP + steps)


async def tried(lock: HubLock, text: str) -> UnlockResult:
    return (await lock.unlock(text, by_id=501, by_name="Anna")).result


@asynccontextmanager
async def locked_stage(path: Path, **changes: object) -> AsyncIterator[tuple[Stage, HubLock]]:
    async with stage(path, lock=SETTINGS, **changes) as scene:
        lock = scene.lock = lock_of(scene)
        yield scene, lock


@pytest.mark.asyncio
async def test_it_is_locked_at_the_start_and_a_right_code_opens_it_for_a_time(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        assert lock.is_locked
        assert await tried(lock, f" {code(scene)[:3]} {code(scene)[3:]} ") is UnlockResult.OPEN
        assert not lock.is_locked
        for _ in range(3):
            scene.clock.move(1199)
            lock.touch()
        assert not lock.is_locked
        scene.clock.move(5)
        assert lock.is_locked


@pytest.mark.asyncio
async def test_it_locks_after_the_idle_time(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        await tried(lock, code(scene))
        scene.clock.move(1801)
        assert lock.is_locked
        lock.touch()
        assert lock.is_locked, "a touch opens nothing"


@pytest.mark.asyncio
async def test_a_sleep_of_the_computer_locks_even_if_the_monotonic_clock_stood_still(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        await tried(lock, code(scene))
        scene.clock.wall += 8 * 3600
        assert lock.is_locked


@pytest.mark.asyncio
async def test_each_code_opens_once_even_after_a_restart(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        used = code(scene)
        assert await tried(lock, used) is UnlockResult.OPEN
        lock.lock_now(by_id=501, by_name="Anna")
        assert await tried(lock, used) is UnlockResult.USED
        assert await tried(lock_of(scene), used) is UnlockResult.USED
        assert lock.is_locked
        scene.clock.move(STEP)
        assert await tried(lock, code(scene)) is UnlockResult.OPEN


@pytest.mark.asyncio
async def test_an_older_code_does_not_open_after_a_newer_one_was_used(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        await tried(lock, code(scene))
        lock.lock_now(by_id=501, by_name="Anna")
        assert await tried(lock, code(scene, -1)) is UnlockResult.USED


@pytest.mark.asyncio
@pytest.mark.parametrize("text", ["000000", "", "abc", "١٢٣٤٥٦", "12345678901234567890"])
async def test_wrong_codes_do_not_open(tmp_path: Path, text: str) -> None:
    async with locked_stage(tmp_path) as (_, lock):
        assert await tried(lock, text) is UnlockResult.WRONG
        assert lock.is_locked


@pytest.mark.asyncio
async def test_after_too_many_wrong_codes_a_right_one_is_refused_for_a_while_over_restarts_too(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        for _ in range(3):
            assert await tried(lock, "000000") is UnlockResult.WRONG
        assert await tried(lock, code(scene)) is UnlockResult.TOO_MANY
        assert await tried(lock_of(scene), code(scene)) is UnlockResult.TOO_MANY
        scene.clock.move(901)
        assert await tried(lock, code(scene)) is UnlockResult.OPEN


@pytest.mark.asyncio
async def test_a_burst_of_guesses_does_not_pass_the_limit_together(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (_, lock):
        results = await asyncio.gather(*(tried(lock, f"00000{digit}") for digit in range(10)))
        assert results.count(UnlockResult.WRONG) == 3
        assert results.count(UnlockResult.TOO_MANY) == 7


@pytest.mark.asyncio
async def test_without_a_secret_nothing_opens_and_switched_off_nothing_is_locked(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, _):
        for useless in ("", "not base 32!", "JBSWY3DP"):
            bare = lock_of(scene, secret=useless)
            assert await tried(bare, "123456") is UnlockResult.NOT_SET_UP
            assert bare.is_locked
        off = lock_of(scene, LockSettings())
        assert not off.is_locked
        assert await tried(off, "123456") is UnlockResult.OFF


@pytest.mark.asyncio
async def test_the_notice_that_it_locked_comes_by_itself(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        changes: list[bool] = []
        lock.on_change = lambda: changes.append(lock.is_locked)
        await tried(lock, code(scene))
        running = asyncio.ensure_future(lock.run())
        for _ in range(70):
            await asyncio.sleep(0)
            scene.clock.move(30)
            await asyncio.sleep(0)
        running.cancel()
        assert changes == [False, True]


def test_a_new_secret_fits_an_authenticator_app() -> None:
    secret = new_secret()
    uri = provisioning_uri(secret, "home")
    assert uri.startswith("otpauth://totp/agent-hub:home?")
    assert len(pyotp.parse_uri(uri).now()) == 6


# --- a locked desk


@pytest.mark.asyncio
async def test_nothing_is_allowed_from_the_chat_while_locked_but_denied_at_any_time(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, _):
        desk = scene.new_desk()
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        assert "🔒 locked" in scene.card.part.text
        assert (await pressed(desk, scene.press_of("Allow"))).startswith("🔒")
        await desk.react(scene.reaction("👍"))
        await approve(desk, scene.text("/approve"), "")
        await settle()
        assert not asking.done()
        await deny(desk, scene.text("/deny"), "later")
        assert await asking == Decision(Verdict.DENY, "later")


@pytest.mark.asyncio
async def test_no_rule_and_no_read_passes_while_locked(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        desk = scene.new_desk()
        await desk.rules.add_project_rule(RuleDraft(FOLDER, "Bash", RuleMatch.EXACT, "npm test"), DESK_OWNER)
        asking = asyncio.ensure_future(agent(desk, command("npm test", ask_id="1")))
        await settle()
        assert not asking.done()
        await desk.decide(asking_id(scene), Verdict.ALLOW, DESK_OWNER, DecisionWay.DESKTOP)
        assert (await asking).verdict is Verdict.ALLOW, "the computer itself is no remote way"
        await tried(lock, code(scene))
        assert (await agent(desk, command("npm test", ask_id="2"))).verdict is Verdict.ALLOW


def asking_id(scene: Stage) -> AskId:
    row = scene.database.row("SELECT ask_id FROM asks WHERE state = 'open'")
    assert row is not None
    return AskId(row["ask_id"])


@pytest.mark.asyncio
async def test_open_cards_lose_their_lock_mark_when_the_hub_is_unlocked(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        desk = scene.new_desk()
        lock.on_change = desk.lock_changed
        asking = asyncio.ensure_future(agent(desk, command()))
        await settle()
        await tried(lock, code(scene))
        assert "🔒" not in scene.card.part.text
        await pressed(desk, scene.press_of("Allow"))
        assert (await asking).verdict is Verdict.ALLOW


@pytest.mark.asyncio
async def test_locking_and_unlocking_are_in_the_audit_and_no_code_is(tmp_path: Path) -> None:
    async with locked_stage(tmp_path) as (scene, lock):
        used = code(scene)
        await tried(lock, "000000")
        await tried(lock, used)
        lock.lock_now(by_id=501, by_name="Anna")
        lines = audit_lines(scene.database)
        assert [line.event for line in lines] == [AuditEvent.WRONG_CODE, AuditEvent.UNLOCKED, AuditEvent.LOCKED]
        assert used not in repr(lines)
