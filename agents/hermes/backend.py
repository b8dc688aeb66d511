"""Hermes as a backend: a process per topic, started through the shim with Hermes' own Python where it is found."""

from __future__ import annotations

from pathlib import Path

from agents.acp.backend import AcpBackend, Parts, Program
from agents.contract import AgentLaunch, SessionArchive
from agents.finding import Finder
from agents.hermes.archive import HermesArchive
from agents.hermes.dialect import HermesDialect
from agents.known_agents import KNOWN

_AGENT = KNOWN["hermes"]
_SHIM = Path(__file__).with_name("shim.py")


class HermesBackend(AcpBackend):
    """See ``agents.contract.AgentBackend``."""

    def __init__(self, launch: AgentLaunch, finder: Finder, *, parts: Parts | None = None) -> None:
        super().__init__("hermes", launch, finder, dialect=HermesDialect(_AGENT.login), parts=parts)

    @property
    def archive(self) -> SessionArchive:
        return HermesArchive(self.folder / "state.db", self.live_ids)

    @property
    def folder(self) -> Path:
        """Where Hermes keeps its settings and sessions."""
        own = self.launch.env.get("HERMES_HOME")
        home = self.launch.env.get("HOME")
        return Path(own) if own else (Path(home) if home else self.finder.home) / ".hermes"

    async def program(self) -> Program:
        located = await self.finder.locate(_AGENT, self.launch)
        env = await self.finder.child_variables(_AGENT, self.launch)
        command = located.command
        if located.interpreter is not None and _SHIM.is_file():
            # Isolated: nothing in the session's folder or beside the shim can shadow a module of Hermes.
            command = (str(located.interpreter), "-I", str(_SHIM))
        return Program((*command, *self.launch.args), env)
