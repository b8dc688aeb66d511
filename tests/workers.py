"""Which tests one of several workers (``pytest -n 2``) runs after each other: those that share something.

By the test's name alone. xdist's own groups by marker (``--dist loadgroup``) do nothing with pytest 9.2, which keeps a
test's name where xdist 3.8 does not look (measured).
"""

from __future__ import annotations

import re

from xdist.scheduler import LoadScopeScheduling

KINDS = ("claude", "codex", "qwen", "hermes", "opencode", "demo")
FIRST = ("interleavings", "live", "browser", "desktop")
"""What takes minutes, so that no worker is left with it alone at the end."""


def group_of(nodeid: str) -> str:
    """One real agent of a kind at a time, one window, tray, keyring and bus at a time, one browser at a time.

    A file is never split, because what is made once for it would be made twice; but for the one whose parts take
    minutes.
    """
    place, _, test = nodeid.removeprefix("tests/").partition("::")
    parameters = test.partition("[")[2]
    if place.startswith("live/"):
        kinds = [word for word in re.split(r"[^a-z]+", f"{parameters} {place}") if word in KINDS]
        return f"live {kinds[0]}" if kinds else f"live {place}"
    if place.startswith("phone/"):
        return "browser"
    if place.startswith("app/ui/") or place.endswith("_system.py"):
        return "desktop"
    return f"interleavings {parameters}" if place == "bridge/pending/test_interleavings.py" else place


def rank(nodeid: str) -> int:
    """Where in the queue: the smaller, the earlier."""
    group = group_of(nodeid)
    return next((at for at, word in enumerate(FIRST) if group.startswith(word)), len(FIRST))


class GroupScheduling(LoadScopeScheduling):
    """xdist asks it which tests belong together."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
