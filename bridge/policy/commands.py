"""What a parser finds in a script, the same for every shell: simple commands with their words. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from bridge.policy.classes import Finding

ENDINGS = (".exe", ".cmd", ".bat", ".com")


class Dialect(StrEnum):
    """Which shell reads a script."""

    BASH = "bash"
    POWERSHELL = "powershell"
    CMD = "cmd"


@dataclass(frozen=True, slots=True)
class Word:
    """One word after unquoting. ``is_literal`` False: a part of it is known only when it runs."""

    text: str
    is_literal: bool = True


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where output goes or input comes from."""

    target: Word
    is_write: bool


@dataclass(frozen=True, slots=True)
class Command:
    """One program call. ``feeders`` stand before it in its pipeline; ``document`` is its here-document."""

    name: Word
    args: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    feeders: tuple[Command, ...] = ()
    document: Word | None = None
    variables: tuple[tuple[str, Word], ...] = ()
    """Set for this call only."""

    @property
    def program(self) -> str:
        """The program's bare name: no folder, no .exe, lower case."""
        name = self.name.text.replace("\\", "/").rsplit("/", 1)[-1].lower().removeprefix("=")  # zsh: =rm
        for ending in ENDINGS:
            name = name.removesuffix(ending)
        return name

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.args)

    def plain(self) -> tuple[str, ...]:
        """Arguments that are not options."""
        return tuple(text for text in self.texts if not text.startswith("-"))

    def has(self, *options: str) -> bool:
        """Whether one of these options is there, also bundled (``-rf`` has ``-r``) or with a value (``--x=1``)."""
        return any(matches(text, option) for text in self.texts for option in options)


def matches(text: str, option: str) -> bool:
    """Whether an argument is, bundles or begins this option."""
    if text == option:
        return True
    if option.startswith("--"):
        return text.startswith(option + "=")
    is_bundle = option.startswith("-") and len(option) == 2 and text.startswith("-") and not text.startswith("--")
    return is_bundle and option[1] in text[1:]


@dataclass(frozen=True, slots=True)
class Script:
    """All simple commands of a script in order, nested ones included, and what the parser itself noticed."""

    commands: tuple[Command, ...]
    findings: tuple[Finding, ...] = ()
    is_clean: bool = True

    def __iter__(self) -> Iterator[Command]:
        return iter(self.commands)
