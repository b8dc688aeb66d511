"""What people read: every sentence of the code has its Russian, with the same places to fill, compiled."""

from __future__ import annotations

import ast
import importlib.util
import io
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo

from bridge.texts import set_language, tr, trn

ROOT = Path(__file__).resolve().parents[2]


def tool() -> ModuleType:
    """``packaging/texts.py`` is a script beside the packages."""
    spec = importlib.util.spec_from_file_location("texts_tool", ROOT / "packaging" / "texts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["texts_tool"] = module
    spec.loader.exec_module(module)
    return module


TEXTS = tool()


@pytest.fixture(scope="module")
def russian() -> Catalog:
    return TEXTS.load("ru")


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    set_language("en")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def messages(catalog: Catalog) -> list[Message]:
    return [message for message in catalog if message.id]


def test_every_sentence_of_the_code_has_its_russian() -> None:
    assert TEXTS.untranslated("ru") == []


def called_texts(path: Path) -> Iterator[str]:
    """What ``tr`` and its kin are given in a module, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        first = node.args[0]
        is_text = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if is_text and node.func.id in {"tr", "trn", "mark", "sentence"}:
            yield first.value  # type: ignore[attr-defined]


def test_no_sentence_stands_where_babel_does_not_find_it(russian: Catalog) -> None:
    """Inside an f-string it is not extracted, so it stays English for ever."""
    known = {message.id if isinstance(message.id, str) else message.id[0] for message in russian}
    files = [path for room in ("app", "bridge", "agents") for path in (ROOT / room).rglob("*.py")]
    missed = {f"{path.relative_to(ROOT)}: {text}" for path in files for text in called_texts(path) if text not in known}
    assert not missed


def test_a_translation_fills_the_same_places(russian: Catalog) -> None:
    wrong = []
    for message in messages(russian):
        wanted = message.id if isinstance(message.id, str) else message.id[1]
        forms = (message.string,) if isinstance(message.string, str) else message.string
        wrong += [str(form) for form in forms if places(str(form)) != places(str(wanted))]
    assert wrong == []


def test_the_compiled_catalogue_is_that_of_the_text(russian: Catalog) -> None:
    compiled = TEXTS.po_file("ru").with_suffix(".mo").read_bytes()
    assert read_mo(io.BytesIO(compiled)).num_plurals == 3
    assert compiled == TEXTS.compiled(russian)


@pytest.mark.parametrize(("count", "text"), [(1, "1 минута"), (3, "3 минуты"), (11, "11 минут"), (21, "21 минута")])
def test_russian_counts_by_its_own_rules(count: int, text: str) -> None:
    set_language("ru")
    assert trn("{count} minute", "{count} minutes", count) == text


def test_an_unknown_language_speaks_english() -> None:
    set_language("tlh")
    assert tr("Connected") == "Connected"
