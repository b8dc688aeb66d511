"""What is known of each agent this application has an adapter for: names, packages, versions, commands for a person.

Data only. The versions are those the adapters were measured with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agents.contract import sentence
from agents.versions import Version


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """``names`` are the programs to look for, best first; ``package`` is the npm package behind the shim.

    ``check`` are the arguments of a command that ends with 0 when the program is whole.
    ``keys`` are names of variables that hold an account of this agent; only their presence is looked at.
    ``own`` are beginnings of names of variables that are this agent's alone and go to its process; ``clouds`` are
    more of them, wanted only where the variable they stand under is set.
    """

    kind: str
    title: str
    names: tuple[str, ...]
    minimum: Version
    tested: Version
    install: str
    login: str
    package: str = ""
    check: tuple[str, ...] = ("--version",)
    broken: str = ""
    keys: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    clouds: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def own_variables(self, terminal: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
        """The variables of a terminal that may go to this agent's process; ``settings`` are the person's for it."""
        own = self.own
        for switch, names in self.clouds:
            if terminal.get(switch) or settings.get(switch):
                own += names
        return {name: value for name, value in terminal.items() if name.upper().startswith(own) or name in self.keys}


_ALL = (
    KnownAgent(
        kind="claude",
        title="Claude Code",
        names=("claude",),
        minimum=Version(2, 1, 332),
        tested=Version(2, 1, 332),
        install="npm install -g @anthropic-ai/claude-code",
        login="claude auth login",
        package="@anthropic-ai/claude-code",
        broken=sentence("Install it again: {command}", command="npm install -g @anthropic-ai/claude-code"),
        keys=(
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ),
        own=("ANTHROPIC_", "CLAUDE_"),
        clouds=(
            ("CLAUDE_CODE_USE_BEDROCK", ("AWS_",)),
            ("CLAUDE_CODE_USE_VERTEX", ("GOOGLE_", "CLOUD_ML_", "VERTEX_")),
        ),
    ),
    KnownAgent(
        kind="codex",
        title="Codex",
        names=("codex",),
        minimum=Version(0, 171, 0),
        tested=Version(0, 171, 0),
        install="npm install -g @openai/codex",
        login="codex login",
        package="@openai/codex",
        broken=sentence("Install it again: {command}", command="npm install -g @openai/codex@latest"),
        own=("CODEX_", "OPENAI_", "AZURE_OPENAI_"),
    ),
    KnownAgent(
        kind="qwen",
        title="Qwen Code",
        names=("qwen",),
        minimum=Version(0, 24, 0),
        tested=Version(0, 24, 4),
        install="npm install -g @qwen-code/qwen-code",
        login="qwen   (then /auth)",
        package="@qwen-code/qwen-code",
        broken=sentence("Install it again: {command}", command="npm install -g @qwen-code/qwen-code@latest"),
        keys=("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY", "BAILIAN_TOKEN_PLAN_API_KEY"),
        own=("QWEN_", "OPENAI_", "DASHSCOPE_", "BAILIAN_"),
    ),
    KnownAgent(
        kind="hermes",
        title="Hermes",
        names=("hermes-acp",),
        minimum=Version(0, 19, 0),
        tested=Version(0, 19, 0),
        install="uv tool install 'hermes-agent[acp,mcp]'",
        login="hermes model",
        check=("--check",),
        broken=sentence(
            "Its ACP part is missing. Install it again: {command}",
            command="uv tool install --force 'hermes-agent[acp,mcp]'",
        ),
        keys=("OPENROUTER_API_KEY", "NOUS_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
        own=("HERMES_", "OPENROUTER_", "NOUS_"),
    ),
)

KNOWN: Mapping[str, KnownAgent] = MappingProxyType({agent.kind: agent for agent in _ALL})
DEMO = "demo"
"""The kind of the agent that comes with this application and needs no model."""
