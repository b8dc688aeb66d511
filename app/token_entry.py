"""``agent-hub token``: takes the bot token from a prompt or a pipe.

Never from an argument, where other programs of this computer could read it.
"""

from __future__ import annotations

import getpass
import sys
from pathlib import Path

from app import secrets
from app.console import say
from app.paths import folders
from bridge.texts import tr


def token_command(data_dir: Path | None, *, forget: bool, allow_plaintext: bool) -> int:
    """Store or delete the token; returns the exit code."""
    place = folders(data_dir)
    if forget:
        secrets.forget(place)
        say(tr("The stored token is deleted."))
        return 0
    value = getpass.getpass(tr("Bot token (not shown): ")) if sys.stdin.isatty() else sys.stdin.readline()
    source = secrets.store(value, place, allow_plaintext=allow_plaintext)
    say(secrets.kept_text(source))
    return 0
