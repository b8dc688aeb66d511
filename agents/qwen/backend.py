"""Qwen Code as a backend: one process for all topics, started without the npm wrapper and without its relaunch.

Measured on 0.24.4: ``node cli.js --acp`` with ``QWEN_CODE_NO_RELAUNCH`` is one process of 235 MB, the npm shim three of
466 MB, and killing the shim leaves the other two at work.
"""

from __future__ import annotations

from pathlib import Path

from agents.acp.backend import AcpBackend, Parts, Program
from agents.contract import AgentLaunch, SessionArchive
from agents.finding import Finder
from agents.known_agents import KNOWN
from agents.qwen.archive import QwenArchive
from agents.qwen.dialect import QwenDialect

_AGENT = KNOWN["qwen"]


class QwenBackend(AcpBackend):
    """See ``agents.contract.AgentBackend``."""

    def __init__(self, launch: AgentLaunch, finder: Finder, *, parts: Parts | None = None) -> None:
        super().__init__("qwen", launch, finder, dialect=QwenDialect(_AGENT.login), parts=parts)

    @property
    def archive(self) -> SessionArchive:
        return QwenArchive(self.folder / "projects", self.live_ids)

    @property
    def folder(self) -> Path:
        """Where Qwen keeps its settings and sessions."""
        if own := self.launch.env.get("QWEN_HOME"):
            return Path(own)
        home = self.launch.env.get("HOME")
        return (Path(home) if home else self.finder.home) / ".qwen"

    async def program(self) -> Program:
        located = await self.finder.locate(_AGENT, self.launch)
        env = await self.finder.child_variables(_AGENT, self.launch)
        command = (*located.command, "--acp", "--approval-mode", "default", *self.launch.args)
        return Program(command, {**env, "QWEN_CODE_NO_RELAUNCH": "true"})
