"""What the commands tell a person at a terminal: the only place that writes to standard output."""

from __future__ import annotations

import json
import sys


def say(text: str = "") -> None:
    """One line, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say_json(value: object) -> None:
    """One JSON document for programs."""
    say(json.dumps(value, indent=2, ensure_ascii=False))


def complain(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
