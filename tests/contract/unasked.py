"""What each agent does in each of its modes without asking (``unasked.toml``): deeds, and how one is tried.

The person denies everything, so what happens all the same was not asked for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agents.contract import Decision, ToolFinished, ToolStatus, Verdict
from tests.contract.person import Person
from tests.contract.rig import Kind, live
from tests.contract.talk import Talk
from tests.models.script import Call, Read, Run, Say, Script, Write

TABLE = Path(__file__).with_name("unasked.toml")


class Outcome(StrEnum):
    """What came of a deed."""

    ASKS = "asks"
    RUNS = "runs"
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Deed:
    """Something a model may do; ``{outside}`` in it is a folder that is neither the session's nor temporary."""

    text: str
    call: Call


DEEDS: Mapping[str, Deed] = {
    "look": Deed("a command that only reads (ls)", Run("ls")),
    "read": Deed("reading a file of the folder", Read("report.txt")),
    "command": Deed("a command that writes in the folder", Run("touch made.txt")),
    "delete": Deed("a command that deletes (rm -rf)", Run("rm -rf made")),
    "outside": Deed("a command that writes elsewhere", Run("touch {outside}/made.txt")),
    "edit": Deed("changing a file of the folder", Write("notes.txt", "one\n")),
}


def table() -> dict[str, dict[str, dict[str, Outcome]]]:
    """Kind -> mode -> deed -> outcome."""
    raw = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {
        kind: {mode: {deed: Outcome(said) for deed, said in deeds.items()} for mode, deeds in modes.items()}
        for kind, modes in raw.items()
    }


async def tried(kind: Kind, mode: str, folder: Path, outside: Path) -> dict[str, Outcome]:
    """Every deed once, in one session of a real agent in this mode."""
    found = {}
    async with live(kind, folder, _scripts(outside)) as rig:
        (rig.folder / "report.txt").write_text("read me\n", encoding="utf-8")
        person = Person(lambda _: Decision(Verdict.DENY))
        talk = Talk(await rig.open(person))
        try:
            await talk.session.set_mode(mode)
            for name in DEEDS:
                asked, known = len(person.requests), len(talk.all(ToolFinished))
                await talk.say(name)
                await talk.end()
                found[name] = _outcome(talk, known, is_asked=len(person.requests) > asked)
        finally:
            await talk.close()
    return found


def _outcome(talk: Talk, known: int, *, is_asked: bool) -> Outcome:
    if is_asked:
        return Outcome.ASKS
    ended = talk.all(ToolFinished)[known:]
    return Outcome.RUNS if ended and all(tool.status is ToolStatus.OK for tool in ended) else Outcome.FAILS


def _scripts(outside: Path) -> Mapping[str, Script]:
    return {name: ((_placed(deed.call, outside),), (Say("done"),)) for name, deed in DEEDS.items()}


def _placed(call: Call, outside: Path) -> Call:
    return Run(call.command.replace("{outside}", str(outside))) if isinstance(call, Run) else call
