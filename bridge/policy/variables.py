"""Environment variables that make a harmless program run something else: ``PAGER``, ``GIT_SSH_COMMAND``... Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.policy.classes import Finding
from bridge.policy.commands import Word
from bridge.policy.looking import Judging, destructive, executes
from bridge.texts import tr

HOLD_COMMANDS = frozenset(
    [
        "PAGER",
        "GIT_PAGER",
        "MANPAGER",
        "EDITOR",
        "VISUAL",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH_COMMAND",
        "GIT_SSH",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "GIT_EXTERNAL_DIFF",
        "GIT_PROXY_COMMAND",
        "LESSOPEN",
        "LESSCLOSE",
        "PROMPT_COMMAND",
        "BROWSER",
        "RSYNC_RSH",
    ]
)
"""Their value is run by the program that reads them."""
LOAD_CODE = frozenset(
    [
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_LIBRARY_PATH",
        "BASH_ENV",
        "ENV",
        "PERL5OPT",
        "PERL5DB",
        "RUBYOPT",
        "PYTHONSTARTUP",
        "GIT_EXEC_PATH",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
    ]
)
"""Their value names code that is loaded into whatever runs."""
WATCHED = HOLD_COMMANDS | LOAD_CODE


def look_at_variable(name: str, value: Word, judge: Judging) -> Iterator[Finding]:
    """What setting one variable for a program means."""
    yield executes()
    if name in LOAD_CODE:
        yield destructive(tr("loads other code into the program"))
    elif name in HOLD_COMMANDS:
        yield from judge.nested(value)
