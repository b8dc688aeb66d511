"""What is said of each agent: missing, broken, too old, too new, not logged in, fine."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.catalogue import build_backends, kinds, look, look_at
from agents.contract import AgentHealth, AgentLaunch, AgentNotFoundError, LoginState
from agents.login_state import has_own_provider
from tests.agents.installed import SYSTEM_PATH, finder, program

LOGGED_IN = '[ "$1" = login ] && exit 0; '
LOGGED_OUT = '[ "$1" = login ] && exit 1; '


async def codex(tmp_path: Path, body: str) -> AgentHealth:
    native = program(tmp_path / "bin" / "codex", body)
    return await look_at("codex", AgentLaunch(), finder(tmp_path / "home", f"{native.parent}:{SYSTEM_PATH}"))


@pytest.mark.asyncio
async def test_a_fitting_agent_with_an_account_is_usable_without_a_word(tmp_path: Path) -> None:
    health = await codex(tmp_path, LOGGED_IN + "echo codex-cli 0.171.0")
    assert (health.is_usable, health.problem, health.version) == (True, "", "0.171.0")
    assert health.login is LoginState.LOGGED_IN
    assert health.program == tmp_path / "bin" / "codex"


@pytest.mark.asyncio
async def test_an_agent_without_an_account_names_the_login_command(tmp_path: Path) -> None:
    health = await codex(tmp_path, LOGGED_OUT + "echo codex-cli 0.171.0")
    assert (health.is_usable, health.hint) == (False, "Run in a terminal: codex login")


@pytest.mark.asyncio
async def test_a_newer_version_works_with_a_warning(tmp_path: Path) -> None:
    health = await codex(tmp_path, LOGGED_IN + "echo codex-cli 0.200.1")
    assert health.is_usable
    assert health.problem == "Codex 0.200.1 is newer than the tested 0.171.0."


@pytest.mark.asyncio
async def test_a_version_that_is_too_old_names_the_update_command(tmp_path: Path) -> None:
    health = await codex(tmp_path, LOGGED_IN + "echo codex-cli 0.99.0")
    assert not health.is_usable
    assert "too old" in health.problem
    assert "npm install -g @openai/codex" in health.hint


@pytest.mark.asyncio
async def test_a_program_that_does_not_start_is_broken_and_says_its_first_complaint(tmp_path: Path) -> None:
    health = await codex(tmp_path, "echo 'Missing optional dependency' >&2; exit 1")
    assert not health.is_usable
    assert "broken" in health.problem
    assert "Missing optional dependency" in health.problem


@pytest.mark.asyncio
async def test_a_program_that_prints_no_version_is_said(tmp_path: Path) -> None:
    health = await codex(tmp_path, "echo hello")
    assert (health.is_usable, health.problem) == (False, "Codex does not tell its version.")


@pytest.mark.asyncio
async def test_a_missing_agent_names_the_install_command_and_the_places_tried(tmp_path: Path) -> None:
    health = await look_at("codex", AgentLaunch(), finder(tmp_path / "home", SYSTEM_PATH))
    assert (health.program, health.hint) == (None, "Install it: npm install -g @openai/codex")
    assert "/usr/bin/codex" in health.detail


@pytest.mark.asyncio
async def test_the_demo_agent_is_always_there(tmp_path: Path) -> None:
    health = await look_at("demo", AgentLaunch(), finder(tmp_path / "home", SYSTEM_PATH))
    assert health.is_usable


@pytest.mark.asyncio
async def test_an_acp_agent_of_the_settings_is_looked_for_under_its_name(tmp_path: Path) -> None:
    native = program(tmp_path / "bin" / "goose")
    seen = await look(
        {"goose": AgentLaunch(command="goose"), "none": AgentLaunch()},
        finder(tmp_path / "home", f"{native.parent}:{SYSTEM_PATH}"),
    )
    health = {found.kind: found for found in seen}
    assert (health["goose"].program, health["goose"].is_usable) == (native, True)
    assert "[agents.none]" in health["none"].hint


def test_every_adapter_is_listed_before_the_settings_own() -> None:
    assert kinds({"goose": AgentLaunch(), "codex": AgentLaunch()}) == (
        "claude", "codex", "qwen", "hermes", "demo", "goose",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("config", "is_own"),
    [
        ("", False),
        ('model_provider = "openai"', False),
        ('model_provider = "x"\n[model_providers.x]\nname = "X"', True),
        ('model_provider = "x"\n[model_providers.x]\nrequires_openai_auth = true', False),
    ],
)
def test_a_model_provider_of_ones_own_needs_no_account(tmp_path: Path, config: str, is_own: bool) -> None:
    file = tmp_path / "config.toml"
    file.write_text(config, encoding="utf-8")
    assert has_own_provider(file) is is_own


def test_every_kind_has_its_backend_and_a_name_of_the_settings_an_acp_one(tmp_path: Path) -> None:
    launches = {"goose": AgentLaunch(command="goose"), "codex": AgentLaunch(model="gpt-5.5")}
    built = build_backends(launches, finder(tmp_path / "home", SYSTEM_PATH))
    assert tuple(built) == kinds(launches)
    assert [backend.kind for backend in built.values()] == list(built)
    assert all(backend.traits.title for backend in built.values())


def test_an_agent_of_the_settings_is_called_what_the_settings_call_it(tmp_path: Path) -> None:
    launches = {"goose": AgentLaunch(command="goose", title="Goose at home"), "kimi": AgentLaunch(command="kimi")}
    built = build_backends(launches, finder(tmp_path / "home", SYSTEM_PATH))
    assert [built[name].traits.title for name in launches] == ["Goose at home", "kimi"]


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["claude", "codex", "qwen", "hermes", "mine"])
async def test_an_adapter_says_that_its_program_is_missing_without_starting_anything(kind: str, tmp_path: Path) -> None:
    launches = {"mine": AgentLaunch(command="no-such-agent")}
    backends = build_backends(launches, finder(tmp_path / "home", SYSTEM_PATH))
    with pytest.raises(AgentNotFoundError) as missing:
        await backends[kind].locate()
    assert missing.value.hint
    await backends["demo"].locate()
