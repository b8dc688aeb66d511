"""Makes ``docs/protocols.md``, what each kind of agent keeps (``python -m tests.contract.document``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agents.known_agents import KNOWN
from tests.contract import events, unasked
from tests.contract.kinds import How, table
from tests.contract.promises import PROMISES

FILE = Path(__file__).resolve().parents[2] / "docs" / "protocols.md"
_MARKS = {How.IN_PROTOCOL: "yes", How.BY_TOOL: "by a tool", How.BY_HUB: "by the hub", How.IMPOSSIBLE: "no"}
_HEAD = """\
# What each agent promises

Made by `python -m tests.contract.document` from `tests/contract/table.toml`; do not edit by hand.

"yes": the agent's own protocol does it, and the suite in `tests/contract` runs it against recordings and, in
`tests/live`, against the real program. "by the hub" and "no" are explained below the table.
"""


def text() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_rows(), "", *_reasons(), *_unasked(), *_events()]).rstrip() + "\n"


def _rows() -> Iterator[str]:
    kinds = table()
    titles = [_title(kind) for kind in kinds]
    yield f"| Promise | {' | '.join(titles)} |"
    yield "| --- |" + " --- |" * len(titles)
    for promise in PROMISES.values():
        marks = [_MARKS[kept[promise.name].how] for kept in kinds.values()]
        yield f"| {promise.text} | {' | '.join(marks)} |"


def _reasons() -> Iterator[str]:
    for kind, kept in table().items():
        reasons = [
            f"- {PROMISES[name].text}: {_MARKS[entry.how]}. {entry.why}" for name, entry in kept.items() if entry.why
        ]
        if reasons:
            yield from (f"## {_title(kind)}", "", *reasons, "")


def _unasked() -> Iterator[str]:
    yield from (
        "# What runs without asking",
        "",
        "Made from `tests/contract/unasked.toml`, which `tests/live/test_unasked.py` holds to the real programs. "
        '"asks": the person decides; "runs": it is done unasked; "fails": neither, the agent itself stops it.',
        "",
    )
    for kind, modes in unasked.table().items():
        yield from (f"| {_title(kind)} | {' | '.join(modes)} |", "| --- |" + " --- |" * len(modes))
        for name, deed in unasked.DEEDS.items():
            yield f"| {deed.text} | {' | '.join(outcomes[name] for outcomes in modes.values())} |"
        yield ""


def _events() -> Iterator[str]:
    yield from ("# What every message becomes", "", "Made from `tests/contract/events.toml`.", "")
    for kind, rows in events.table().items():
        yield from (
            f"## Messages of {_title(kind)}",
            "",
            "| Message | Event | The person sees |",
            "| --- | --- | --- |",
        )
        for name, row in rows.items():
            yield f"| {name} | {row.event or '-'} | {row.seen if row.event else f'nothing: {row.seen}'} |"
        yield ""


def _title(kind: str) -> str:
    return KNOWN[kind].title if kind in KNOWN else kind.capitalize()


def main() -> None:
    """Write the page."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
