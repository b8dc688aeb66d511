"""The rules of the house: who may import whom, and how large a thing may grow."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "agents", "bridge")
AGENT_FOLDERS = {path.name for path in (ROOT / "agents").iterdir() if (path / "__init__.py").exists()} - {"contract"}
MAY_USE_ACP = {"qwen", "hermes", "demo"}
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def room_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(ROOT).parts


def offence(path: Path, module: str) -> str:
    """Why this import is in the wrong room, "" when it is fine."""
    room, name = room_of(path), module.split(".")
    if name[0] == "telegram" and room[:2] != ("bridge", "telegram"):
        return "telegram outside bridge/telegram"
    if name[0] in {"PySide6", "shiboken6"} and room[:2] != ("app", "ui"):
        return "Qt outside app/ui"
    if room[0] == "agents":
        return agents_offence(room, name)
    if room[0] == "bridge":
        if name[0] == "app":
            return "bridge imports app"
        if name[0] == "agents" and name[1:2] not in ([], ["contract"], ["catalogue"]):
            return "bridge knows an agent's inside"
    return ""


def agents_offence(room: tuple[str, ...], name: list[str]) -> str:
    if name[0] in {"bridge", "app"}:
        return "agents import the house around them"
    if room[1] == "contract" and name[0] == "agents" and name[1] != "contract":
        return "the contract imports only the standard library"
    foreign = name[0] == "agents" and len(name) > 1 and name[1] in AGENT_FOLDERS
    if foreign and room[1] in AGENT_FOLDERS and name[1] != room[1]:
        allowed = name[1] == "acp" and room[1] in MAY_USE_ACP
        return "" if allowed else "an agent folder imports another"
    return ""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    wrong = [f"{module}: {why}" for module in imports_of(path) if (why := offence(path, module))]
    assert wrong == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_stays_under_500_lines_and_its_functions_under_60(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 500
    long_functions = [
        f"{node.name} ({node.end_lineno - node.lineno + 1} lines)"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > 60
    ]
    assert long_functions == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_named_for_one_idea_and_says_what_it_is_for(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "manager", "common", "misc"}
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_packaging_is_no_python_package_because_it_would_shadow_the_library() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_no_complexity_exemption_is_named() -> None:
    marks = re.compile(r"noqa:.*\b(C901|PLR09\d\d)\b")
    named = [str(path.relative_to(ROOT)) for path in MODULES if marks.search(path.read_text(encoding="utf-8"))]
    assert named == []
