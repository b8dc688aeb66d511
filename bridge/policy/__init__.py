"""Judges requests: read, edit, network, execute, destructive, and the user's own classes. Pure, no I/O."""

from __future__ import annotations

from bridge.policy.classes import Assessment, Finding, Mode, OwnClass, PolicySettings, RiskClass

__all__ = ["Assessment", "Finding", "Mode", "OwnClass", "PolicySettings", "RiskClass"]
