"""Whether an agent has an account to work with, told without reading a token.

By the agent's own status command where it has one, else by the existence and shape of the right file. A first guess
for lists and the doctor: the adapter's handshake gives the real verdict.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.bounded_run import run_briefly
from agents.contract import LoginState
from agents.finding import Located
from agents.json_lines import read_object
from agents.known_agents import KnownAgent

LIMIT = 15.0
"""Seconds for a status command; 0.15 s (Codex) and 0.5 s (Claude Code) were measured."""


async def login_state(agent: KnownAgent, located: Located, variables: Mapping[str, str], home: Path) -> LoginState:
    """The best guess about ``agent``; never raises."""
    if any(variables.get(key) for key in agent.keys):
        return LoginState.LOGGED_IN
    try:
        if agent.kind == "claude":
            return await _claude(located, variables)
        if agent.kind == "codex":
            return await _codex(located, variables, home)
        if agent.kind == "qwen":
            return await asyncio.to_thread(_qwen, home)
        if agent.kind == "hermes":
            return await asyncio.to_thread(_hermes, variables, home)
    except (OSError, ValueError):
        pass  # a file that can't be read says nothing about the account
    return LoginState.UNKNOWN


async def _claude(located: Located, variables: Mapping[str, str]) -> LoginState:
    """``claude auth status`` prints JSON with ``loggedIn`` (measured on Claude Code 2.1.332)."""
    ran = await run_briefly([*located.command, "auth", "status"], env=variables, timeout=LIMIT)
    said = (read_object(ran.text) or {}).get("loggedIn")
    if not isinstance(said, bool):
        return LoginState.UNKNOWN
    return LoginState.LOGGED_IN if said else LoginState.LOGGED_OUT


async def _codex(located: Located, variables: Mapping[str, str], home: Path) -> LoginState:
    """``codex login status`` ends with 0 or 1 (measured on Codex 0.171.0); an own provider needs no account."""
    folder = Path(variables.get("CODEX_HOME") or home / ".codex")
    if await asyncio.to_thread(has_own_provider, folder / "config.toml"):
        return LoginState.LOGGED_IN
    ran = await run_briefly([*located.command, "login", "status"], env=variables, timeout=LIMIT)
    verdicts = {0: LoginState.LOGGED_IN, 1: LoginState.LOGGED_OUT}
    return verdicts.get(-1 if ran.exit_code is None else ran.exit_code, LoginState.UNKNOWN)


def has_own_provider(config: Path) -> bool:
    """Whether Codex' configuration names a model provider that asks for no login with OpenAI."""
    name, provider = _provider(config)
    return name != "openai" and not provider.get("requires_openai_auth", False)


def provider_key(config: Path) -> str:
    """The variable in which the chosen model provider of Codex expects its key, "" for none or an unreadable file."""
    try:
        return str(_provider(config)[1].get("env_key", ""))
    except (OSError, ValueError):
        return ""  # Codex itself says what is wrong with the file


def _provider(config: Path) -> tuple[str, Mapping[str, object]]:
    if not config.is_file():
        return "openai", {}
    settings = tomllib.loads(config.read_text(encoding="utf-8"))
    name, providers = settings.get("model_provider", "openai"), settings.get("model_providers", {})
    provider = providers.get(name, {}) if isinstance(providers, dict) else {}
    return str(name), provider if isinstance(provider, dict) else {}


def _qwen(home: Path) -> LoginState:
    """``settings.json`` names the chosen way in; with none, ``session/new`` asks for one (Qwen Code 0.24.4)."""
    folder = home / ".qwen"
    file = folder / "settings.json"
    settings = read_object(file.read_bytes()) if file.is_file() else {}
    if settings is None:
        return LoginState.UNKNOWN  # Qwen Code takes more than JSON here: comments, for one
    chosen: Any = settings
    for key in ("security", "auth", "selectedType"):
        chosen = chosen.get(key) if isinstance(chosen, dict) else None
    if not chosen:
        return LoginState.LOGGED_OUT
    if str(chosen).startswith("qwen"):
        return LoginState.LOGGED_IN if (folder / "oauth_creds.json").is_file() else LoginState.LOGGED_OUT
    return LoginState.UNKNOWN  # its key may come from places only Qwen Code knows


def _hermes(variables: Mapping[str, str], home: Path) -> LoginState:
    """A configuration that names a model; with none, ``session/new`` says "run hermes model" (Hermes 0.19.0)."""
    config = Path(variables.get("HERMES_HOME") or home / ".hermes") / "config.yaml"
    if not config.is_file():
        return LoginState.LOGGED_OUT
    lines = config.read_text(encoding="utf-8", errors="replace").splitlines()
    names_model = any(
        line.split("#")[0].rstrip() not in {"model:", "model: ''", 'model: ""'}
        for line in lines
        if line.startswith("model:")
    )
    has_block = any(line.strip().startswith(("default:", "provider:")) for line in lines)
    return LoginState.LOGGED_IN if names_model or has_block else LoginState.LOGGED_OUT
