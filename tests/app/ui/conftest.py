"""Window tests draw offscreen unless a display is there; nobody's own settings are touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bridge.texts import set_language

if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENT_HUB_DATA", str(tmp_path / "hub"))
    set_language("en")
