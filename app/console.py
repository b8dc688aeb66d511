"""What the commands tell a person at a terminal: the only place that writes to standard output."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TextIO

from agents.contract import HubError
from bridge.texts import tr


class OutputGoneError(Exception):
    """Nobody reads any more what a command prints, as behind ``| head -1``."""


def say(text: str = "") -> None:
    """One line, at once. Raises OutputGoneError, or HubError when the line can't be written."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go(sys.stdout)
        raise OutputGoneError from None
    except OSError as error:
        _let_go(sys.stdout)
        raise HubError(
            tr("The output can't be written: {problem}.", problem=error.strerror),
            tr("Let it go to another place, or free some disk space."),
        ) from error


def say_json(value: object) -> None:
    """One JSON document for programs."""
    say(json.dumps(value, indent=2, ensure_ascii=False))


def complain(text: str) -> None:
    """One line on standard error; where that is gone, nobody is left to be told."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        _let_go(sys.stderr)


def open_streams() -> None:
    """Standard streams that can take everything: every language, and none missing.

    A program without a console (a window on Windows, ``>&-``) has None for them; the first file that is opened would
    also take their place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - to the program's end
        elif name != "stdin" and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _let_go(stream: TextIO) -> None:
    """Send the rest to nowhere: the interpreter flushes once more at its end, and would complain."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
    except (OSError, io.UnsupportedOperation, AttributeError):  # not a stream of the system: nothing is flushed
        return
