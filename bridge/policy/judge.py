"""Puts a permission request into its class and looks up what the settings make of it.

Pure but for ``resolve``, which follows symbolic links (handed in, so that tests need no files). What can't be told for
sure is put into the worse class.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from agents.contract import PermissionRequest, ToolKind
from bridge.policy.classes import SEVERITY, Assessment, Finding, Mode, OwnClass, PolicySettings, RiskClass
from bridge.policy.commands import Dialect
from bridge.policy.looking import outside_reason
from bridge.policy.paths import Grounds, look_at, within
from bridge.policy.script import ScriptJudge
from bridge.texts import tr
from bridge.unseen import has_unseen

_OPERATORS = re.compile(r"[;&|\n`<>]|\$\(")
"""A pattern like "npm test*" must not let "npm test && something else" pass."""
GROUNDS_KEPT = 200
"""Folders whose links are followed once only."""
REASONS = 3
"""Reasons a card names."""
KIND_CLASSES = {
    ToolKind.READ: RiskClass.READ,
    ToolKind.EDIT: RiskClass.EDIT,
    ToolKind.NETWORK: RiskClass.NETWORK,
    ToolKind.EXECUTE: RiskClass.EXECUTE,
    ToolKind.OTHER: RiskClass.EXECUTE,
}


class Judge:
    """Assesses requests under one set of settings."""

    def __init__(
        self,
        settings: PolicySettings,
        *,
        reads_pass: bool = True,
        resolve: Callable[[str], str] = os.path.realpath,
    ) -> None:
        self._settings = settings
        self._reads_pass = reads_pass
        self._resolve = resolve
        self._known: dict[tuple[Path, Path], Grounds] = {}

    def assess(self, ask: PermissionRequest, folder: Path) -> Assessment:
        """The class of ``ask`` for a session that works in ``folder``."""
        grounds = self._grounds(folder, ask.cwd)
        try:
            findings = tuple(dict.fromkeys(self._findings(ask, grounds)))
        except (RecursionError, ValueError):  # made to be unreadable, or by accident: nobody can say what it does
            findings = (Finding(RiskClass.DESTRUCTIVE, tr("could not be read"), is_outside=True),)
        risk = max((finding.risk for finding in findings), key=SEVERITY.__getitem__)
        own = self._own_class(ask)
        needs_second_step = risk is RiskClass.DESTRUCTIVE or (own is not None and own.needs_second_step)
        is_inside = not any(finding.is_outside for finding in findings)
        mode = self._mode(ask, risk, own, is_inside=is_inside)
        return Assessment(
            risk=risk,
            mode=Mode.ASK if needs_second_step and mode is Mode.ALLOW else mode,
            reasons=reasons_for(findings, risk),
            is_inside=is_inside,
            needs_second_step=needs_second_step,
            own_class=own.name if own else "",
        )

    def _grounds(self, folder: Path, cwd: Path) -> Grounds:
        known = self._known.get((folder, cwd))
        if known is None:
            if len(self._known) >= GROUNDS_KEPT:
                self._known.clear()
            known = Grounds.of(folder, cwd, self._settings.guarded, self._resolve)
            self._known[folder, cwd] = known
        return known.anew()

    def _findings(self, ask: PermissionRequest, grounds: Grounds) -> Iterator[Finding]:
        if ask.kind is ToolKind.EXECUTE and ask.subject:
            yield from ScriptJudge(grounds).judge(ask.subject, dialect_of(ask.tool))
            if has_unseen(ask.subject):
                yield Finding(RiskClass.DESTRUCTIVE, tr("holds characters that can't be seen"))
            return
        risk = KIND_CLASSES[ask.kind]
        if ask.kind in (ToolKind.READ, ToolKind.EDIT):
            yield from paths_of(ask, grounds, risk)
        else:
            yield Finding(risk)
        if grounds.mentions_guarded(ask.arguments) or grounds.mentions_guarded(ask.subject):
            yield Finding(RiskClass.DESTRUCTIVE, tr("names the hub's own files"))

    def _own_class(self, ask: PermissionRequest) -> OwnClass | None:
        for own in self._settings.own_classes:
            tool_fits = fnmatchcase(ask.tool.casefold(), own.tool.casefold())
            if tool_fits and fnmatchcase(ask.subject.casefold(), own.subject.casefold()):
                return own
        return None

    def _mode(self, ask: PermissionRequest, risk: RiskClass, own: OwnClass | None, *, is_inside: bool) -> Mode:
        mode = own.mode if own else self._settings.modes.get(risk)
        if mode is None:
            # A shell command that only looks still asks until the user lets the whole class pass.
            is_plain_read = ask.kind is ToolKind.READ and risk is RiskClass.READ
            mode = Mode.ALLOW if is_plain_read and self._reads_pass else Mode.ASK
        is_beyond = risk in (RiskClass.READ, RiskClass.EDIT) and not is_inside
        is_compound = own is not None and ask.kind is ToolKind.EXECUTE and bool(_OPERATORS.search(ask.subject))
        return Mode.ASK if mode is Mode.ALLOW and (is_beyond or is_compound) else mode


def paths_of(ask: PermissionRequest, grounds: Grounds, risk: RiskClass) -> Iterator[Finding]:
    """What the path of a read or an edit says; without a path nothing is inside."""
    path = ask.subject.strip()
    if not path:
        yield Finding(risk, is_outside=True)
        return
    found = look_at(path, grounds, is_write=risk is RiskClass.EDIT)
    if found is not None:
        yield found
    outside = not within(grounds.place(path), grounds.folder)
    yield Finding(risk, outside_reason(path, outside=outside), is_outside=outside)


def dialect_of(tool: str) -> Dialect:
    """Which shell a tool runs, as far as its name says."""
    name = tool.lower()
    if "powershell" in name or "pwsh" in name:
        return Dialect.POWERSHELL
    return Dialect.CMD if name in ("cmd", "cmd.exe", "batch") else Dialect.BASH


def reasons_for(findings: Sequence[Finding], risk: RiskClass) -> tuple[str, ...]:
    """The reasons of the worst findings first, at most three; milder ones only where there is no worse."""
    worst = [finding.reason for finding in findings if finding.reason and finding.risk is risk]
    others = [finding.reason for finding in findings if finding.reason and finding.risk is not risk]
    kept = worst if risk is RiskClass.DESTRUCTIVE else [*worst, *others]
    return tuple(dict.fromkeys(kept))[:REASONS]
