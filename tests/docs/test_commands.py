"""The user guide's table of commands is the hub's table."""

from __future__ import annotations

import re
from typing import Any, cast

from bridge.commands.approvals import approval_specs
from bridge.commands.table import CommandSpec, CommandTable, Where
from bridge.commands.topic import SPECS
from tests.docs.pages import ROOT, text_of

GUIDE = text_of(ROOT / "docs" / "user-guide.md")
NOBODY = cast(Any, None)
"""The specs are only looked at; what would run them is never called."""


def specs() -> list[CommandSpec]:
    found = [*SPECS, *approval_specs(NOBODY, cast(Any, object()), NOBODY)]
    CommandTable(found)
    return found


def rows() -> dict[str, tuple[str, str, str]]:
    """Name -> what follows it, where, reply."""
    table = GUIDE.split("## Commands\n", 1)[1].split("\n## ", 1)[0]
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")]
        if match := re.match(r"`/(\w+)(?: ([^`]+))?`$", cells[0]):
            found[match[1]] = (match[2] or "", cells[1], cells[3])
    return found


def where_text(where: Where) -> str:
    letters = [letter for letter, place in (("T", Where.TOPIC), ("G", Where.GENERAL)) if where & place]
    return " ".join(letters)


def test_every_command_is_in_the_guide_and_the_guide_has_no_other() -> None:
    assert sorted(rows()) == sorted(spec.name for spec in specs())


def test_the_guide_says_where_each_works_and_what_follows_it() -> None:
    said = {name: (usage.replace("¦", "|"), where) for name, (usage, where, _) in rows().items()}
    assert said == {spec.name: (spec.usage, where_text(spec.where)) for spec in specs()}


def test_the_guide_tells_the_reply_of_each() -> None:
    assert [name for name, (_, _, reply) in rows().items() if not reply] == []
