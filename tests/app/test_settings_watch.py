"""A settings file changed by hand: the harmless part applies, the rest waits for a yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings, parse
from app.settings_watch import Found, SettingsWatch, weigh

BASE = "[telegram]\nchats = [-1005]\nusers = [7]\n[workspace]\nroots = ['/code']\n"


def test_a_harmless_change_applies_at_once() -> None:
    found = weigh(parse(BASE), parse(BASE + "[hub]\nlanguage = 'ru'\n"))
    assert found.applied.hub.language == "ru"
    assert found.pending == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (BASE.replace("[7]", "[7, 8]"), "telegram.users"),
        (BASE.replace("-1005", "-1005, -1006"), "telegram.chats"),
        (BASE.replace("'/code'", "'/'"), "workspace.roots"),
        (BASE + "[policy]\nexecute = 'allow'\n", "policy.execute"),
        (BASE + "[policy.own.mine]\ntool = 'Bash'\nmode = 'allow'\n", "policy.own"),
        (BASE + "[lock]\nopen_for = 99999\n", "lock.open_for"),
        (BASE.replace("[workspace]", "base_url = 'https://elsewhere.example/bot'\n[workspace]"), "telegram.base_url"),
        (BASE.replace("[workspace]", "proxy = 'http://elsewhere.example:1'\n[workspace]"), "telegram.proxy"),
        (BASE + "[agents.claude]\nmode = 'bypassPermissions'\n", "agents.claude"),
        (BASE + "[hub]\nsession_scope = true\n", "hub.session_scope"),
        (BASE + "[hub]\naudit_days = 1\n", "hub.audit_days"),
        (BASE + "[hub]\nupdate_url = 'https://elsewhere.example/'\n", "hub.update_url"),
    ],
)
def test_a_change_of_who_where_or_policy_waits_for_a_yes(text: str, name: str) -> None:
    in_force = parse(BASE)
    found = weigh(in_force, parse(text))
    assert [change.name for change in found.pending] == [name]
    assert found.applied == in_force


def test_the_values_of_an_agents_table_are_not_shown_because_they_may_hold_keys() -> None:
    found = weigh(parse(BASE), parse(BASE + "[agents.codex]\nenv = { OPENAI_API_KEY = 'very-secret' }\n"))
    assert [change.name for change in found.pending] == ["agents.codex"]
    assert "very-secret" not in str(found.pending)


@pytest.mark.asyncio
async def test_a_broken_file_changes_nothing_and_is_named(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(BASE, encoding="utf-8")
    heard: list[Found] = []
    in_force = parse(BASE)
    watch = SettingsWatch(file, lambda: in_force, heard.append)
    file.write_text(BASE + "[hub", encoding="utf-8")
    await watch.look()
    assert heard[0].applied is in_force
    assert heard[0].problem is not None


@pytest.mark.asyncio
async def test_a_file_that_did_not_change_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(BASE, encoding="utf-8")
    heard: list[Found] = []
    watch = SettingsWatch(file, Settings, heard.append)
    await watch.look()
    await watch.look()
    assert heard == []
