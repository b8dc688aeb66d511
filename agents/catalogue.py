"""Which coding agents this computer has, and the adapters for them.

``look`` says of each agent what a person needs to know: where it is, its version and whether that fits, whether it
has an account, and the command that mends what is missing. ``build_backends`` makes the adapters; each is imported
only when it is built. Nothing here starts a turn or reads a token.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from agents.bounded_run import Ran, run_briefly
from agents.contract import AgentBackend, AgentHealth, AgentLaunch, AgentNotFoundError, LoginState, sentence
from agents.deferred import DeferredBackends
from agents.finding import Finder, Located
from agents.known_agents import DEMO, KNOWN, KnownAgent
from agents.login_state import login_state
from agents.versions import Age, Version, judge, read_version

__all__ = ["Finder", "build_backends", "deferred_backends", "kinds", "look", "look_at"]

CHECK_LIMIT = 20.0
"""Seconds for ``--version``; Qwen Code needed 1.7 s, and a cold disk several times that."""

_ADAPTERS = {
    "claude": "agents.claude.backend:ClaudeBackend",
    "codex": "agents.codex.backend:CodexBackend",
    "qwen": "agents.qwen.backend:QwenBackend",
    "hermes": "agents.hermes.backend:HermesBackend",
    DEMO: "agents.demo.backend:DemoBackend",
}
_ANY_ACP = "agents.acp.backend:AcpBackend"

Factory = Callable[[AgentLaunch, Finder], AgentBackend]
AcpFactory = Callable[[str, AgentLaunch, Finder], AgentBackend]


def kinds(launches: Mapping[str, AgentLaunch]) -> tuple[str, ...]:
    """Every kind there is: those with an adapter of their own, then the ACP agents of the settings."""
    return (*_ADAPTERS, *sorted(name for name in launches if name not in _ADAPTERS))


def build_backends(launches: Mapping[str, AgentLaunch], finder: Finder) -> dict[str, AgentBackend]:
    """The adapter of every kind; a name of the settings without an adapter of its own is an ACP agent."""
    return {kind: build_backend(kind, launches, finder) for kind in kinds(launches)}


def deferred_backends(launches: Mapping[str, AgentLaunch], finder: Finder) -> DeferredBackends:
    """The same, each made when it is first asked for."""
    return DeferredBackends(kinds(launches), lambda kind: build_backend(kind, launches, finder))


def build_backend(kind: str, launches: Mapping[str, AgentLaunch], finder: Finder) -> AgentBackend:
    """The adapter of one kind of ``kinds``."""
    launch = launches.get(kind, AgentLaunch())
    adapter = _load(_ADAPTERS.get(kind, _ANY_ACP))
    if kind in _ADAPTERS:
        return cast(Factory, adapter)(launch, finder)
    return cast(AcpFactory, adapter)(kind, launch, finder)


def _load(place: str) -> object:
    module, _, name = place.partition(":")
    return cast(object, getattr(importlib.import_module(module), name))


async def look(launches: Mapping[str, AgentLaunch], finder: Finder) -> tuple[AgentHealth, ...]:
    """The health of every kind, looked at side by side. Never raises for what is wrong with an agent."""
    seen = await asyncio.gather(*(look_at(kind, launches.get(kind, AgentLaunch()), finder) for kind in kinds(launches)))
    return tuple(seen)


async def look_at(kind: str, launch: AgentLaunch, finder: Finder) -> AgentHealth:
    """The health of one kind; never raises for what is wrong with it. Adapters use it for ``probe``."""
    if kind == DEMO:
        return AgentHealth(DEMO, "Demo", Path(sys.executable), login=LoginState.LOGGED_IN, is_usable=True)
    agent = KNOWN.get(kind)
    try:
        if agent is None:
            return await _look_at_acp(kind, launch, finder)
        located = await finder.locate(agent, launch)
    except AgentNotFoundError as error:
        title = agent.title if agent else launch.title or kind
        return AgentHealth(kind, title, problem=error.title, hint=error.hint, detail=error.detail)
    return await _examine(agent, located, launch, finder)


async def _look_at_acp(kind: str, launch: AgentLaunch, finder: Finder) -> AgentHealth:
    title = launch.title or kind
    if not launch.command:
        hint = sentence("Put its command into the settings, under {table}.", table=f"[agents.{kind}]")
        return AgentHealth(kind, title, problem=sentence("No command is set for {kind}.", kind=kind), hint=hint)
    located = await finder.locate_command(launch.command, kind)
    return AgentHealth(kind, title, program=located.found, is_usable=True)


async def _examine(agent: KnownAgent, located: Located, launch: AgentLaunch, finder: Finder) -> AgentHealth:
    variables = await finder.child_variables(agent, launch)
    login, checked, version = await asyncio.gather(
        login_state(agent, located, variables, finder.home),
        run_briefly([*located.command, *agent.check], env=variables, timeout=CHECK_LIMIT),
        version_of(agent, located, variables),
    )
    health = AgentHealth(agent.kind, agent.title, located.found, str(version or ""), login)
    return _judged(agent, health, checked, version)


async def version_of(agent: KnownAgent, located: Located, variables: Mapping[str, str]) -> Version | None:
    """The program's version as it prints it; None when it prints none in time."""
    ran = await run_briefly([*located.command, "--version"], env=variables, timeout=CHECK_LIMIT)
    return read_version(ran.text) if ran.exit_code == 0 else None


def _judged(agent: KnownAgent, health: AgentHealth, checked: Ran, version: Version | None) -> AgentHealth:
    if checked.exit_code != 0:
        why = checked.complaint or sentence("exit code {code}", code=checked.exit_code)
        return replace(
            health,
            problem=sentence("{agent} is broken: it does not start ({why}).", agent=agent.title, why=why),
            hint=agent.broken,
        )
    if version is None:
        return replace(
            health, problem=sentence("{agent} does not tell its version.", agent=agent.title), hint=agent.broken
        )
    age = judge(version, minimum=agent.minimum, tested=agent.tested)
    if age is Age.TOO_OLD:
        problem = sentence(
            "{agent} {version} is too old: {minimum} or newer is needed.",
            agent=agent.title,
            version=version,
            minimum=agent.minimum,
        )
        return replace(health, problem=problem, hint=sentence("Update it: {command}", command=agent.install))
    if health.login is LoginState.LOGGED_OUT:
        problem = sentence("{agent} is not logged in.", agent=agent.title)
        hint = sentence("Run in a terminal: {command}", command=agent.login)
        return replace(health, problem=problem, hint=hint, is_usable=False)
    if age is Age.UNTESTED:
        problem = sentence(
            "{agent} {version} is newer than the tested {tested}.",
            agent=agent.title,
            version=version,
            tested=agent.tested,
        )
        return replace(health, problem=problem, hint=sentence("It should work; report what does not."), is_usable=True)
    return replace(health, is_usable=True)
