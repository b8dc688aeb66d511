"""Whatever breaks inside the hub while an agent waits: the agent hears "deny", and the person is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents.contract import Declined, Verdict
from bridge.audit import AuditEvent, audit_lines
from bridge.pending import AskDesk, cards
from tests.bridge.pending.stage import Stage, choice, command, origin, pressed, questions, settle, stage


def breaks(*_arguments: object, **_details: object) -> Any:
    raise RuntimeError("a fault of our own")


async def wait_out(scene: Stage) -> None:
    """Move the clock until the request has expired."""
    for _ in range(130):
        scene.clock.move(5)
        await settle(2)


async def denied(asking: asyncio.Future[Any]) -> str:
    async with asyncio.timeout(5):
        decision = await asking
    assert decision.verdict is Verdict.DENY
    return str(decision.reason)


async def an_open_request(scene: Stage) -> tuple[AskDesk, asyncio.Future[Any]]:
    desk = scene.new_desk()
    asking = asyncio.ensure_future(desk.request(origin(), command("npm test")))
    await settle()
    return desk, asking


@pytest.mark.asyncio
async def test_an_expiry_whose_card_cannot_be_drawn_is_a_denial_that_is_written_and_said_aloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as scene:
        desk, asking = await an_open_request(scene)
        monkeypatch.setattr(cards, "closed_card", breaks)
        await wait_out(scene)
        assert "600 seconds" in await denied(asking)
        assert [line.event for line in audit_lines(scene.database)] == [AuditEvent.EXPIRED]
        assert scene.database.rows("SELECT state FROM asks")[0]["state"] == "expired"
        assert scene.notices == ["⌛ Nobody answered, so this was denied: Run the tests"]
        assert desk.open_asks() == ()


@pytest.mark.asyncio
async def test_an_expiry_whose_notice_cannot_be_posted_still_closes_the_card(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        _desk, asking = await an_open_request(scene)
        scene.delivery.post = breaks  # type: ignore[method-assign]
        await wait_out(scene)
        await denied(asking)
        assert scene.card.keyboard == ()
        assert scene.card.part.text.startswith("⌛")


@pytest.mark.asyncio
async def test_a_watch_that_breaks_denies_at_once_and_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk, asking = await an_open_request(scene)
        scene.clock.monotonic = breaks  # type: ignore[method-assign]
        scene.clock.move(5)
        assert "went wrong" in await denied(asking)
        assert scene.card.keyboard == ()
        assert scene.notices == ["⚠️ Something in the hub went wrong, so this was denied: Run the tests"]
        assert desk.open_asks() == ()


@pytest.mark.asyncio
async def test_questions_of_a_broken_watch_are_declined(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        asking = asyncio.ensure_future(desk.ask(origin(), questions(choice("a", "b"))))
        await settle()
        scene.clock.monotonic = breaks  # type: ignore[method-assign]
        scene.clock.move(5)
        async with asyncio.timeout(5):
            assert isinstance(await asking, Declined)


@pytest.mark.asyncio
async def test_a_request_still_expires_when_nobody_can_say_whether_its_card_was_shown(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        scene.delivery.outcome = breaks  # type: ignore[method-assign]
        _desk, asking = await an_open_request(scene)
        assert not asking.done()
        await wait_out(scene)
        await denied(asking)


@pytest.mark.asyncio
async def test_a_request_that_cannot_be_shown_is_denied_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as scene:
        monkeypatch.setattr(cards, "open_card", breaks)
        desk, asking = await an_open_request(scene)
        await denied(asking)
        assert scene.notices == ["⚠️ Something in the hub went wrong, so this was denied: Run the tests"]
        assert desk.open_asks() == ()


@pytest.mark.asyncio
async def test_a_request_that_cannot_be_judged_is_denied_and_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk = scene.new_desk()
        desk.rules.assess = breaks  # type: ignore[method-assign]
        asking = asyncio.ensure_future(desk.request(origin(), command("npm test")))
        await denied(asking)
        assert scene.notices == ["⚠️ Something in the hub went wrong, so this was denied: Run the tests"]


@pytest.mark.asyncio
async def test_an_allow_that_breaks_while_it_is_written_is_a_denial_and_the_toast_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        desk, asking = await an_open_request(scene)

        async def durably(_work: object) -> None:
            breaks()

        scene.database.durably = durably  # type: ignore[method-assign]
        toast = await pressed(desk, scene.press_of("Allow"))
        assert "could not write its records" in toast
        await denied(asking)
        await desk.told(command().id, delivered=True)
        assert scene.card.part.text.startswith("⛔ Denied by the hub")


@pytest.mark.asyncio
async def test_an_agent_hears_its_allow_though_the_card_cannot_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as scene:
        desk, asking = await an_open_request(scene)
        monkeypatch.setattr(cards, "closed_card", breaks)
        pressing = asyncio.ensure_future(desk.press(scene.press_of("Allow")))
        async with asyncio.timeout(5):
            assert (await asking).is_allowed
        await desk.told(command().id, delivered=True)
        assert await pressing is not None
        assert scene.database.rows("SELECT state FROM asks")[0]["state"] == "delivered"
