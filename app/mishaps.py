"""How a command of ``agent-hub`` that failed tells it: what happened and what to do, never a bare traceback."""

from __future__ import annotations

import sys
import traceback

from agents.contract import HubError
from app.console import complain
from app.logs import redactor
from bridge.texts import told, tr


def say_error(error: HubError, *, verbose: bool) -> int:
    """Tell a problem that has a name; returns the exit code."""
    complain(f"agent-hub: {told(error.title)}")
    if error.hint:
        complain(f"  {told(error.hint)}")
    if error.detail and verbose:
        complain(f"  ({error.detail})")
    return 1


def say_fault(error: Exception, *, verbose: bool) -> int:
    """Tell what nobody foresaw; returns the exit code. A hub that already ran leaves a crash file, too."""
    keeps_crashes = sys.excepthook is not sys.__excepthook__
    if keeps_crashes:
        sys.excepthook(type(error), error, error.__traceback__)
    code = say_error(named(error), verbose=False)
    if verbose and not keeps_crashes:
        complain(redactor.clean("".join(traceback.format_exception(error))))
    return code


def named(error: Exception) -> HubError:
    """The error in words for a person."""
    if isinstance(error, EOFError):
        return HubError(tr("The input has ended before everything was answered."), tr("Run the command in a terminal."))
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return HubError(
            f"{place}{error.strerror}", tr("Check that the place exists, may be written and has free space.")
        )
    return HubError(
        tr("The program met an error of its own: {name}.", name=type(error).__name__),
        tr("Run it again as “agent-hub --verbose …” to see where, and report that, please."),
    )
