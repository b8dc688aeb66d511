"""Open at login, on three platforms. The toggle reads and writes the real thing, never a remembered wish.

Linux: an entry in the XDG autostart folder. macOS: a launch agent. Windows: the user's Run key.
Windows and macOS follow the vendors' documentation and were not run by us.
"""

from __future__ import annotations

import os
import plistlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

LABEL = "agent-hub"
MAC_LABEL = "org.agent-hub.app"


class Autostart(Protocol):
    """Whether the hub opens at login."""

    def is_on(self) -> bool: ...

    def turn_on(self, command: Sequence[str]) -> None: ...

    def turn_off(self) -> None: ...


def start_command() -> list[str]:
    """How this very program is started again: the bundle's executable, or the interpreter with the module."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "run"]
    return [sys.executable, "-m", "app", "run"]


class XdgAutostart:
    """A desktop entry in ``$XDG_CONFIG_HOME/autostart`` (freedesktop.org: Desktop Application Autostart)."""

    def __init__(self, config_home: Path | None = None) -> None:
        home = config_home or Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        self.file = home / "autostart" / f"{LABEL}.desktop"

    def is_on(self) -> bool:
        try:
            lines = self.file.read_text(encoding="utf-8").splitlines()
        except OSError:
            return False
        return "Hidden=true" not in lines and "X-GNOME-Autostart-enabled=false" not in lines

    def turn_on(self, command: Sequence[str]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(
            "[Desktop Entry]\nType=Application\nName=agent-hub\nComment=Coding agents on your phone\n"
            f"Exec={' '.join(desktop_quoted(word) for word in command)}\nIcon=agent-hub\nTerminal=false\n",
            encoding="utf-8",
        )

    def turn_off(self) -> None:
        self.file.unlink(missing_ok=True)


def desktop_quoted(word: str) -> str:
    """One word of an Exec line (Desktop Entry Specification: quoting of reserved characters, doubled %)."""
    word = word.replace("%", "%%")
    if word and not set(word) & set(" \t\n\"'\\><~|&;$*?#()`"):
        return word
    escaped = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in word)
    return '"' + escaped.replace("\\", "\\\\") + '"'


class LaunchAgent:
    """``~/Library/LaunchAgents/<label>.plist`` with RunAtLoad."""

    def __init__(self, home: Path | None = None) -> None:
        self.file = (home or Path.home()) / "Library" / "LaunchAgents" / f"{MAC_LABEL}.plist"

    def is_on(self) -> bool:
        try:
            values = plistlib.loads(self.file.read_bytes())
        except (OSError, plistlib.InvalidFileException):
            return False
        return bool(values.get("RunAtLoad"))

    def turn_on(self, command: Sequence[str]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        values = {
            "Label": MAC_LABEL,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "ProcessType": "Interactive",
        }
        self.file.write_bytes(plistlib.dumps(values))

    def turn_off(self) -> None:
        self.file.unlink(missing_ok=True)


class RunKey:
    """``HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run``."""

    PATH = r"Software\Microsoft\Windows\CurrentVersion\Run"

    def is_on(self) -> bool:
        if sys.platform != "win32":
            return False
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, self.PATH) as key:
                winreg.QueryValueEx(key, LABEL)
        except OSError:
            return False
        return True

    def turn_on(self, command: Sequence[str]) -> None:
        if sys.platform != "win32":
            return
        import subprocess
        import winreg

        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, self.PATH) as key:
            winreg.SetValueEx(key, LABEL, 0, winreg.REG_SZ, subprocess.list2cmdline(list(command)))

    def turn_off(self) -> None:
        if sys.platform != "win32":
            return
        import contextlib
        import winreg

        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, self.PATH) as key, contextlib.suppress(FileNotFoundError):
            winreg.DeleteValue(key, LABEL)


def for_this_platform() -> Autostart:
    """The backend of the running system."""
    if sys.platform == "win32":
        return RunKey()
    if sys.platform == "darwin":
        return LaunchAgent()
    return XdgAutostart()
