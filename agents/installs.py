"""From the command a terminal finds to the program that really runs, as each agent's installer lays it out.

npm puts small scripts on ``PATH``. Starting those costs an extra process that may outlive a kill. So the program
behind the script is started itself: a native file (Claude Code, Codex), or node with the JavaScript file (Qwen Code
and others). Windows batch files are ``agents.shims``' matter. Looks at files; starts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CODEX_TARGETS = {
    ("linux", "x86_64"): ("linux-x64", "x86_64-unknown-linux-musl"),
    ("linux", "aarch64"): ("linux-arm64", "aarch64-unknown-linux-musl"),
    ("darwin", "x86_64"): ("darwin-x64", "x86_64-apple-darwin"),
    ("darwin", "arm64"): ("darwin-arm64", "aarch64-apple-darwin"),
    ("win32", "amd64"): ("win32-x64", "x86_64-pc-windows-msvc"),
    ("win32", "arm64"): ("win32-arm64", "aarch64-pc-windows-msvc"),
}
"""Platform to (suffix of npm's platform package, folder below its ``vendor``), as of Codex 0.171.0."""
STUB = 1024 * 1024
"""Bytes: a smaller "native" Claude Code is the placeholder npm leaves when its install script did not run."""
_SCRIPTS = {".js", ".cjs", ".mjs"}


@dataclass(frozen=True, slots=True)
class Target:
    """``program`` is started itself when ``script`` is None; otherwise node starts ``script``."""

    program: Path | None
    script: Path | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """The computer as Python names it: ``sys.platform`` and ``platform.machine()`` in small letters."""

    platform: str
    machine: str

    @property
    def is_windows(self) -> bool:
        return self.platform == "win32"


def target_of(found: Path, package: str, machine: Machine) -> Target | None:
    """What to start instead of ``found``; None when this module knows nothing better."""
    root = package_root(found, package) if package else None
    if root is not None:
        known = _inside_package(root, package, machine)
        if known is not None:
            return known
    real = found.resolve()
    return Target(None, real) if real.suffix.lower() in _SCRIPTS else None


def package_root(found: Path, package: str) -> Path | None:
    """The npm package's folder behind ``found``, in every place npm, pnpm and yarn put it."""
    parts = Path(*package.split("/"))
    candidates = [
        parent
        for start in (found.resolve(), found)
        for parent in start.parents
        if parent.parts[-len(parts.parts) :] == parts.parts
    ]
    candidates += [
        found.parent / "node_modules" / parts,  # Windows, global: beside the .cmd
        found.parent.parent / parts,  # local: node_modules/.bin beside the packages
        found.parent.parent / "lib" / "node_modules" / parts,  # global, elsewhere
    ]
    return next((root for root in candidates if (root / "package.json").is_file()), None)


def _inside_package(root: Path, package: str, machine: Machine) -> Target | None:
    if package == "@openai/codex":
        native = codex_binary(root, machine)
    elif package == "@anthropic-ai/claude-code":
        native = claude_binary(root, machine)
    elif package == "@qwen-code/qwen-code" and (root / "cli.js").is_file():
        return Target(None, root / "cli.js")  # its entry script would start a second node
    else:
        return None
    return Target(native) if native is not None else None


def codex_binary(root: Path, machine: Machine) -> Path | None:
    """The native Codex; its platform package lies inside the package (npm -g) or beside it (hoisted, pnpm)."""
    names = CODEX_TARGETS.get((machine.platform, machine.machine))
    if names is None:
        return None
    suffix, triple = names
    file = "codex.exe" if machine.is_windows else "codex"
    folders = [root / "node_modules" / "@openai" / f"codex-{suffix}", root.parent / f"codex-{suffix}", root]
    places = (folder / "vendor" / triple / "bin" / file for folder in folders)
    return next((place for place in places if place.is_file()), None)


def claude_binary(root: Path, machine: Machine) -> Path | None:
    """The native Claude Code: npm names it ``claude.exe`` on every system."""
    whole = root / "bin" / "claude.exe"
    if whole.is_file() and whole.stat().st_size > STUB:
        return whole
    file = "claude.exe" if machine.is_windows else "claude"
    system = "win32" if machine.is_windows else machine.platform
    processor = {"amd64": "x64", "x86_64": "x64", "aarch64": "arm64"}.get(machine.machine, machine.machine)
    name = f"claude-code-{system}-{processor}"
    places = [
        folder / f"{name}{variant}" / file
        for folder in (root / "node_modules" / "@anthropic-ai", root.parent)
        for variant in ("", "-musl")
    ]
    return next((place for place in places if place.is_file()), None)


def venv_python(found: Path, machine: Machine) -> Path | None:
    """The Python of the environment a console script belongs to: by its first line, else beside it."""
    try:
        with found.resolve().open("rb") as file:
            first = file.readline(512)
    except OSError:
        return None
    if first.startswith(b"#!"):
        named = Path(first[2:].decode("utf-8", "replace").strip())
        if named.is_absolute() and named.name.startswith("python") and named.exists():
            return named
    name = "python.exe" if machine.is_windows else "python"
    beside = found.resolve().parent / name
    return beside if beside.exists() else None
