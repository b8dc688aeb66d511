"""Environment variables that make a harmless program run something else: ``PAGER``, ``GIT_SSH_COMMAND``... Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.policy.classes import Finding, names
from bridge.policy.commands import Word
from bridge.policy.looking import Judging, destructive, executes
from bridge.texts import tr

HOLD_COMMANDS = names(
    """
    PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS
    SSH_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND LESSOPEN LESSCLOSE PROMPT_COMMAND BROWSER RSYNC_RSH
    """
)
"""Their value is run by the program that reads them."""
LOAD_CODE = names("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV PERL5OPT RUBYOPT PYTHONSTARTUP GIT_EXEC_PATH")
"""Their value names code that is loaded into whatever runs. (``ENV`` would be one, but programs use it for words.)"""
WATCHED = HOLD_COMMANDS | LOAD_CODE


def look_at_variable(name: str, value: Word, judge: Judging) -> Iterator[Finding]:
    """What setting one variable for a program means."""
    yield executes()
    if name in LOAD_CODE:
        yield destructive(tr("loads other code into the program"))
    elif name in HOLD_COMMANDS:
        yield from judge.nested(value)
