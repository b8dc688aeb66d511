"""The window's log: filtered by level and words, never longer than what is kept, tracebacks with their error."""

from __future__ import annotations

import pytest

from app.ui import log_model
from app.ui.log_model import LogModel


def shown(model: LogModel) -> list[str]:
    return [str(model.data(model.index(row, 0))) for row in range(model.rowCount())]


def test_lines_below_the_level_are_kept_and_come_back_when_it_is_lowered() -> None:
    model = LogModel()
    model.append(["2026-11-30 12:00:00,001 DEBUG x: noise", "2026-11-30 12:00:00,002 INFO hub: started"])
    assert len(shown(model)) == 1
    model.choose("DEBUG", "")
    assert len(shown(model)) == 2


def test_a_traceback_is_shown_with_its_error() -> None:
    model = LogModel()
    model.append(["12:00 ERROR hub: broken", "Traceback (most recent call last):", "ValueError: no"])
    model.append(["12:01 INFO hub: went on"])
    model.choose("ERROR", "")
    assert len(shown(model)) == 3


def test_a_critical_line_is_an_error() -> None:
    model = LogModel()
    model.append(["12:00 CRITICAL app: crashed"])
    model.choose("ERROR", "")
    assert shown(model) == ["12:00 CRITICAL app: crashed"]


def test_the_oldest_lines_go_when_it_grows_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_model, "KEPT_LINES", 4)
    model = LogModel()
    model.append(["1 DEBUG a", "2 INFO b", "3 INFO c"])
    model.append(["4 INFO d", "5 DEBUG e", "6 INFO f"])
    assert shown(model) == ["3 INFO c", "4 INFO d", "6 INFO f"]
    assert model.lines()[0] == "3 INFO c"


def test_words_are_found_in_any_case() -> None:
    model = LogModel()
    model.append(["1 INFO Топик создан", "2 INFO other"])
    model.choose("INFO", "топик")
    assert len(shown(model)) == 1
