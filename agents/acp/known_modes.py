"""Our words for the modes of ACP agents that have no folder of their own here. Pure.

An agent sends names and descriptions in English only; a mode that is known by its id is told in words that can be
translated, and unknown ones stay as they were sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agents.contract import AgentChoice, sentence

OPENCODE = "OpenCode"
"""Its name in ``agentInfo``."""

Modes = Mapping[str, AgentChoice]


def known(*choices: AgentChoice) -> Modes:
    """The choices by their ids."""
    return MappingProxyType({choice.id: choice for choice in choices})


BY_AGENT: Mapping[str, Modes] = MappingProxyType(
    {
        OPENCODE: known(
            AgentChoice(
                "build", sentence("Build"), sentence("Works, and asks where your own OpenCode settings say so")
            ),
            AgentChoice("plan", sentence("Plan"), sentence("Reads and plans; its tools for edits are off")),
        )
    }
)
"""By the name in ``agentInfo`` (measured on OpenCode 1.18.33)."""
