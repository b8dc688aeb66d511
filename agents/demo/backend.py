"""The demo agent as a backend: any ACP agent, except that the program is our own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_data_path

from agents.acp.backend import AcpBackend, Parts, Program
from agents.acp.dialect import AcpDialect
from agents.acp.known_modes import known
from agents.contract import AgentChoice, AgentHealth, AgentLaunch, LoginState, SessionArchive, sentence
from agents.demo.archive import DemoArchive
from agents.demo.history import HOME
from agents.demo.program import FLAG
from agents.demo.scenes import VERSION
from agents.finding import Finder

_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from agents.demo.program import main; sys.exit(main())"


class DemoDialect(AcpDialect):
    """The demo agent follows the protocol."""

    default_mode = "ask"
    runs_unasked = sentence("only the writing of demo-report.md, which it then sends")
    silence_limit = 30.0
    modes = known(
        AgentChoice("ask", sentence("Ask"), sentence("Asks before every edit and command")),
        AgentChoice("edits", sentence("Accept edits"), sentence("Edits without asking, asks before commands")),
    )

    def __init__(self) -> None:
        super().__init__("demo", "Demo agent")


class DemoBackend(AcpBackend):
    """See ``agents.contract.AgentBackend``."""

    def __init__(self, launch: AgentLaunch, finder: Finder, *, parts: Parts | None = None) -> None:
        super().__init__("demo", launch, finder, dialect=DemoDialect(), parts=parts)

    @property
    def folder(self) -> Path:
        """Where the demo agent keeps its sessions; the settings' ``env`` may name another place."""
        named = self.launch.env.get(HOME)
        return Path(named) if named else user_data_path("agent-hub") / "demo-agent"

    @property
    def archive(self) -> SessionArchive:
        return DemoArchive(self.folder, self.live_ids)

    async def probe(self) -> AgentHealth:
        return AgentHealth(
            "demo", self.dialect.title, Path(sys.executable), VERSION, LoginState.LOGGED_IN, is_usable=True
        )

    async def program(self) -> Program:
        variables: Mapping[str, str] = {HOME: str(self.folder), **self.launch.env}
        env = await self.finder.child_variables(None, AgentLaunch(env=variables))
        return Program((*demo_command(), *self.launch.args), env)


def demo_command() -> tuple[str, ...]:
    """Isolated and by path, so that nothing in the session's folder can shadow a module; or the frozen application."""
    if getattr(sys, "frozen", False):
        return (sys.executable, FLAG)
    return (sys.executable, "-I", "-c", _BOOT, str(Path(__file__).resolve().parents[2]))
