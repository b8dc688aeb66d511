"""Opens a terminal at the desk with a command in a folder: the way from the phone back to the keyboard.

Windows Terminal or cmd, macOS Terminal, and the common terminals of Linux, in the order in which they are tried.
Not run by us on Windows and macOS.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.contract import HubError
from bridge.texts import tr

LINUX_TERMINALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("x-terminal-emulator", ("-e",)),
    ("gnome-terminal", ("--",)),
    ("konsole", ("-e",)),
    ("xfce4-terminal", ("-x",)),
    ("kitty", ()),
    ("alacritty", ("-e",)),
    ("wezterm", ("start", "--")),
    ("foot", ()),
    ("xterm", ("-e",)),
)
"""Program, and what stands between it and the command."""


def line_command(line: str, platform: str = sys.platform) -> list[str]:
    """A line for a shell, as a person would type it ("npm install ... && ..."), as the words of a command."""
    return ["cmd", "/k", line] if platform == "win32" else [os.environ.get("SHELL") or "sh", "-lc", line]


def terminal_command(command: Sequence[str], folder: Path, platform: str = sys.platform) -> list[str]:
    """The words that open a terminal with ``command`` in ``folder``; raises HubError when there is no terminal."""
    if platform == "win32":
        return windows_command(command, folder)
    if platform == "darwin":
        script = f"cd {shlex.quote(str(folder))} && exec {shlex.join(command)}"
        quoted = script.replace("\\", "\\\\").replace('"', '\\"')
        return ["osascript", "-e", f'tell application "Terminal" to do script "{quoted}"',
                "-e", 'tell application "Terminal" to activate']  # fmt: skip
    shell = ["sh", "-c", f"cd {shlex.quote(str(folder))} && {shlex.join(command)}; exec ${{SHELL:-sh}}"]
    chosen = os.environ.get("TERMINAL", "")
    for program, between in ((chosen, ("-e",)), *LINUX_TERMINALS):
        if program and (found := shutil.which(program)):
            return [found, *between, *shell]
    raise HubError(
        tr("No terminal program was found."), hint=tr("Run it yourself: {command}", command=shlex.join(command))
    )


def windows_command(command: Sequence[str], folder: Path) -> list[str]:
    """Windows Terminal where it is installed, else a console window of its own."""
    if found := shutil.which("wt"):
        return [found, "-d", str(folder), *command]
    return ["cmd", "/c", "start", "", "/d", str(folder), *command]


def open_terminal(command: Sequence[str], folder: Path) -> None:
    """Start the terminal and let it go: it belongs to the person, not to the hub."""
    words = terminal_command(command, folder)
    try:
        subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise HubError(
            tr("The terminal could not be opened."),
            hint=tr("Run it yourself: {command}", command=shlex.join(command)),
            detail=str(error),
        ) from error
