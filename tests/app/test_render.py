"""``agent-hub render``: what it prints and what it says when it can't."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from agents.contract import HubError
from app.render import render_command


def test_json_holds_every_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.md"
    answer.write_text("# Привет\n\n" + "word " * 2_000, encoding="utf-8")
    assert render_command(str(answer), as_json=True, preview=None) == 0
    parts = json.loads(capsys.readouterr().out)
    assert len(parts) == 3
    assert parts[0]["html"].startswith("<b>Привет</b>\nword")
    assert parts[0]["text"].startswith("Привет\nword")


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"**b**"), encoding="utf-8"))
    assert render_command("-", as_json=False, preview=None) == 0
    assert capsys.readouterr().out == "--- 1/1, 1\n<b>b</b>\n"


def test_nothing_to_see_is_an_empty_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.md").write_text("", encoding="utf-8")
    assert render_command(str(tmp_path / "empty.md"), as_json=True, preview=None) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_the_preview_shows_each_message_as_a_bubble(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer, page = tmp_path / "answer.md", tmp_path / "out.html"
    answer.write_text("a <script>\n\n```py\nx\n```\n", encoding="utf-8")
    assert render_command(str(answer), as_json=False, preview=page) == 0
    html = page.read_text(encoding="utf-8")
    assert '<div class="bubble">a &lt;script&gt;<pre data-language="py"><code>x</code></pre></div>' in html
    assert capsys.readouterr().out == ""


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(HubError, match="can't be read") as caught:
        render_command(str(tmp_path / "none.md"), as_json=True, preview=None)
    assert caught.value.hint


def test_a_preview_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    with pytest.raises(HubError, match="can't be written"):
        render_command(str(tmp_path / "a.md"), as_json=True, preview=tmp_path / "no" / "out.html")
