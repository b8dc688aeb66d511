"""The bundle's way in: the program itself, or one of the small helpers that it starts as programs of their own.

A frozen application has no ``python -m``; it starts itself again with a hidden first argument instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from agents import hub_tools_program, reaper
from app import doctor


def _demo_agent() -> object:
    from agents.demo.program import main

    return main()


def helpers() -> Mapping[str, Callable[[], object]]:
    """Every hidden argument with what it starts."""
    from agents.demo.program import FLAG as DEMO_FLAG

    return {
        reaper.FLAG: reaper.main,
        hub_tools_program.FLAG: hub_tools_program.main,
        DEMO_FLAG: _demo_agent,
        doctor.QT_TRIAL_FLAG: doctor.try_qt,
    }


def main() -> int:
    """Run what the first argument says."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first.startswith("--") and (helper := helpers().get(first)) is not None:
        del sys.argv[1]
        result = helper()
        return result if isinstance(result, int) else 0
    from app.cli import main as hub

    return hub()


if __name__ == "__main__":
    raise SystemExit(main())
