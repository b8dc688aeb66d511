"""The command line in bad surroundings: whatever is missing, one clear sentence, the right exit code, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.console import OutputGoneError, say

ROOT = Path(__file__).resolve().parents[2]
CODE = "import sys; from app.cli import main; sys.exit(main(sys.argv[1:]))"
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="streams and signals of POSIX")
has_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")


def surroundings(home: Path) -> dict[str, str]:
    return {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(home), "TERM": "dumb"}


def agent_hub(home: Path, *arguments: str, shell: str = "", given: str | None = "") -> tuple[int, str]:
    """Run the program itself (``shell``: what stands behind it in a shell); exit code and everything it said."""
    line = ["sh", "-c", f'"$@" {shell}', "sh"] if shell else []
    ran = subprocess.run(
        [*line, sys.executable, "-c", CODE, *arguments],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env=surroundings(home),
    )
    assert "Traceback" not in ran.stdout, ran.stdout
    return ran.returncode, ran.stdout


@posix_only
def test_a_pipe_that_is_closed_ends_the_command_quietly(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = subprocess.run(
            [sys.executable, "-c", CODE, "service", "print"],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            env=surroundings(tmp_path),
        )
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")


@posix_only
@pytest.mark.parametrize(
    "arguments", [("service", "print"), ("snapshots", "list"), ("render", "-")], ids=lambda given: given[0]
)
def test_a_command_without_an_output_does_its_work(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert agent_hub(tmp_path, *arguments, shell=">&- 2>&-") == (0, "")


@has_full
def test_an_output_that_takes_nothing_is_named(tmp_path: Path) -> None:
    code, said = agent_hub(tmp_path, "service", "print", shell=">/dev/full")
    assert code == 1
    assert said.startswith("agent-hub: The output can't be written: No space left on device.\n")


@posix_only
@pytest.mark.parametrize("arguments", [("token",), ("render", "-")], ids=lambda given: given[0])
def test_a_command_without_an_input_does_not_break(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, said = agent_hub(tmp_path, "--data-dir", str(tmp_path), *arguments, shell="<&-")
    assert code == {"token": 1, "render": 0}[arguments[0]]
    assert ("bot token" in said) is (arguments[0] == "token")


def test_setup_without_a_terminal_says_where_to_run_it(tmp_path: Path) -> None:
    code, said = agent_hub(tmp_path, "--data-dir", str(tmp_path / "hub"), "setup")
    assert code == 1
    assert "agent-hub: The input has ended before everything was answered.\n  Run the command in a terminal." in said


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.touch()
    code, said = agent_hub(tmp_path, "--data-dir", str(file), "run", "--headless")
    assert code == 1
    assert said.startswith(f"agent-hub: The folder {file} can't be used: ")
    assert "--data-dir" in said


@posix_only
@pytest.mark.parametrize("command", ["audit", "run"])
def test_the_home_of_nobody_is_no_data_folder(tmp_path: Path, command: str) -> None:
    code, said = agent_hub(tmp_path, "--data-dir", "~nosuchperson/hub", command)
    assert (code, said.splitlines()[0]) == (1, "agent-hub: ~nosuchperson/hub: this computer knows no such person.")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[workspace]\nroots = ['~nosuchperson/code']", "workspace.roots: ~name is nobody on this computer"),
        ('[workspace]\nroots = ["a\\u0000b"]', "workspace.roots: a path can't hold a NUL character"),
        ("a = " + "[" * 5000, "The settings file is nested too deeply."),
        ("hub = 5", "Setting hub: must be a table of settings"),
        ("[workspace]\nroots = '~/code'", "Setting workspace.roots: must be a list in square brackets"),
        ("[telegram]\nusers = { Ann = 'owner' }", "Setting telegram.users.Ann: must be a whole number"),
        ("[telegram]\nbase_url = 'http://[bad'", "Setting telegram.base_url: must be an address such as"),
        ("[hub]\nask_timeout = 9e9", "Setting hub.ask_timeout: must be at most 604800\n"),
    ],
    ids=["home of nobody", "NUL", "deep", "no table", "no list", "no number", "no address", "too much"],
)
def test_settings_that_no_parser_likes_are_one_sentence(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text, encoding="utf-8")
    code, said = agent_hub(tmp_path, "--settings", str(file), "agents")
    assert code == 1
    assert named in said
    assert str(file) in said


def test_a_token_file_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    token = "123456789:" + "A" * 35
    code, said = agent_hub(tmp_path, "--data-dir", str(tmp_path), "token", "--plaintext", given=token)
    assert code == 1
    assert said.startswith(f"agent-hub: {tmp_path / 'token'} can't be written: ")
    assert token not in said


@has_full
def test_a_log_that_takes_nothing_does_not_fill_the_terminal(tmp_path: Path) -> None:
    """Its place is the disk that is full: the hub goes on, and its own sentences stay readable."""
    code = (
        "import logging, pathlib, sys; from app import logs; folder = pathlib.Path(sys.argv[1]);"
        "(folder / 'agent-hub.log').symlink_to('/dev/full'); logs.set_up(folder); logging.error('lost')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=surroundings(tmp_path),
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@posix_only
def test_one_ctrl_c_at_a_question_of_setup_ends_it(tmp_path: Path) -> None:
    """The thread that waits for the person's line must not keep the program alive."""
    import pty

    near, far = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", CODE, "--data-dir", str(tmp_path / "hub"), "setup"],
        stdin=far,
        stdout=far,
        stderr=far,
        start_new_session=True,
        env=surroundings(tmp_path),
    )
    os.close(far)
    try:
        said = b""
        while b"[en/ru]" not in said:
            said += os.read(near, 4096)
        child.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert child.wait(20) == 130
        assert time.monotonic() - begun < 15
    finally:
        child.kill()
        child.wait()
        os.close(near)


def test_a_line_to_nobody_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(OutputGoneError):
        say("anybody?")
