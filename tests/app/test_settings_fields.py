"""The settings as a list of fields: complete, described, and checked one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings, edit, parse
from app.settings_fields import FieldKind, changed, current, fields, is_protected, problem_with, put


@pytest.mark.parametrize("field", fields(), ids=lambda field: field.name)
def test_every_setting_is_described_and_its_default_is_valid(field) -> None:  # type: ignore[no-untyped-def]
    assert field.description
    assert problem_with(field.name, field.default) == ""


def test_a_choice_offers_its_words() -> None:
    language = next(field for field in fields() if field.name == "hub.language")
    assert (language.kind, language.choices) == (FieldKind.CHOICE, ("en", "ru"))


def test_a_wrong_value_is_named() -> None:
    assert "more than 0" in problem_with("hub.ask_timeout", 0)


def test_destructive_requests_can_never_be_allowed_by_a_setting() -> None:
    assert "never allowed" in problem_with("policy.destructive", "allow")


def test_who_may_use_the_hub_is_protected() -> None:
    assert [
        name for name in ("telegram.users", "policy.edit", "lock.enabled", "hub.language") if is_protected(name)
    ] == [
        "telegram.users",
        "policy.edit",
        "lock.enabled",
    ]


def test_changes_are_written_by_their_dotted_names(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    new = edit(file, lambda document: put(document, {"hub.language": "ru", "policy.edit": "deny"}))
    assert (current(new, "hub.language"), current(new, "policy.edit")) == ("ru", "deny")


def test_only_what_differs_counts_as_changed() -> None:
    assert list(changed(Settings(), parse("[hub]\nlanguage = 'ru'"))) == ["hub.language"]
