"""Judges scripts: every command a parser found, and scripts inside scripts (``bash -c``, ``eval``, here-documents).

Pure. Where something is known only when it runs, the judgement is the worse one.
"""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence

from bridge.policy.bash import read_bash
from bridge.policy.classes import Finding, RiskClass
from bridge.policy.cmd import read_cmd
from bridge.policy.code import look_at_code
from bridge.policy.commands import Command, Dialect, Script, Word
from bridge.policy.deeds import downloads_to, look_at_program
from bridge.policy.paths import Grounds
from bridge.policy.powershell import read_powershell
from bridge.policy.runners import deletes, put_out
from bridge.texts import tr

DEPTH = 6
"""Scripts inside scripts; deeper ones are called hidden."""
BREADTH = 100
"""Scripts inside one request; more are a maze nobody should have to read."""
LENGTH = 60_000
"""Characters of a script that are read; a longer one is judged as a thing nobody read to the end."""

FOLDER_CHANGES = frozenset(("cd", "chdir", "pushd", "set-location", "sl"))
READERS = {Dialect.BASH: read_bash, Dialect.POWERSHELL: read_powershell, Dialect.CMD: read_cmd}
_CMDLET = re.compile(
    r"(?<![\w-])[A-Z][a-zA-Z]+-[A-Z][A-Za-z]+\b|\$env:|\|\s*(iex|%|\?|select|where)\b|\biex\b|\[[A-Za-z][\w.]+\]::"
)
_JOINED = re.compile(r"(?<=\S)[\\^`]\r?\n(?=\S)")
"""A line goes on in the middle of a word; elsewhere the parsers see to it, and in a comment it means nothing."""
SCRIPT_ENDINGS = (".bat", ".cmd", ".ps1", ".exe", ".vbs", ".sh")
_CMD_SIGNS = re.compile(r"%[A-Za-z_]\w*%|\^|\s/[a-zA-Z]\b|\bif exist\b", re.IGNORECASE)
_DANGEROUS_WORDS = re.compile(
    r"(?<![\w-])(rm|rmdir|rd|del|erase|dd|mkfs[.\w]*|shred|format|sudo|shutdown|reboot|diskpart|Remove-Item|iex|eval)(?![\w-])"
    r"|push\s.*(--force|-f\b)|reset\s+--hard|/dev/(sd|nvme|disk)|\|\s*(ba|z|da|k)?sh\b",
    re.IGNORECASE,
)


