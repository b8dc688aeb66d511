"""The real program behind a Windows npm shim, so that no argument ever goes through cmd.exe.

``npm install -g`` puts ``NAME.cmd`` and ``NAME.ps1`` beside a ``node_modules`` folder. Starting the ``.cmd`` means
cmd.exe, which expands ``%`` and splits at ``&`` inside arguments. The shim's text names the JavaScript file (or the
native program) that it would run; we start that. Pure but for reading the shim.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from agents.contract import AgentNotFoundError, sentence

_SHIM_SUFFIXES = frozenset({".cmd", ".bat", ".ps1"})
# npm's own wording: %dp0%\node_modules\x\cli.js or %~dp0\node_modules\x\bin\x.exe in .cmd,
# $basedir/node_modules/x/cli.js in .ps1
_TARGET = re.compile(r"(?:%~dp0|%dp0%|\$basedir)[\\/]+([^\"'\r\n]*?\.(?:[cm]?js|exe))(?=[\"'\s])", re.IGNORECASE)


def is_shim(program: str) -> bool:
    """Whether this is a script that only cmd.exe or PowerShell can run."""
    return Path(program.replace("\\", "/")).suffix.lower() in _SHIM_SUFFIXES


def resolve_shim(shim: Path, find: Callable[[str], str | None]) -> tuple[str, ...]:
    """The command the shim stands for: a native program, or node and a script.

    ``find`` looks a program up on PATH. Raises AgentNotFoundError when the text is no npm shim or a part is missing.
    """
    text = shim.read_text(encoding="utf-8", errors="replace")
    targets = [shim.parent.joinpath(*re.split(r"[\\/]+", found)) for found in _TARGET.findall(text)]
    targets = [target for target in targets if target.name.lower() != "node.exe"]
    script = next((target for target in targets if target.is_file()), None)
    if script is None:
        raise AgentNotFoundError(
            sentence("{name} does not lead to a program.", name=shim.name),
            hint=sentence("Set the agent's command in the settings to the program itself, not to a .cmd or .ps1 file."),
            detail="tried " + ", ".join(str(path) for path in [shim, *targets]),
        )
    if script.suffix.lower() == ".exe":
        return (str(script),)
    beside = shim.parent / "node.exe"
    node = str(beside) if beside.is_file() else find("node")
    if node is None:
        raise AgentNotFoundError(
            sentence("Node.js was not found; {stem} needs it.", stem=shim.stem),
            hint=sentence("Install Node.js, or set the agent's command in the settings."),
            detail=f"tried {beside} and PATH",
        )
    return (node, str(script))
