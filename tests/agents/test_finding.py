"""Where programs are found, and what is really started."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.contract import AgentLaunch, AgentNotFoundError
from agents.finding import npm_prefixes
from agents.installs import STUB, Machine, claude_binary
from agents.known_agents import KNOWN
from tests.agents.installed import LINUX, SYSTEM_PATH, WINDOWS, finder, npm_package, program

CMD = '@ECHO off\r\nIF EXIST "%dp0%\\node.exe" (\r\n) \r\n"%_prog%"  "%dp0%\\node_modules\\some-agent\\cli.js" %*\r\n'


@pytest.mark.asyncio
async def test_a_program_of_the_login_shells_path_is_found(tmp_path: Path) -> None:
    native = program(tmp_path / "opt" / "claude")
    located = await finder(tmp_path / "home", f"{native.parent}:/usr/bin:/bin").locate(KNOWN["claude"], AgentLaunch())
    assert located.command == (str(native),)


@pytest.mark.asyncio
async def test_a_native_install_is_found_though_no_path_names_it(tmp_path: Path) -> None:
    native = program(tmp_path / "home" / ".local" / "bin" / "claude")
    located = await finder(tmp_path / "home", "/usr/bin:/bin").locate(KNOWN["claude"], AgentLaunch())
    assert located.found == native


@pytest.mark.asyncio
async def test_the_prefix_of_npm_is_searched(tmp_path: Path) -> None:
    prefix = tmp_path / "npm prefix"
    program(prefix / "bin" / "codex")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".npmrc").write_text(f"//r/:_authToken=x\r\nprefix = {prefix}\r\n", encoding="utf-8")
    located = await finder(tmp_path / "home", "/usr/bin:/bin").locate(KNOWN["codex"], AgentLaunch())
    assert located.found == prefix / "bin" / "codex"


def test_npms_settings_file_is_read_for_its_prefix_alone(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("//r/:_authToken=tok\nprefix=${HOME}/p\n", encoding="utf-8")
    assert tmp_path / "p" / "bin" in npm_prefixes(tmp_path, {})
    assert not any("tok" in str(folder) for folder in npm_prefixes(tmp_path, {}))


@pytest.mark.asyncio
async def test_a_relative_entry_of_the_path_is_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "evil" / "codex")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AgentNotFoundError):
        await finder(tmp_path / "home", "evil:.:/usr/bin:/bin").locate(KNOWN["codex"], AgentLaunch())


@pytest.mark.asyncio
async def test_a_missing_program_names_every_place_tried_and_the_install_command(tmp_path: Path) -> None:
    with pytest.raises(AgentNotFoundError) as caught:
        await finder(tmp_path / "home", f"{tmp_path}/bin:/usr/bin").locate(KNOWN["codex"], AgentLaunch())
    assert "npm install -g @openai/codex" in caught.value.hint
    assert f"{tmp_path}/bin/codex" in caught.value.detail
    assert str(tmp_path / "home" / ".local" / "bin" / "codex") in caught.value.detail


@pytest.mark.asyncio
async def test_a_wrong_command_in_the_settings_is_named(tmp_path: Path) -> None:
    launch = AgentLaunch(command=str(tmp_path / "gone" / "codex"))
    with pytest.raises(AgentNotFoundError) as caught:
        await finder(tmp_path / "home", "/usr/bin").locate(KNOWN["codex"], launch)
    assert str(tmp_path / "gone" / "codex") in caught.value.title


@pytest.mark.asyncio
@pytest.mark.parametrize("layout", ["nested", "hoisted"])
async def test_codex_is_started_natively_and_not_through_npms_script(tmp_path: Path, layout: str) -> None:
    scope = tmp_path / "node_modules" / "@openai"
    root = npm_package(scope / "codex")
    script = program(root / "bin" / "codex.js")
    base = root / "node_modules" / "@openai" if layout == "nested" else scope
    native = program(base / "codex-linux-x64" / "vendor" / "x86_64-unknown-linux-musl" / "bin" / "codex")
    link = tmp_path / "node_modules" / ".bin" / "codex"
    link.parent.mkdir()
    link.symlink_to(script)
    located = await finder(tmp_path / "home", f"{link.parent}:/usr/bin:/bin").locate(KNOWN["codex"], AgentLaunch())
    assert located.command == (str(native),)
    assert located.package == root


@pytest.mark.asyncio
async def test_qwen_is_started_as_one_node_with_the_node_beside_it(tmp_path: Path) -> None:
    root = npm_package(tmp_path / "lib" / "node_modules" / "@qwen-code" / "qwen-code")
    entry = program(root / "cli-entry.js")
    (root / "cli.js").write_text("", encoding="utf-8")
    bin_folder = tmp_path / "bin"
    node = program(bin_folder / "node")
    (bin_folder / "qwen").symlink_to(entry)
    located = await finder(tmp_path / "home", f"{bin_folder}:/usr/bin:/bin").locate(KNOWN["qwen"], AgentLaunch())
    assert located.command == (str(node), str(root / "cli.js"))


@pytest.mark.asyncio
async def test_hermes_comes_with_the_python_of_its_own_environment(tmp_path: Path) -> None:
    python = program(tmp_path / "venv" / "bin" / "python3")
    script = tmp_path / "venv" / "bin" / "hermes-acp"
    script.write_text(f"#!{python}\nimport sys\n", encoding="utf-8")
    script.chmod(0o755)
    located = await finder(tmp_path / "home", f"{script.parent}:/usr/bin").locate(KNOWN["hermes"], AgentLaunch())
    assert located.interpreter == python


def test_claudes_placeholder_is_passed_over_for_the_platform_package(tmp_path: Path) -> None:
    root = npm_package(tmp_path / "@anthropic-ai" / "claude-code")
    program(root / "bin" / "claude.exe")
    native = program(tmp_path / "@anthropic-ai" / "claude-code-linux-x64" / "claude")
    assert claude_binary(root, LINUX) == native


def test_claudes_native_file_is_taken_from_npms_package(tmp_path: Path) -> None:
    root = npm_package(tmp_path / "@anthropic-ai" / "claude-code")
    whole = program(root / "bin" / "claude.exe", "#" * (STUB + 1))
    assert claude_binary(root, Machine("darwin", "arm64")) == whole


@pytest.mark.asyncio
async def test_on_windows_codex_behind_the_cmd_is_its_exe(tmp_path: Path) -> None:
    npm = tmp_path / "Ann & Bob" / "npm"
    npm_package(npm / "node_modules" / "@openai" / "codex")
    program(npm / "codex.cmd", "rem")
    native = program(
        npm
        / "node_modules/@openai/codex/node_modules/@openai/codex-win32-x64/vendor/x86_64-pc-windows-msvc/bin"
        / "codex.exe"
    )
    found = await finder(tmp_path / "home", f"{npm}:/usr/bin", WINDOWS).locate(KNOWN["codex"], AgentLaunch())
    assert found.command == (str(native),)


@pytest.mark.asyncio
async def test_on_windows_no_batch_file_is_ever_started(tmp_path: Path) -> None:
    npm = tmp_path / "100% & more"
    program(npm / "agent", "exit 1")  # the script for other shells that npm puts beside it
    program(npm / "agent.cmd").write_text(CMD, encoding="utf-8")
    script = npm / "node_modules" / "some-agent" / "cli.js"
    script.parent.mkdir(parents=True)
    script.write_text("", encoding="utf-8")
    node = program(npm / "node.exe")
    located = await finder(tmp_path / "home", f"{npm}:/usr/bin", WINDOWS).locate_command("agent", "Agent")
    assert located.command == (str(node), str(script))


@pytest.mark.asyncio
async def test_a_folder_with_the_programs_name_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "bin" / "codex").mkdir(parents=True)
    with pytest.raises(AgentNotFoundError):
        await finder(tmp_path / "home", f"{tmp_path}/bin:/usr/bin").locate(KNOWN["codex"], AgentLaunch())


@pytest.mark.asyncio
async def test_an_agents_process_gets_its_own_keys_and_no_others(tmp_path: Path) -> None:
    terminal = finder(
        tmp_path / "home", SYSTEM_PATH, ANTHROPIC_API_KEY="a", OPENAI_API_KEY="o", AGENT_HUB_TOKEN="t", SECRET="s"
    )
    variables = await terminal.child_variables(KNOWN["claude"], AgentLaunch(env={"EXTRA": "e"}))
    assert variables["ANTHROPIC_API_KEY"] == "a"
    assert variables["EXTRA"] == "e"
    assert variables["PATH"] == SYSTEM_PATH
    assert not {"OPENAI_API_KEY", "AGENT_HUB_TOKEN", "SECRET"} & variables.keys()


@pytest.mark.asyncio
async def test_keys_of_a_cloud_go_along_only_where_the_agent_works_with_it(tmp_path: Path) -> None:
    terminal = finder(tmp_path / "home", SYSTEM_PATH, AWS_SECRET_ACCESS_KEY="a")
    without = await terminal.child_variables(KNOWN["claude"], AgentLaunch())
    with_it = await terminal.child_variables(KNOWN["claude"], AgentLaunch(env={"CLAUDE_CODE_USE_BEDROCK": "1"}))
    assert "AWS_SECRET_ACCESS_KEY" not in without
    assert with_it["AWS_SECRET_ACCESS_KEY"] == "a"
