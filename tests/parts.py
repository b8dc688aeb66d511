"""Parts of the system that some tests need: found, or the test skips and says why - in CI it fails instead."""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest

IN_CI = os.environ.get("AGENT_HUB_CI") == "1"
"""Set by .ci/run, which installs every part: there a missing one is a failure."""

NPM_PROGRAMS = {"claude", "codex", "qwen", "opencode", "node"}
HERMES_PROGRAMS = {"hermes", "hermes-acp"}


def missing(reason: str, *, is_module: bool = False) -> None:
    """Skip on a user's machine, fail in CI."""
    if IN_CI:
        pytest.fail(f"CI must have it: {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=is_module)


def qt_trouble() -> str:
    """Why no window can be tested here, "" if it can: the wheels of Qt need libraries of the system."""
    try:
        importlib.import_module("PySide6.QtWidgets")
        importlib.import_module("PySide6.QtSvg")
    except ImportError as error:
        return f"needs Qt, which does not start here: {error}"
    return ""


def find_program(name: str) -> Path | None:
    """Where a program is: the folders made for the tests first, then PATH."""
    folders = []
    clis, hermes = os.environ.get("AGENT_HUB_TEST_CLIS"), os.environ.get("AGENT_HUB_TEST_HERMES")
    if clis and name in NPM_PROGRAMS:
        folders.append(str(Path(clis) / "node_modules" / ".bin"))
    if hermes and name in HERMES_PROGRAMS:
        folders.append(str(Path(hermes) / "bin"))
    for folder in [*folders, None]:
        found = shutil.which(name, path=folder)
        if found:
            return Path(found)
    return None


def require_program(name: str) -> Path:
    """The program, or the test ends here."""
    found = find_program(name)
    if found is None:
        missing(f"needs the program {name!r}, which is not on this computer")
    assert found is not None
    return found


def require_module(name: str) -> ModuleType:
    """The library, or the test ends here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing(f"needs the library {name!r}: {error}")
        raise


def require_display() -> None:
    """An X display, or the test ends here."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        missing("needs a display (run under xvfb-run)")


def require_session_bus() -> None:
    """A D-Bus session bus, or the test ends here."""
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        missing("needs a session bus (run under dbus-run-session)")
