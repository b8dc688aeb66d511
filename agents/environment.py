"""What an agent's process may see of the hub's environment: an allow-list, so that no token leaks by inheritance.

Pure. It never reads settings and never adds a secret by itself; an agent's own key comes in through ``extra``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_ALLOWED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "COLORTERM",
        "TMPDIR",
        "TMP",
        "TEMP",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NODE_EXTRA_CA_CERTS",
        # git and ssh of the person's own login: an agent that commits or pushes needs them.
        "SSH_AUTH_SOCK",
        "GPG_TTY",
        # Without these Windows programs can't find their own libraries, folders and users.
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
        "COMSPEC",
        "PATHEXT",
        "APPDATA",
        "LOCALAPPDATA",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "PROGRAMW6432",
        "COMMONPROGRAMFILES",
        "USERPROFILE",
        "USERNAME",
        "USERDOMAIN",
        "HOMEDRIVE",
        "HOMEPATH",
        "PUBLIC",
        "NUMBER_OF_PROCESSORS",
        "PROCESSOR_ARCHITECTURE",
        "OS",
    }
)
_ALLOWED_PREFIXES = ("LC_", "XDG_")
_SESSION_BUS = frozenset({"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"})
"""Ways to the session bus, and over it to the keyring that holds the bot token. libdbus and GLib look for the socket in
the second when the first is missing, so both stay behind. A hurdle, no wall: the socket's usual place is known.
"""
_OWN_PREFIX = "AGENT_HUB_"


def is_inherited(name: str) -> bool:
    """Whether a child may see the hub's variable of this name. Windows and proxy names count in any case."""
    upper = name.upper()
    if upper.startswith(_OWN_PREFIX) or upper in _SESSION_BUS:
        return False
    return upper in _ALLOWED or upper.startswith(_ALLOWED_PREFIXES)


def child_environment(
    extra: Mapping[str, str] | None = None, inherited: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of an agent: what the allow-list passes, then ``extra`` on top.

    ``inherited`` is the hub's own environment unless a test hands another one in. A variable of the hub itself
    (``AGENT_HUB_...``) is dropped even from ``extra``: it could carry the bot token.
    """
    source = os.environ if inherited is None else inherited
    environment = {name: value for name, value in source.items() if is_inherited(name)}
    added = {name: value for name, value in (extra or {}).items() if not name.upper().startswith(_OWN_PREFIX)}
    return environment | added
