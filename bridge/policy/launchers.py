"""Programs that run another one because an option or a word of theirs says so: ``man -P``, ``rg --pre``, tmux. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bridge.policy.classes import Finding, names
from bridge.policy.commands import Command, Word
from bridge.policy.looking import Judging, destructive, executes
from bridge.policy.runners import deletes
from bridge.texts import tr

RUN_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "man": ("-P", "--pager", "-H", "--html"),
    "zip": ("-TT", "--unzip-command"),
    "rg": ("--pre", "--hostname-bin"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S",),
    "sftp": ("-S",),
    "split": ("--filter",),
    "sort": ("--compress-program",),
    "tcpdump": ("-z",),
    "flock": ("-c", "--command"),
    "git": ("-x", "--exec", "--extcmd", "--upload-pack", "--receive-pack", "-O", "--open-files-in-pager"),
}
"""The value of these options is a command."""
TOLD = names(
    """
    tmux screen xterm gnome-terminal konsole kitty wezterm alacritty watchexec entr nodemon concurrently chokidar
    expect fzf forfiles wt
    """
)
"""They run what stands among their words, in quotes or not."""
WAYS_TO_TELL = re.compile(
    r"^\s*(?:spawn|exec|system|/c)\b\s*|^[\w,-]+:(?:execute|become|reload)[\w-]*[(:]", re.IGNORECASE
)
DATABASE_SHELL = re.compile(r"(?:\\!|\.shell\b|\.system\b|^\s*(?:system|!)\s)\s*(.+)", re.DOTALL)
SHELL_NAMES = frozenset(("sh", "bash", "zsh", "dash", "cmd", "cmd.exe", "powershell", "pwsh"))


def runs_by_option(command: Command, judge: Judging) -> Iterator[Finding]:
    """The commands in a program's options."""
    options = RUN_OPTIONS.get(command.program, ())
    for word in values_of(command.args, options):
        yield executes()
        yield from judge.nested(word)
    if any(text.startswith("ext::") for text in command.texts):
        yield destructive(tr("makes git run a program"))


def values_of(args: Sequence[Word], options: Sequence[str]) -> Iterator[Word]:
    """What options are given: the next word, after ``=``, or written together with a short one."""
    for index, word in enumerate(args):
        for option in options:
            if word.text == option and index + 1 < len(args):
                yield args[index + 1]
            elif word.text.startswith(f"{option}="):
                yield Word(word.text[len(option) + 1 :], word.is_literal)
            elif len(option) == 2 and word.text.startswith(option):
                yield Word(word.text[2:], word.is_literal)


def told_among_words(command: Command, judge: Judging) -> Iterator[Finding]:
    """``tmux new -d 'rm -rf x'``, ``entr rm -rf x``."""
    yield executes()
    for index, word in enumerate(command.args):
        if command.program == "forfiles" and any(map(deletes, word.text.split())):
            yield destructive(tr("deletes what it finds"))
        if " " in word.text.strip():
            yield from judge.nested(Word(WAYS_TO_TELL.sub("", word.text).rstrip(")"), word.is_literal))
        elif deletes(word.text) or word.text.rsplit("/", 1)[-1] in SHELL_NAMES:
            yield from judge.words(word, command.args[index + 1 :], command)


def shells_of_databases(texts: Sequence[str], judge: Judging) -> Iterator[Finding]:
    r"""``psql -c '\! rm x'``, ``sqlite3 x '.shell rm x'``."""
    for text in texts:
        found = DATABASE_SHELL.search(text)
        if found is not None:
            yield from judge.nested(Word(found[1]))


def runs_of_git(args: Sequence[Word], judge: Judging) -> Iterator[Finding]:
    """``git bisect run``, ``git submodule foreach``."""
    texts = [word.text for word in args]
    for verb, start in (("bisect", "run"), ("submodule", "foreach")):
        if verb in texts and start in texts:
            rest = [word for word in args[texts.index(start) + 1 :] if word.text != "--recursive"]
            if len(rest) == 1:
                yield from judge.nested(rest[0])
            elif rest:
                yield from judge.words(rest[0], rest[1:], Command(rest[0]))


def makes(command: Command, judge: Judging) -> Iterator[Finding]:
    """``make``: runs what a file says, unless the file or the shell stands on the command line."""
    yield executes()
    for word in command.args:
        name, _, value = word.text.partition("=")
        if name in ("SHELL", ".SHELLFLAGS"):
            yield from judge.nested(Word(value, word.is_literal))
    if command.document is not None:
        yield from judge.nested(command.document)


def renames_cmdlets(command: Command, _judge: Judging) -> Iterator[Finding]:
    """``Set-Alias``: another name for a dangerous command hides every later use of it."""
    yield executes()
    if any(deletes(text) or text.lower() in ("iex", "invoke-expression") for text in command.texts):
        yield destructive(tr("gives a dangerous command another name"))