class ScriptJudge:
    """Looks at scripts that would run on some grounds."""

    def __init__(self, grounds: Grounds, outer: ScriptJudge | None = None) -> None:
        self.grounds = grounds
        self._depth: int = outer._depth + 1 if outer else 0
        self._made: list[int] = outer._made if outer else [0]
        self._made[0] += 1
        self._written: dict[str, Word | None] = {}

    def judge(self, text: str, dialect: Dialect) -> list[Finding]:
        """Everything noticed in a script; never empty."""
        found: list[Finding] = []
        for form in forms_of(text):
            for each in dialects_of(form, dialect):
                found += self._judge(form, each)
        if self.grounds.mentions_guarded(text):
            found.append(Finding(RiskClass.DESTRUCTIVE, tr("names the hub's own files")))
        return found or [Finding(RiskClass.EXECUTE)]

    def nested(self, word: Word, dialect: Dialect = Dialect.BASH) -> Iterator[Finding]:
        """A script inside an argument."""
        if self._is_too_deep:
            yield Finding(RiskClass.DESTRUCTIVE, tr("a command hidden too deep to read"))
            return
        yield from ScriptJudge(self.grounds, self).judge(word.text, dialect)
        if not word.is_literal and self._is_made_at_run_time(word.text):
            yield Finding(RiskClass.DESTRUCTIVE, tr("runs a command that is not written here"))

    def words(self, name: Word, args: Sequence[Word], outer: Command) -> Iterator[Finding]:
        """A command given as words after another one (``env``, ``xargs``, ``sudo``)."""
        if self._is_too_deep:
            yield Finding(RiskClass.DESTRUCTIVE, tr("a command hidden too deep to read"))
            return
        inner = Command(name, tuple(args), (), outer.feeders, outer.document)
        yield from ScriptJudge(self.grounds, self).command(inner)

    def command(self, command: Command) -> Iterator[Finding]:
        """One simple command."""
        if not command.name.is_literal:
            yield from self._unnamed(command)
        if " " in command.name.text.strip() and command.name.is_literal:  # a variable that held a whole command
            yield from self.nested(Word(" ".join((command.name.text, *command.texts))))
        name = command.name.text
        if "/" in name or "\\" in name or name.lower().endswith(SCRIPT_ENDINGS):
            yield from self.made_here(command.name)
        yield from look_at_program(command, self)
        self._remember(command)

    def made_here(self, file: Word) -> Iterator[Finding]:
        """Running a file that the same script has written: its text is judged, or called hidden."""
        place = self._place(file)
        if place not in self._written:
            return
        text = self._written[place]
        if text is None:
            yield Finding(RiskClass.DESTRUCTIVE, tr("runs what another program puts out"))
        else:
            yield from self.nested(text)
            yield from look_at_code(text.text, self)

    def _remember(self, command: Command) -> None:
        text = put_out(command)
        targets = [redirect.target for redirect in command.redirects if redirect.is_write]
        if command.program == "tee":
            targets += [word for word in command.args if not word.text.startswith("-")]
            text = put_out(command.feeders[-1]) if command.feeders else None
        for target in [*targets, *downloads_to(command)]:
            self._written[self._place(target)] = text

    def _place(self, file: Word) -> str:
        return self.grounds.place(file.text.replace("\\", "/"))

    # --- inside

    @property
    def _is_too_deep(self) -> bool:
        return self._depth >= DEPTH or self._made[0] >= BREADTH

    def _judge(self, text: str, dialect: Dialect) -> Iterator[Finding]:
        if len(text) > LENGTH or "\0" in text:
            yield Finding(RiskClass.DESTRUCTIVE, tr("too long to be read to the end"))
            return
        script: Script = READERS[dialect](text)
        yield from script.findings
        for command in script:
            yield from self.command(command)
            if command.program in FOLDER_CHANGES:
                self._follow(command)
        if not script.is_clean:
            yield Finding(RiskClass.EXECUTE, tr("could not be read completely"))
            if _DANGEROUS_WORDS.search(text) or _DANGEROUS_WORDS.search(re.sub(r"[`^\\]", "", text)):
                yield Finding(RiskClass.DESTRUCTIVE, tr("could not be read completely, and holds dangerous words"))

    def _follow(self, command: Command) -> None:
        """After ``cd x`` relative paths mean something else; what can't be told lies nowhere."""
        plain = [word for word in command.args if not word.text.startswith("-")]
        if plain and plain[0].is_literal:
            self.grounds = self.grounds.anew(self.grounds.place(plain[0].text))
        elif plain:
            self.grounds = self.grounds.anew(os.path.abspath(os.sep))  # noqa: PTH100

    def _unnamed(self, command: Command) -> Iterator[Finding]:
        """The program's name is known only when it runs."""
        yield Finding(RiskClass.EXECUTE, tr("the program's name is not written here"))
        text = command.name.text
        looks_bad = command.has("-r", "-R", "-f", "--recursive", "--force") or "$(" in text or "`" in text
        is_built = any(mark in text for mark in ("@", "!", "#", "%", "*", "?")) and text not in ("$?", "$!")
        if looks_bad or is_built:
            yield Finding(RiskClass.DESTRUCTIVE, tr("hides which program runs"))
        args = command.args
        if args and deletes(args[0].text):  # $SUDO rm x
            yield from self.words(args[0], args[1:], command)
        for option, script in itertools.pairwise(args):
            if option.text in ("-c", "-lc", "-ec"):  # $SHELL -c TEXT
                yield from self.nested(script)

    @staticmethod
    def _is_made_at_run_time(text: str) -> bool:
        """Whether the script consists of values only, so that nothing of it could be read."""
        return bool(re.match(r"""\s*["']?(\$|`|%|@|\\?\()""", text))


def forms_of(text: str) -> Sequence[str]:
    """The text as it stands, with words joined over the ends of lines, and with look-alike letters made plain."""
    joined = _JOINED.sub("", text)
    forms = [text, joined]
    if not joined.isascii():
        forms.append(unicodedata.normalize("NFKC", joined))
    return tuple(dict.fromkeys(forms))


def dialects_of(text: str, dialect: Dialect) -> list[Dialect]:
    """The dialect that was told, and others the text looks like: an agent does not always say which shell it uses."""
    found = [dialect]
    if dialect is not Dialect.POWERSHELL and _CMDLET.search(text):
        found.append(Dialect.POWERSHELL)
    if dialect is not Dialect.CMD and _CMD_SIGNS.search(text):
        found.append(Dialect.CMD)
    if dialect is Dialect.CMD and Dialect.POWERSHELL not in found and _CMDLET.search(text):
        found.append(Dialect.POWERSHELL)
    return found
