"""What the buttons under the lists of commands mean: verb -> what does it. A locked hub takes none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bridge.commands import get_file, past, saving, teams
from bridge.topics import voice
from bridge.topics.topic import Topic

Press = Callable[[Topic, str, str], Awaitable[None]]
"""The topic, the button's value, and the key of its message ("" when it is not known any more)."""

PRESSED: Mapping[str, Press] = {
    saving.SAVED: saving.pressed,
    past.PAST: past.pressed,
    teams.TEAM: teams.pressed,
    get_file.GET: get_file.pressed,
    voice.VOICE: voice.pressed,
}
