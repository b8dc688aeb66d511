"""The settings file: what is read, and what a person is told when it is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tomlkit

from app import settings
from bridge.config import Role


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert settings.load(tmp_path / "none.toml").agents.default == "claude"


def test_what_is_wrong_is_told_without_the_values_that_may_be_keys() -> None:
    text = "[agents.goose]\nkind = 'acp'\nenv = { GOOSE_KEY = 'key-of-the-agent' }\n"
    with pytest.raises(settings.SettingsError) as caught:
        settings.parse(text)
    assert "agents.entries.goose" in caught.value.detail
    assert "key-of-the-agent" not in caught.value.detail


def test_a_list_of_users_makes_owners() -> None:
    assert settings.parse("[telegram]\nusers = [7]").bridge_config().users == {7: Role.OWNER}


def test_a_table_of_users_gives_roles() -> None:
    parsed = settings.parse("[telegram.users]\n7 = 'owner'\n8 = 'operator'")
    assert parsed.bridge_config().users == {7: Role.OWNER, 8: Role.OPERATOR}


def test_an_agents_table_reaches_its_launch() -> None:
    parsed = settings.parse(
        "[agents]\ndefault='codex'\n[agents.claude]\ncommand='c'\nargs=['-x']\nenv={A='1'}\nmodel='m'"
    )
    launch = parsed.launches()["claude"]
    assert (launch.command, launch.args, dict(launch.env), launch.model) == ("c", ("-x",), {"A": "1"}, "m")


def test_an_acp_agent_is_added_with_three_lines() -> None:
    parsed = settings.parse("[agents.goose]\nkind = 'acp'\ncommand = 'goose'\nargs = ['acp']")
    assert parsed.launches()["goose"].command == "goose"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[telegram]\nchats = ['x']", "telegram.chats.0"),
        ("[telegram]\nbase_url = 'nonsense'", "must be an address"),
        ("[hub]\nask_timeout = 0", "hub.ask_timeout"),
        ("[hub]\ncolour = 'red'", "there is no such setting"),
        ("[agents.x]\nkind = 'acp'", "an ACP entry needs a command"),
        ("[telegram\nx = 1", "line 1"),
        ("[telegram.users]\n7 = 'king'", "telegram.users.7"),
    ],
)
def test_a_wrong_setting_is_named(text: str, says: str) -> None:
    with pytest.raises(settings.SettingsError) as caught:
        settings.parse(text)
    assert says in caught.value.title


def test_an_edit_keeps_comments_and_order(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("# mine\n[hub]\nlanguage = 'en' # tongue\n", encoding="utf-8")

    def to_russian(document: tomlkit.TOMLDocument) -> None:
        document["hub"]["language"] = "ru"  # type: ignore[index]

    settings.edit(file, to_russian)
    text = file.read_text(encoding="utf-8")
    assert "# mine" in text
    assert "# tongue" in text
    assert settings.load(file).hub.language == "ru"


def test_an_invalid_edit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[hub]\nlanguage = 'en'\n", encoding="utf-8")

    def to_klingon(document: tomlkit.TOMLDocument) -> None:
        document["hub"]["language"] = "tlh"  # type: ignore[index]

    with pytest.raises(settings.SettingsError):
        settings.edit(file, to_klingon)
    assert file.read_text(encoding="utf-8") == "[hub]\nlanguage = 'en'\n"


def test_a_file_with_windows_line_ends_and_a_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xef\xbb\xbf[agents]\r\ndefault = 'codex'\r\n")
    assert settings.load(file).agents.default == "codex"


def test_roots_become_absolute_and_home_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert settings.parse("[workspace]\nroots=['~/code']").workspace.roots == (tmp_path / "code",)


@pytest.mark.skipif(os.name != "posix", reason="rights of files as POSIX has them")
def test_editing_leaves_the_file_as_closed_as_it_was_and_makes_a_new_one_closed(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    settings.edit(file, lambda document: document.update({"hub": {"language": "ru"}}))
    assert file.stat().st_mode & 0o077 == 0
    file.chmod(0o640)
    settings.edit(file, lambda document: document.update({"hub": {"language": "en"}}))
    assert file.stat().st_mode & 0o777 == 0o640


def test_an_edit_of_a_linked_file_keeps_the_link_and_writes_its_target(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "hub.toml"
    target.parent.mkdir()
    target.write_text("# mine\n", encoding="utf-8")
    link = tmp_path / "settings.toml"
    link.symlink_to(target)
    settings.edit(link, lambda document: document.update({"hub": {"language": "ru"}}))
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("# mine\n")
    assert settings.load(link).hub.language == "ru"
    assert list(target.parent.iterdir()) == [target]
