"""No event of the audit and no reason of a refusal reaches the window without words for it."""

from __future__ import annotations

import pytest

from app.audit_words import event_text, refusal_text, way_text
from bridge.audit import AuditEvent
from bridge.pending import DecisionWay
from bridge.router import Refusal


@pytest.mark.parametrize("event", list(AuditEvent))
def test_every_event_has_words(event: AuditEvent) -> None:
    assert event_text(event)


@pytest.mark.parametrize("way", list(DecisionWay))
def test_every_way_has_words(way: DecisionWay) -> None:
    assert way_text(way.value)


@pytest.mark.parametrize("reason", list(Refusal))
def test_every_refusal_has_words(reason: Refusal) -> None:
    assert refusal_text(reason)


def test_a_way_of_a_later_version_stands_for_itself() -> None:
    assert way_text("telepathy") == "telepathy"
