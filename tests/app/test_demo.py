"""The demo where no window can be shown: it serves the page and says where, instead of ending with a traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app import demo, doctor
from app.doctor import Finding, State

NO_LIBRARY = Finding("window", State.WARNING, "Qt does not start: libglib-2.0.so.0 is missing", "Install it.")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[demo.DemoOptions]:
    """Filled by a demo that serves the page only."""
    seen: list[demo.DemoOptions] = []

    async def serve(options: demo.DemoOptions) -> int:
        seen.append(options)
        return 0

    monkeypatch.setattr(demo, "serve", serve)
    monkeypatch.setitem(sys.modules, "app.ui.demo_desktop", None)
    return seen


def start(tmp_path: Path) -> int:
    return demo.demo_command(
        agent="demo",
        is_check=False,
        as_json=False,
        headless=False,
        language="en",
        data_dir=tmp_path,
        settings_file=tmp_path / "none.toml",
    )


def test_without_a_display_the_page_is_served_and_qt_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, served: list[demo.DemoOptions]
) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert start(tmp_path) == 0
    assert len(served) == 1


def test_where_qt_does_not_start_the_page_is_served_and_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    served: list[demo.DemoOptions],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(demo, "check_display", lambda: Finding("display", State.OK, "a display is there"))
    monkeypatch.setattr(demo, "check_qt", lambda: NO_LIBRARY)
    assert start(tmp_path) == 0
    assert len(served) == 1
    assert NO_LIBRARY.message in capsys.readouterr().err
