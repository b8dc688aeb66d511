"""The commands about sessions beyond the running one, as the table and the topic take them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bridge.commands import past, saving, teams
from bridge.commands.table import Call, CommandSpec, Section
from bridge.texts import mark
from bridge.topics.topic import Topic

SPECS = (
    CommandSpec(
        "save",
        mark("Keep this session as it is now"),
        usage=mark("[name]"),
        works_locked=True,
        section=Section.SESSIONS,
    ),
    CommandSpec("saves", mark("What is saved"), works_locked=True, section=Section.SESSIONS),
    CommandSpec("restore", mark("Bring a saved session here"), usage=mark("[name]"), section=Section.SESSIONS),
    CommandSpec(
        "sessions",
        mark("Sessions of this folder, also those begun in a terminal"),
        usage="[all]",
        works_locked=True,
        section=Section.SESSIONS,
    ),
    CommandSpec("resume", mark("Go on with a session here"), usage=mark("[id]"), section=Section.SESSIONS),
    CommandSpec("team", mark("The team that runs in a terminal"), works_locked=True),
    CommandSpec("tell", mark("Write to a member of the team"), usage=mark("NAME text")),
)
RUNS: Mapping[str, Callable[[Topic, Call], Awaitable[None]]] = {
    "save": saving.save,
    "saves": saving.show_saved,
    "restore": saving.restore,
    "sessions": past.show_sessions,
    "resume": past.resume,
    "team": teams.show_team,
    "tell": teams.tell,
}
