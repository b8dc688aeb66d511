"""Reads scripts for cmd.exe: no library does, and the grammar is small. Pure.

Carets are undone, ``&``, ``&&``, ``|``, ``||`` and parentheses part commands, ``for ... do`` and ``if`` give way to the
command they run.
"""

from __future__ import annotations

import re

from bridge.policy.commands import Command, Redirect, Script, Word

_CARET = re.compile(r"\^(\r?\n)?(.)?", re.DOTALL)
_TOKEN = re.compile(
    r'(?P<operator>&&|\|\||[&|()\n])|(?P<redirect>\d?>>?(?:&\d)?|<)|(?P<word>(?:"[^"]*"?|[^\s&|()<>"])+)'
)
_LATER = re.compile(r"%[^%\s]+%?|![^!\s]+!")


def read_cmd(text: str) -> Script:
    """The commands of a script or command line."""
    plain = _CARET.sub(lambda match: match[2] or "", text)
    commands: list[Command] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    feeders: tuple[Command, ...] = ()
    pending = ""
    for token in [*_TOKEN.finditer(plain), None]:
        operator = "\n" if token is None else token["operator"]
        if operator is None and token is not None:
            pending = take(token, words, redirects, pending)
            continue
        made = made_of(words, redirects, feeders)
        if made is not None:
            commands.append(made)
        feeders = (*feeders, made) if operator == "|" and made is not None else ()
        words, redirects, pending = [], [], ""
    return Script(tuple(commands))


def take(token: re.Match[str], words: list[Word], redirects: list[Redirect], pending: str) -> str:
    """One word or redirection; returns the redirection that still waits for its target."""
    if token["redirect"]:
        return "" if "&" in token["redirect"] else token["redirect"]
    word = word_of(token["word"])
    if pending:
        redirects.append(Redirect(word, is_write=">" in pending))
    else:
        words.append(word)
    return ""


def made_of(words: list[Word], redirects: list[Redirect], feeders: tuple[Command, ...]) -> Command | None:
    """The command these words make; ``for``, ``if`` and ``@`` are passed over."""
    while words:
        name = words[0].text.lower().lstrip("@")
        if name == "for":
            names = [word.text.lower() for word in words]
            words = words[names.index("do") + 1 :] if "do" in names else []
        elif name == "if":
            words = words[skipped_by_if([word.text.lower() for word in words]) :]
        elif name == "do":
            words = words[1:]
        else:
            words = [*parted(words[0]), *words[1:]]
            first = Word(words[0].text.lstrip("@"), words[0].is_literal)
            return Command(first, tuple(words[1:]), tuple(redirects), feeders)
    return Command(Word(":"), (), tuple(redirects), feeders) if redirects else None


BUILTINS = ("rd", "rmdir", "del", "erase", "copy", "move", "ren", "rename", "format", "dir")


def parted(word: Word) -> list[Word]:
    """``rd/s/q`` is ``rd /s /q``: cmd's own commands need no blank before a switch."""
    name, *switches = word.text.split("/")
    if not switches or name.lower().lstrip("@") not in BUILTINS:
        return [word]
    return [Word(name, word.is_literal), *(Word(f"/{switch}", word.is_literal) for switch in switches)]


def skipped_by_if(names: list[str]) -> int:
    """How many words a condition has."""
    at = 1
    while names[at : at + 1] and names[at] in ("not", "/i"):
        at += 1
    if names[at : at + 1] and names[at] in ("exist", "defined", "errorlevel"):
        return at + 2
    return at + 1 if "==" in "".join(names[at : at + 1]) else at + 3


def word_of(source: str) -> Word:
    """A word without its quotes."""
    text = source.replace('"', "")
    return Word(text, not _LATER.search(text))
