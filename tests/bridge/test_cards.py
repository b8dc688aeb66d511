"""What the hub shows itself: complete where it must be, cut by meaning, and never refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.contract import (
    AskId,
    Choice,
    HubError,
    PermissionRequest,
    Question,
    QuestionKind,
    ToolKind,
    ToolStatus,
    Usage,
)
from bridge import cards
from bridge.diffs import read_diff
from bridge.markdown import Part, render_tail, utf16_length
from bridge.simulator import tdlib
from tests.parts import require_module

DIFF = """--- a/hub/split.py
+++ b/hub/split.py
@@ -10,4 +10,4 @@ def split(text):
     parts = []
-    while len(text) > 9:
-        parts.append(text)
+    while size(text) > 9:
+        parts.append(text[:9])
     return parts
"""


def request(**changes: Any) -> PermissionRequest:
    values: dict[str, Any] = {
        "id": AskId("1"),
        "tool": "Bash",
        "kind": ToolKind.EXECUTE,
        "title": "Run the tests",
        "subject": "npm test && echo <done>",
        "cwd": Path("project"),
    }
    return PermissionRequest(**{**values, **changes})


def accepted(part: Part) -> Part:
    require_module("tdjson")
    message = tdlib.send(part.html)
    assert message.text == part.text
    assert message.dropped == ()
    return part


def test_a_command_is_shown_exactly() -> None:
    part = accepted(cards.permission_card(request(reason="to see"), folder_note="~/project", risk="Deletes files"))
    assert part.text.splitlines() == [
        "⚡ Bash · Run the tests",
        "⚠️ Deletes files",
        "npm test && echo <done>",
        "📁 ~/project",
        "to see",
    ]
    assert '<pre><code class="language-bash">npm test &amp;&amp; echo &lt;done&gt;</code></pre>' in part.html


def test_a_long_command_shows_its_ends_and_is_whole_in_a_folded_quote() -> None:
    command = "\n".join(f"cp file{number} /srv/{number}" for number in range(60))
    part = accepted(cards.permission_card(request(subject=command)))
    ends, whole = part.html.split("<blockquote expandable>")
    assert "file0" in ends
    assert "file59" in ends
    assert command in whole


def test_what_of_a_command_is_not_shown_is_counted() -> None:
    part = accepted(cards.permission_card(request(subject="echo " + "x" * 9_000 + " && rm -r end")))
    assert "rm -r end" in part.text
    assert "characters are not shown" in part.text


def test_a_path_keeps_head_and_tail() -> None:
    path = "/home/ann/" + "deep/" * 300 + "main.py"
    part = accepted(cards.permission_card(request(kind=ToolKind.READ, tool="Read", subject=path)))
    assert "/home/ann/" in part.text
    assert "main.py" in part.text
    assert utf16_length(part.text) < 800


def test_an_edit_shows_the_file_its_counts_and_the_changed_lines() -> None:
    part = accepted(cards.permission_card(request(kind=ToolKind.EDIT, tool="Edit", subject="hub/split.py", diff=DIFF)))
    assert "hub/split.py  +2 −2" in part.text
    assert "+ while size(text) > 9:\n+     parts.append(text[:9])" in part.text
    assert "@@" not in part.text
    assert part.text.count("hub/split.py") == 1


def test_a_closed_card_begins_with_the_verdict_and_carries_what_is_below() -> None:
    status = cards.status_block(doing="Working", tools=[], elapsed=5, tail=None)
    part = accepted(cards.permission_card(request(), verdict="✅ Allowed by Ann", below=status))
    assert part.text.startswith("✅ Allowed by Ann\n")
    assert part.text.endswith("\n\n⏳ Working · 5 s")


def test_a_plan_is_rendered_and_says_when_it_is_cut() -> None:
    plan = "# Plan\n\n" + "\n".join(f"- step **{number}** of the plan" for number in range(400))
    part = accepted(cards.permission_card(request(subject="", plan=plan)))
    assert "<b>Plan</b>" in part.html
    assert "The plan goes on" in part.text


def test_a_question_shows_full_labels_and_what_was_chosen() -> None:
    label = "Постгрес в контейнере с отдельным томом и ежедневной копией на диск"
    question = Question(
        "k", "Which `base`?", "Base", choices=(Choice(label, "d" * 300), Choice(label + "!")), is_multiple=True
    )
    part = accepted(cards.question_card(question, number=2, total=3, chosen=[label]))
    assert "❓ Base · 2 of 3\nWhich base?" in part.text
    assert f"✅ 1. {label} — {'d' * 300}" in part.text
    assert f"\n2. {label}!" in part.text
    assert part.text.endswith("Choose any, then press Done.")


@pytest.mark.parametrize("kind", list(QuestionKind))
def test_a_question_of_any_kind_is_accepted(kind: QuestionKind) -> None:
    accepted(cards.question_card(Question("k", "What?", kind=kind, link="https://example.com"), number=1, total=1))


def test_many_long_choices_still_fit() -> None:
    question = Question("k", "q" * 3_000, choices=tuple(Choice("l" * 400, "d" * 900) for _ in range(40)))
    part = accepted(cards.question_card(question, number=1, total=1))
    assert "40. " in part.text


@pytest.mark.parametrize(
    ("status", "sign"), [(ToolStatus.OK, "✅"), (ToolStatus.FAILED, "❌"), (ToolStatus.DENIED, "🚫"), (None, "▶️")]
)
def test_a_tool_is_one_line(status: ToolStatus | None, sign: str) -> None:
    line = cards.tool_line("Bash", "npm test\n&& echo " + "x" * 200, status)
    assert line.text.startswith(f"{sign} Bash npm test && ")
    assert "\n" not in line.text
    assert len(line.text) < 60


def test_the_status_shows_tools_what_it_waits_for_and_the_tail() -> None:
    tail = render_tail("I will **fix", 100)
    part = accepted(
        cards.status_block(
            doing="Working",
            tools=[cards.tool_line("Read", "a.py", None)],
            elapsed=3_725,
            tail=tail,
            waiting="the model",
        )
    )
    assert part.text == "⏳ Working · 1:02:05\n▶️ Read a.py\n⏸ the model\n\nI will fix"
    assert part.html.endswith("I will <b>fix</b>")


def test_a_log_names_tools_files_and_texts() -> None:
    part = accepted(
        cards.turn_log(
            title="Done",
            tools=[cards.tool_line("Bash", "ls", ToolStatus.OK)] * 30,
            files=read_diff(DIFF),
            texts=["First **this**.", "> quoted"],
            elapsed=61,
        )
    )
    assert "… and 10 tools before" in part.text
    assert "hub/split.py  +2 −2" in part.text
    assert "<blockquote expandable>First <b>this</b>.\nquoted</blockquote>" in part.html


def test_an_error_says_what_happened_what_to_do_and_folds_the_detail() -> None:
    part = accepted(cards.error_notice(HubError("No <agent>", "Install it.", "tried: /a\n/b")))
    assert part.text == "⚠️ No <agent>\nInstall it.\ntried: /a\n/b"
    assert "<blockquote expandable><code>tried: /a\n/b</code></blockquote>" in part.html


def test_a_notice_without_more_is_one_line() -> None:
    assert cards.notice("Queued.") == Part("Queued.", "Queued.")


def test_a_footer_shows_only_what_is_known() -> None:
    usage = Usage(input_tokens=12_345, output_tokens=300, cost_usd=0.0512, context_used=50_000, context_window=200_000)
    assert cards.footer(usage, elapsed=70).text == "1:10 · tokens 12.3k in, 300 out · $0.05 · context 25\u00a0%"
    assert cards.footer() == Part("", "")


def test_facts_are_a_titled_list() -> None:
    assert (
        cards.key_values("Status", [("Agent", "claude"), ("Queue", "<2>")]).text == "Status\nAgent: claude\nQueue: <2>"
    )


TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
LONG_TEXT = st.tuples(TEXT, st.integers(0, 200)).map(lambda pair: pair[0] * pair[1])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(LONG_TEXT, LONG_TEXT, LONG_TEXT, st.sampled_from(list(ToolKind)), st.booleans(), TEXT)
def test_no_request_whatever_it_holds_is_refused(
    subject: str, other: str, diff: str, kind: ToolKind, is_closed: bool, verdict: str
) -> None:
    ask = request(
        kind=kind, subject=subject, reason=other, diff="+" + diff, plan=other, arguments=diff, tool="T" + other
    )
    below = cards.status_block(doing="D" + other, tools=[other] * 5, elapsed=1, tail=render_tail(other, 3_000))
    part = cards.permission_card(
        ask, folder_note=other, risk=other, verdict=("V" + verdict) * is_closed, below=below if is_closed else None
    )
    assert utf16_length(accepted(part).text) <= 4096


@settings(max_examples=100, deadline=None)
@given(LONG_TEXT, LONG_TEXT)
def test_no_notice_whatever_it_holds_is_refused(text: str, detail: str) -> None:
    accepted(cards.notice("N" + text, hint=text, detail=detail))
    accepted(cards.key_values("K" + text[:50], [(text[:20], text)] * 3))
    accepted(cards.turn_log(title="T" + text, tools=[text] * 40, texts=[text, detail]))
