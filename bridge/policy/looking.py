"""What a look at one program call is made of: findings, paths touched, the way to scripts inside scripts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from bridge.policy.classes import Finding, RiskClass
from bridge.policy.commands import Command, Dialect, Word
from bridge.policy.paths import Grounds, look_at
from bridge.texts import tr

PATHS_READ = 50
"""Arguments that are followed as paths; more count as reaching outside."""


class Judging(Protocol):
    """How a look judges scripts and commands inside the one it looks at."""

    @property
    def grounds(self) -> Grounds: ...

    def nested(self, word: Word, dialect: Dialect = Dialect.BASH) -> Iterator[Finding]: ...

    def words(self, name: Word, args: Sequence[Word], outer: Command) -> Iterator[Finding]: ...

    def made_here(self, file: Word) -> Iterator[Finding]:
        """What running a file means that the same script has written before."""


Look = Callable[[Command, Judging], Iterator[Finding]]


def read(reason: str = "", *, outside: bool = False) -> Finding:
    return Finding(RiskClass.READ, reason, is_outside=outside)


def executes(reason: str = "") -> Finding:
    return Finding(RiskClass.EXECUTE, reason)


def destructive(reason: str) -> Finding:
    return Finding(RiskClass.DESTRUCTIVE, reason)


def outside_reason(path: str, *, outside: bool) -> str:
    """What a card says about a path beyond the session's folder."""
    return tr("outside the folder: {path}", path=path) if outside else ""


def touched(judge: Judging, words: Sequence[Word], risk: RiskClass) -> Iterator[Finding]:
    """One finding per path; the first that lies outside is named."""
    is_write = risk is not RiskClass.READ
    for word in words[:PATHS_READ]:
        if word.text.startswith("-") or word.text == "":
            continue
        found = look_at(word.text, judge.grounds, is_write=is_write)
        if found is not None:
            yield found
        if not word.is_literal or not judge.grounds.is_inside(word.text):
            yield Finding(risk, outside_reason(word.text, outside=True), is_outside=True)
    yield Finding(risk, "", is_outside=len(words) > PATHS_READ)
