"""``agent-hub lock setup``: a secret for the authenticator app, shown as a QR code, proven by a code, then kept.

A secret that is there already must be proven before it is replaced: an agent with a shell must not give itself the key.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyotp
import segno

from agents.contract import HubError
from app import secrets
from app.console import say
from app.paths import folders
from bridge.lock import new_secret, provisioning_uri, usable
from bridge.texts import tr


def lock_setup_command(data_dir: Path | None) -> int:
    """Ask, show, prove, store; returns the exit code. Raises HubError."""
    if not sys.stdin.isatty():
        raise HubError(tr("The lock is set up by a person at a terminal."), tr("Open a terminal: agent-hub lock setup"))
    place = folders(data_dir)
    former = usable(secrets.read_lock_secret(place))
    if former is not None:
        say(tr("A secret is set up already. To replace it, prove it first."))
        ask_for_code(former)
    secret = new_secret()
    say(tr("Scan this with your authenticator app:"))
    segno.make(provisioning_uri(secret, place.instance or "hub"), error="m").terminal(out=sys.stdout, compact=True)
    say(tr("Or type this secret into it: {secret}", secret=secret))
    ask_for_code(pyotp.TOTP(secret))
    secrets.store_lock_secret(secret, place)
    say(tr("Kept in the keyring. Switch the lock on in the window under Settings, or set lock.enabled = true."))
    return 0


def ask_for_code(totp: pyotp.TOTP) -> None:
    """Raises HubError unless the person types a code that is valid now."""
    sys.stdout.write(tr("Code of the app: "))
    sys.stdout.flush()
    if not totp.verify(sys.stdin.readline().strip().replace(" ", ""), valid_window=1):
        raise HubError(
            tr("That code is not right; nothing was changed."), tr("Check the clock of the phone and try again.")
        )
