"""What holds for every test: generated cases have no deadline, and in CI they are the same each time.

With several workers (``-n 2 --dist loadgroup``) tests that share something stay together, the long ones first.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import settings

from bridge.texts import set_language
from tests.parts import IN_CI, missing, qt_trouble

# A busy computer would fail a deadline by chance; a new seed in CI would fail somebody else's change.
settings.register_profile("house", deadline=None, derandomize=IN_CI)
settings.load_profile("house")

TESTS = Path(__file__).parent
KINDS = ("claude", "codex", "qwen", "hermes", "opencode", "demo")


def group_of(place: str, name: str, *, is_system: bool) -> str:
    """Which tests one worker runs after each other.

    One real agent of a kind at a time; one window, tray, keyring and bus at a time; one browser at a time; and a file
    is never split, because what is made once for it would be made twice.
    """
    if place.startswith("live/"):
        words = f"{name.partition('[')[2]} {place}".replace("-", " ").replace("_", " ").replace("]", " ")
        kind = next((word for word in words.replace(".", " ").split() if word in KINDS), place)
        return f"live {kind}"
    if place.startswith("phone/"):
        return "browser"
    return "desktop" if is_system or place.startswith("app/ui/") else place


NEEDS_QT = re.compile(r"^(?:from|import) (?:PySide6|pytestqt|app\.ui)", re.MULTILINE)
QT_TROUBLE = qt_trouble()


class WithoutQt(pytest.Module):
    """A file of tests that can't even be imported here."""

    def collect(self) -> list[pytest.Item]:
        missing(QT_TROUBLE, is_module=True)
        return []


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Where Qt lacks a library of the system, its plugin would end the whole run with a traceback."""
    if QT_TROUBLE and pluginmanager.has_plugin("pytest-qt"):
        pluginmanager.unregister(name="pytest-qt")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """None: as usual."""
    if QT_TROUBLE and NEEDS_QT.search(module_path.read_text(encoding="utf-8")):
        return WithoutQt.from_parent(parent, path=module_path)
    return None


@pytest.fixture(autouse=True)
def _english() -> None:
    """The language is one for the whole process; a test that chose another must not choose it for those after it."""
    set_language("en")


FIRST = ("interleavings", "live", "browser", "desktop")
"""What takes minutes, so that no worker is left with it alone at the end."""


def rank(group: str) -> int:
    return next((at for at, word in enumerate(FIRST) if group.startswith(word)), len(FIRST))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Name each test's group; order them only for workers: a single process keeps the order of the files."""
    ranks: dict[str, int] = {}
    for item in items:
        marker = item.get_closest_marker("xdist_group")
        if marker is None:
            place = item.path.relative_to(TESTS).as_posix()
            group = group_of(place, item.name, is_system=item.get_closest_marker("system") is not None)
            item.add_marker(pytest.mark.xdist_group(group))
        else:
            group = str(marker.args[0])
        ranks[item.nodeid] = rank(group)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: ranks[item.nodeid])
