"""The first exchange with Claude Code: who is there, which version, is there an account, what does it offer. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agents.claude.failures import LOGIN_HINT
from agents.claude.messages import Json
from agents.claude.wire import object_of, objects_of, text_of
from agents.contract import (
    AgentChoice,
    AgentCommand,
    AgentNotLoggedInError,
    AgentVersionError,
    LoginState,
    SessionId,
    SessionStarted,
    sentence,
)
from agents.known_agents import KNOWN
from agents.versions import read_version

CLAUDE = KNOWN["claude"]
DEFAULT_MODE = "default"
MODES = (
    AgentChoice("default", sentence("Ask"), sentence("Asks before everything but reading and harmless commands")),
    AgentChoice("plan", sentence("Plan"), sentence("Reads and plans, changes nothing")),
    AgentChoice("acceptEdits", sentence("Accept edits"), sentence("Edits files in the folder without asking")),
    AgentChoice("dontAsk", sentence("Never ask"), sentence("Refuses everything that it would ask for")),
)
_FIRST_PARTY = "firstParty"


def check_version(text: str) -> None:
    """Raises AgentVersionError unless ``text`` is a version this adapter can speak with."""
    version = read_version(text)
    if version is not None and version >= CLAUDE.minimum:
        return
    found = f"version {version}" if version else "no version"
    raise AgentVersionError(
        sentence(
            "Claude Code is too old ({found}); {minimum} or newer is needed.", found=found, minimum=CLAUDE.minimum
        ),
        hint=sentence("Update it: {command}@latest", command=CLAUDE.install),
        detail=f"the program says {text!r}",
    )


def login_of(response: Json) -> LoginState:
    """Not logged in = no token and no key; other clouds bring their own account (measured on 2.1.332)."""
    account = object_of(response, "account")
    if not account:
        return LoginState.UNKNOWN
    if text_of(account, "apiProvider") not in {"", _FIRST_PARTY}:
        return LoginState.LOGGED_IN
    has_token = text_of(account, "tokenSource") not in {"", "none"}
    return LoginState.LOGGED_IN if has_token or text_of(account, "apiKeySource") else LoginState.LOGGED_OUT


def check_login(response: Json) -> None:
    """Raises AgentNotLoggedInError."""
    if login_of(response) is LoginState.LOGGED_OUT:
        raise AgentNotLoggedInError(sentence("Claude Code is not logged in."), hint=LOGIN_HINT)


def started(response: Json, session_id: SessionId, cwd: Path) -> SessionStarted:
    """What the session is and what it offers."""
    models = objects_of(response, "models")
    return SessionStarted(
        session_id=session_id,
        cwd=cwd,
        version=text_of(response, "claude_code_version"),
        mode=text_of(response, "current_permission_mode") or DEFAULT_MODE,
        commands=tuple(
            AgentCommand(text_of(command, "name"), text_of(command, "description"))
            for command in objects_of(response, "commands")
        ),
        models=tuple(
            AgentChoice(
                text_of(model, "value"), text_of(model, "displayName") or text_of(model, "value"), _first_line(model)
            )
            for model in models
        ),
        modes=MODES,
        efforts=tuple(AgentChoice(level, level) for level in _efforts(models)),
    )


def _first_line(model: Json) -> str:
    return text_of(model, "description").partition("\n")[0]


def _efforts(models: Iterable[Json]) -> tuple[str, ...]:
    levels: dict[str, None] = {}
    for model in models:
        offered = model.get("supportedEffortLevels")
        levels.update(dict.fromkeys(str(level) for level in offered) if isinstance(offered, list) else {})
    return tuple(levels)
