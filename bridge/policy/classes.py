"""What can be said about a request before a person sees it: its class, why, and what the settings make of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class RiskClass(StrEnum):
    """What a request can do, mildest first. EXECUTE is also the class of every tool nobody knows."""

    READ = "read"
    EDIT = "edit"
    NETWORK = "network"
    EXECUTE = "execute"
    DESTRUCTIVE = "destructive"


SEVERITY = {risk: rank for rank, risk in enumerate(RiskClass)}
"""A compound request has the class of its worst part."""


class Mode(StrEnum):
    """What the hub does with a class of requests."""

    ASK = "ask"
    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class OwnClass:
    """A class of the user's own ("production"). ``tool`` and ``subject`` are wildcards (``*``, ``?``), any case.

    ``needs_second_step`` treats it like a destructive request: "Really run", and no scope covers it.
    """

    name: str
    tool: str = "*"
    subject: str = "*"
    mode: Mode = Mode.ASK
    needs_second_step: bool = False


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The user's settings. A class that is not in ``modes`` asks; reads inside the session's folder pass.

    ``guarded`` are the hub's own files and folders (settings, data, program): touching them is destructive.
    """

    modes: Mapping[RiskClass, Mode] = field(default_factory=dict)
    own_classes: tuple[OwnClass, ...] = ()
    guarded: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was noticed: the class it means and the reason in a few words for a person.

    ``is_outside``: it reaches beyond the session's folder, or may do so.
    """

    risk: RiskClass
    reason: str = ""
    is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict of the policy on one request.

    ``mode`` is what the settings say; ALLOW never comes with ``needs_second_step``. ``is_inside``: every path it names
    lies inside the session's folder. ``reasons`` are short sentences for the card's risk mark.
    """

    risk: RiskClass
    mode: Mode
    reasons: tuple[str, ...] = ()
    is_inside: bool = True
    needs_second_step: bool = False
    own_class: str = ""

    @property
    def label(self) -> str:
        """The name of the class as the settings call it."""
        return self.own_class or self.risk.value


def names(text: str) -> frozenset[str]:
    """A set of names written with blanks between."""
    return frozenset(text.split())
