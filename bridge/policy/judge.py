"""Puts a permission request into its class and looks up what the settings make of it.

Pure but for ``resolve``, which follows symbolic links (handed in, so that tests need no files). What can't be told for
sure is put into the worse class.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from agents.contract import PermissionRequest, ToolKind
from bridge.policy.classes import SEVERITY, Assessment, Finding, Mode, OwnClass, PolicySettings, RiskClass

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

    def assess(self, ask: PermissionRequest, folder: Path) -> Assessment:
        """The class of ``ask`` for a session that works in ``folder``."""
        findings: Sequence[Finding] = (Finding(KIND_CLASSES[ask.kind]),)
        risk = max((finding.risk for finding in findings), key=SEVERITY.__getitem__)
        own = self._own_class(ask)
        needs_second_step = risk is RiskClass.DESTRUCTIVE or (own is not None and own.needs_second_step)
        is_inside = self._lies_inside(ask, folder)
        return Assessment(
            risk=risk,
            mode=self._mode(risk, own, is_inside=is_inside, needs_second_step=needs_second_step),
            reasons=tuple(finding.reason for finding in findings if finding.reason),
            is_inside=is_inside,
            needs_second_step=needs_second_step,
            own_class=own.name if own else "",
        )

    def _own_class(self, ask: PermissionRequest) -> OwnClass | None:
        for own in self._settings.own_classes:
            tool_fits = fnmatchcase(ask.tool.casefold(), own.tool.casefold())
            if tool_fits and fnmatchcase(ask.subject.casefold(), own.subject.casefold()):
                return own
        return None

    def _lies_inside(self, ask: PermissionRequest, folder: Path) -> bool:
        if ask.kind is not ToolKind.READ or not ask.subject:
            return False
        return Path(self._resolve(str(ask.cwd / ask.subject))).is_relative_to(self._resolve(str(folder)))

    def _mode(self, risk: RiskClass, own: OwnClass | None, *, is_inside: bool, needs_second_step: bool) -> Mode:
        mode = own.mode if own else self._settings.modes.get(risk)
        if mode is None:
            mode = Mode.ALLOW if risk is RiskClass.READ and self._reads_pass else Mode.ASK
        if mode is Mode.ALLOW and (needs_second_step or (risk is RiskClass.READ and not is_inside)):
            return Mode.ASK
        return mode
