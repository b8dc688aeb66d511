"""What an agent's process may see of the hub's environment."""

from __future__ import annotations

from agents.environment import child_environment

HUB = {
    "PATH": "/bin",
    "HOME": "/home/ann",
    "LC_ALL": "ru_RU.UTF-8",
    "https_proxy": "http://127.0.0.1:3128",
    "XDG_CONFIG_HOME": "/home/ann/.config",
    "XDG_RUNTIME_DIR": "/run/user/7",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/7/bus",
    "SystemRoot": "C:\\Windows",
    "AGENT_HUB_TOKEN": "1:secret",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "CLAUDECODE": "1",
    "TELEGRAM_TOKEN": "secret",
    "ANTHROPIC_API_KEY": "another agent's",
}


def test_a_child_sees_what_programs_need_and_no_secret() -> None:
    assert child_environment(inherited=HUB) == {
        "PATH": "/bin",
        "HOME": "/home/ann",
        "LC_ALL": "ru_RU.UTF-8",
        "https_proxy": "http://127.0.0.1:3128",
        "XDG_CONFIG_HOME": "/home/ann/.config",
        "SystemRoot": "C:\\Windows",
    }


def test_an_agents_own_settings_are_added_and_win() -> None:
    seen = child_environment({"ANTHROPIC_API_KEY": "own", "PATH": "/opt/bin"}, inherited=HUB)
    assert seen["ANTHROPIC_API_KEY"] == "own"
    assert seen["PATH"] == "/opt/bin"


def test_the_way_to_the_keyring_is_passed_only_where_the_person_writes_it_down() -> None:
    seen = child_environment(inherited=HUB)
    assert not {"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"} & set(seen)
    address = {"DBUS_SESSION_BUS_ADDRESS": HUB["DBUS_SESSION_BUS_ADDRESS"]}
    assert child_environment(address, inherited=HUB) == {**seen, **address}


def test_the_bot_token_does_not_pass_even_when_somebody_writes_it_into_an_agents_settings() -> None:
    assert "secret" not in str(child_environment({"AGENT_HUB_TOKEN": "1:secret"}, inherited=HUB))
