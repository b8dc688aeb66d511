"""The bundle's way in: the program itself, or one of the small helpers that it starts as programs of their own.

A frozen application has no ``python -m``; it starts itself again with a hidden first argument instead. Nothing is
imported before that is known: a helper that carried the whole hub would cost its memory, and ``--version`` its time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping


def _reaper() -> None:
    from agents import reaper

    reaper.main()


def _hub_tools() -> object:
    from agents import hub_tools_program

    return hub_tools_program.main()


def _demo_agent() -> object:
    from agents.demo import program

    return program.main()


def _qt_trial() -> None:
    from app import doctor

    doctor.try_qt()


HELPERS: Mapping[str, Callable[[], object]] = {
    "--reaper": _reaper,
    "--hub-tools": _hub_tools,
    "--demo-agent": _demo_agent,
    "--qt-trial": _qt_trial,
}
"""Every hidden argument with what it starts; the modules that start them name the same words."""


def main() -> int:
    """Run what the first argument says."""
    helper = HELPERS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if helper is not None:
        del sys.argv[1]
        result = helper()
        return result if isinstance(result, int) else 0
    from app.cli import main as hub

    return hub()


if __name__ == "__main__":
    raise SystemExit(main())
