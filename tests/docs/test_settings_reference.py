"""docs/settings.md is made from the model, whole and up to date."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from app.settings import AgentSettings, OwnClassSettings
from app.settings_fields import fields, is_protected
from tests.docs.pages import ROOT, text_of


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """packaging is no package on purpose, so its scripts are loaded by path."""
    spec = importlib.util.spec_from_file_location("settings_reference", ROOT / "packaging" / "settings_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def section(name: str) -> str:
    page = text_of(ROOT / "docs" / "settings.md")
    return page.split(f"## [{name}]\n", 1)[1].split("\n## ", 1)[0]


def test_the_page_is_what_the_generator_writes(reference: ModuleType) -> None:
    page = text_of(ROOT / "docs" / "settings.md")
    assert page == reference.page(), "run: python packaging/settings_reference.py"


@pytest.mark.parametrize("name", [field.name for field in fields()])
def test_every_setting_stands_in_its_section_and_protected_ones_are_marked(name: str) -> None:
    table, _, short = name.partition(".")
    row = next(line for line in section(table).splitlines() if line.startswith(f"| `{short}`"))
    assert ("🔒" in row) is is_protected(name)


@pytest.mark.parametrize(("table", "model"), [("agents.NAME", AgentSettings), ("policy.own.NAME", OwnClassSettings)])
def test_every_setting_of_the_named_tables_stands_in_it(table: str, model: type[AgentSettings]) -> None:
    listed = re.findall(r"^\| `(\w+)`", section(table), re.MULTILINE)
    assert listed == list(model.model_fields)


def test_a_destructive_request_is_never_said_to_be_allowed_by_a_setting() -> None:
    row = next(line for line in section("policy").splitlines() if line.startswith("| `destructive`"))
    assert "`deny`" in row
    assert "`allow`" not in row
