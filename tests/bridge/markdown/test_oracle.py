"""The judge itself: its verdicts on cases of our own, recorded from TDLib 1.8.69."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.markdown import utf16_length
from bridge.simulator import tdlib
from bridge.simulator.tdlib import Parsed, TelegramBadRequest
from tests.markdown.own_inputs import FIXTURES
from tests.parts import require_module

CASES: list[dict[str, Any]] = json.loads((FIXTURES / "html_cases.json").read_text(encoding="utf-8"))


def source_of(case: dict[str, Any]) -> str:
    repeat = case.get("repeat")
    return repeat["unit"] * repeat["times"] + repeat["tail"] if repeat else case["html"]


def as_recorded(parsed: Parsed) -> dict[str, Any]:
    out: dict[str, Any] = {
        "ok": True,
        "text": parsed.text,
        "utf16": utf16_length(parsed.text),
        "text_len": len(parsed.text),
        "entity_count": len(parsed.entities),
        "entities": [[entity.type, entity.offset, entity.length, dict(entity.extra)] for entity in parsed.entities],
    }
    if dropped := getattr(parsed, "dropped", ()):
        out["dropped"] = len(dropped)
    return out


def recorded(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """``actual`` with only what the case recorded: long texts are kept as their length."""
    return {key: actual.get(key) for key in expected}


@pytest.mark.parametrize("stage", ["parse", "send"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_judge_says_what_telegram_says(case: dict[str, Any], stage: str) -> None:
    require_module("tdjson")
    expected = case["expect"][stage]
    try:
        html = source_of(case)
        parsed = tdlib.parse(html) if stage == "parse" else tdlib.send(html, case.get("caption", False))
        actual = as_recorded(parsed)
    except TelegramBadRequest as refusal:
        actual = {"ok": False, "description": refusal.description}
    assert recorded(expected, actual) == expected
