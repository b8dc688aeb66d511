"""A file that nobody can read says nothing about an account, and stops nobody from looking."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.contract import LoginState
from agents.finding import Located
from agents.known_agents import KNOWN
from agents.login_state import login_state


async def qwen(home: Path, settings: bytes | None) -> LoginState:
    folder = home / ".qwen"
    folder.mkdir()
    if settings is not None:
        (folder / "settings.json").write_bytes(settings)
    located = Located(("qwen",), Path("qwen"))
    return await login_state(KNOWN["qwen"], located, {}, home)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "settings", [b"// mine\n{}", b"\xff\xfe", b"", b"[]", b"null", b'{"security":' + b'{"a":' * 50_000]
)
async def test_settings_that_are_no_json_object_say_nothing(tmp_path: Path, settings: bytes) -> None:
    assert await qwen(tmp_path, settings) is LoginState.UNKNOWN


@pytest.mark.asyncio
@pytest.mark.parametrize("settings", [None, b"{}", b'{"security":[]}', b'{"security":{"auth":"x"}}'])
async def test_settings_that_choose_no_way_in_mean_no_login(tmp_path: Path, settings: bytes | None) -> None:
    assert await qwen(tmp_path, settings) is LoginState.LOGGED_OUT


@pytest.mark.asyncio
async def test_a_chosen_way_in_that_keeps_its_key_elsewhere_is_not_judged(tmp_path: Path) -> None:
    assert await qwen(tmp_path, b'{"security":{"auth":{"selectedType":"openai"}}}') is LoginState.UNKNOWN
