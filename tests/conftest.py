"""What holds for every test: generated cases have no deadline, and in CI they are the same each time.

With several workers (``-n 2``) tests that share something stay together, the long ones first (``tests.workers``).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from bridge.texts import set_language
from tests.parts import IN_CI, missing, qt_trouble

# A busy computer would fail a deadline by chance; a new seed in CI would fail somebody else's change.
settings.register_profile("house", deadline=None, derandomize=IN_CI)
settings.load_profile("house")

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """For several workers; without xdist nobody calls this."""
    from tests.workers import GroupScheduling

    return GroupScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Workers take the long ones first; a single process keeps the order of the files."""
    if hasattr(config, "workerinput"):
        from tests.workers import rank

        items.sort(key=lambda item: rank(item.nodeid))
