"""docs/performance.md from the reports of the benchmarks. Only words and tables; measuring is none of its business."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
TITLES = {
    "roundtrip": (
        "From the agent's request to your phone and back",
        "On loopback, so the Internet's share is left out. *Request* is from the last byte of a permission request on"
        " the agent's output to the whole `sendMessage` at the server; *decision* from your press served to the"
        " decision's line read by the agent. `_busy`: while 20 other sessions stream 50 lines a second each.",
    ),
    "delivery": (
        "A group that writes a lot",
        "Eight busy topics in one group for 30 virtual minutes, with Telegram's limit of 20 messages a minute;"
        " `_4topics` with four, `_limit15` with a server that allows 15. Times are virtual seconds until the person has"
        " the message. `duplicates` counts repeats that are not marked as possible repeats.",
    ),
    "render": (
        "Markdown to messages",
        "CPU time against parsing the same text with the bare parser, and what is kept of it: judged by Telegram's own"
        " library, over real documents.",
    ),
    "sessions": (
        "Many topics",
        "100 topics, 8 of them at work. `wake_overhead_ms` is what the hub adds when a text wakes a sleeping session.",
    ),
    "footprint": (
        "What it costs while it waits",
        "Against a bare program that imports the same libraries and polls. `start_ms` ends with the first `getUpdates`"
        " on the wire.",
    ),
    "lines": (
        "Reading long lines",
        "The same bytes from an agent through our reader and through a bare one that splits once, in processor time."
        " `growth` is one line of 60 MiB against lines of 3 MiB: a reader that copies needs twenty times as long.",
    ),
    "soak": (
        "Killed without a warning",
        "The hub is killed again and again while topics are at work and cards are open. `lost_in` are texts neither"
        " done nor offered again, `lost_out` messages never sent, `doubled` repeats (each must be marked as one),"
        " `stale_decisions` cards of an earlier life that still decided something, `orphans` agents that outlived it.",
    ),
}
"""Name of a benchmark -> its heading and what its figures mean."""

HEAD = """# Performance

Made by `python -m tests.benchmarks --json`; every figure has a goal, and the run fails when one is missed. *Floor* is
the least that was possible, measured in the same run on the same work. What is **bold** missed its goal.
"""


def number(value: float | None) -> str:
    """Short and honest: three digits that matter, none for counts."""
    if value is None:
        return ""
    if value == int(value):
        return f"{int(value)}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 0.99 else f"{value:.4g}"


def holds(figure: Mapping[str, Any]) -> bool:
    """Told by the report where it says so."""
    return bool(figure.get("holds", True))


def table(figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = ["| Figure | Measured | Floor | Goal | Unit |", "| --- | --- | --- | --- | --- |"]
    for key, figure in figures.items():
        value, floor, goal = (number(figure.get(part)) for part in ("value", "floor", "goal"))
        shown = value if holds(figure) else f"**{value or 'none'}**"
        bound = "at least " if figure.get("more_is_better") else "at most "
        lines.append(f"| `{key}` | {shown} | {floor} | {bound}{goal} | {figure.get('unit', '')} |")
    return lines


def machine_line(machine: Mapping[str, Any], *, quick: bool) -> str:
    kind = (
        f"{machine['cores']} cores ({machine['architecture']}), {machine['memory_gb']} GB of memory,"
        f" {machine['system']}, Python {machine['python']}"
    )
    short = " This was a **short run** (`--quick`): fewer repetitions, less stable figures." if quick else ""
    return f"Machine: {kind}.{short}"


def page(result: Mapping[str, Any]) -> str:
    """The whole page."""
    lines = [HEAD, machine_line(result["machine"], quick=result["quick"])]
    for report in result["benchmarks"]:
        title, sentence = TITLES[report["name"]]
        lines += [
            "",
            f"## {title}",
            "",
            f"`{report['name']}`: {'holds' if report['ok'] else '**does not hold**'}. {sentence}",
            "",
        ]
        if report["figures"]:
            lines += [*table(report["figures"]), ""]
        if report.get("notes"):
            lines.append(f"{report['notes']}")
    return "\n".join(lines).replace("\n\n\n", "\n\n").rstrip("\n") + "\n"
