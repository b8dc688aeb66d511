"""Links lead somewhere, commands can be typed, and nothing of the machine they were written on stands in the pages."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.known_agents import KNOWN
from app.cli import parser
from app.settings import parse
from tests.docs.pages import PAGES, ROOT, anchors, commands, fences, links, text_of

FORBIDDEN = re.compile(
    r"/work/|/root/|/tmp/|/home/(?!alex|ann)\w+|py"
    r"pi\.org|python"
    r"hosted|npm"
    r"js|registry\.|ghcr\.io|docker\.io",
    re.IGNORECASE,
)
ids = [page.relative_to(ROOT).as_posix() for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT) or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_no_place_of_a_machine_and_no_registry_stands_in_it(page: Path) -> None:
    assert FORBIDDEN.findall(text_of(page)) == []


def test_every_command_of_the_pages_can_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    seen, wrong = set(), []
    for page in PAGES:
        for arguments in commands(text_of(page)):
            try:
                seen.add(str(parser().parse_args(arguments).run))
            except SystemExit as end:
                if end.code != 0:
                    wrong.append((page.name, arguments, capsys.readouterr().err.strip().splitlines()[-1:]))
    assert wrong == []
    assert len(seen) >= 10


def test_every_command_of_the_command_line_is_explained() -> None:
    grammar = parser().format_help()
    names = re.findall(r"^ {4}(\w+) ", grammar, re.MULTILINE)
    guide = text_of(ROOT / "docs" / "user-guide.md")
    assert "run" in names
    assert [name for name in names if f"`agent-hub {name}" not in guide] == []


def options(grammar: argparse.ArgumentParser, command: str = "") -> Iterator[tuple[str, str]]:
    """(command, what can be typed after it): options, and the words where only some are allowed."""
    for action in grammar._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from options(below, name)
            continue
        yield from ((command, option) for option in action.option_strings if option not in {"-h", "--help"})
        yield from ((command, str(choice)) for choice in action.choices or ())


def test_every_option_of_the_command_line_is_explained() -> None:
    guide = text_of(ROOT / "docs" / "user-guide.md")
    general = guide.split("come before the command", 1)[0].rpartition("\n\n")[2] + guide.split("come before", 1)[1]
    rows = {
        name: "".join(line for line in guide.splitlines() if line.startswith(f"| `agent-hub {name}"))
        for name in dict(options(parser()))
        if name
    }
    assert len(rows) >= 10
    assert [(name, word) for name, word in options(parser()) if word not in (rows[name] if name else general)] == []


OWN_VARIABLES = {"AGENT_HUB_RESOLVING_ENV", "AGENT_HUB_TOOLS_ADDRESS", "AGENT_HUB_TOOLS_SECRET", "AGENT_HUB_ICONS"}
"""The hub and its build set them for their own children."""


@pytest.mark.parametrize(
    ("folders", "page"),
    [(("agents", "app", "bridge"), "docs/user-guide.md"), (("tests",), "CONTRIBUTING.md")],
    ids=["program", "tests"],
)
def test_every_variable_of_the_environment_is_explained(folders: tuple[str, ...], page: str) -> None:
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    read = {name for file in files for name in re.findall(r"\bAGENT_HUB_[A-Z]+(?:_[A-Z]+)*\b", text_of(file))}
    explained = text_of(ROOT / page) + text_of(ROOT / "docs" / "user-guide.md")
    assert read
    assert sorted(name for name in read - OWN_VARIABLES if f"`{name}`" not in explained) == []


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_settings_shown_as_examples_are_valid(page: Path) -> None:
    for body in fences(page, "toml"):
        tomllib.loads(body)
        parse(body, page.name)


def test_the_readme_names_the_versions_the_adapters_were_tested_with() -> None:
    rows = {
        line.split("|")[1].strip(): line for line in text_of(ROOT / "README.md").splitlines() if line.startswith("|")
    }
    assert [agent.title for agent in KNOWN.values() if f"| {agent.tested} |" not in rows.get(agent.title, "")] == []


def test_the_readme_keeps_its_two_commands() -> None:
    shell = fences(ROOT / "README.md", "sh")
    made = "python3 -m venv .venv && .venv/bin/pip install"
    assert shell == [
        f"{made} . && .venv/bin/agent-hub demo\n",
        f"{made} '.[test]' && .venv/bin/python -m pytest -n 2\n",
    ]


def test_ci_calls_the_command_of_the_readme() -> None:
    command = fences(ROOT / "README.md", "sh")[1].rpartition(".venv/bin/")[2].strip()
    assert f"{command} " in text_of(ROOT / ".ci" / "run")


def test_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "pictures").glob("*.png"))
    assert pictures
    assert [picture.name for picture in pictures if picture.stat().st_size > 300_000] == []


def test_every_picture_is_shown_somewhere() -> None:
    shown = "".join(text_of(page) for page in PAGES)
    assert [file.name for file in (ROOT / "docs" / "pictures").iterdir() if file.name not in shown] == []


def test_contributing_lists_the_sessions_of_the_task_file() -> None:
    source = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    sessions = re.findall(r"^@nox\.session.*\ndef (\w+)", source, re.MULTILINE)
    table = text_of(ROOT / "CONTRIBUTING.md").split("## Usual moves\n", 1)[1].split("\n## ", 1)[0]
    assert sorted(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == sorted(name.rstrip("_") for name in sessions)
