"""Small real programs for the tests of finding and looking: files a finder finds and a process runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agents.finding import Finder
from agents.installs import Machine
from agents.login_shell import LoginShell

LINUX = Machine("linux", "x86_64")
WINDOWS = Machine("win32", "amd64")


def program(file: Path, body: str = "echo 1.2.3") -> Path:
    """A shell script that can be started."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def npm_package(root: Path, version: str = "0.171.0") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "package.json").write_text(json.dumps({"version": version}), encoding="utf-8")
    return root


def finder(home: Path, path: str, machine: Machine = LINUX, **variables: str) -> Finder:
    """A finder whose login shell is a script that prints exactly these variables."""
    home.mkdir(parents=True, exist_ok=True)
    shell = program(home / "login-shell", f"""PATH='{path}'; export PATH; eval "$4" """)
    inherited = {"SHELL": str(shell), "PATH": path, "HOME": str(home), **variables}
    return Finder(LoginShell(inherited), home=home, machine=machine)


SYSTEM_PATH = f"/usr/bin:/bin:{Path(sys.executable).parent}"
