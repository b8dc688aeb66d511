"""Documents to render: our own, and what the packages installed on this computer bring along.

Third-party text is read where it lies and never kept. ``AGENT_HUB_TEST_MARKDOWN`` names more folders (separated as
in PATH): unpacked source packages of markdown-it-py and mistune bring the examples of CommonMark and GFM.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.markdown.own_inputs import answers, hard_inputs

SMALLEST, LARGE, LARGEST = 300, 60_000, 200_000
"""Bytes of a real file; at most four are larger than LARGE, and none so large that it is shown as it stands."""
REAL_TOTAL = 2_600_000
GFM_FIXTURES = {"tables", "strikethrough", "strikethrough_single_tilde", "tasklists", "linkify", "alerts"}
MISTUNE_FIXTURES = ("table", "strikethrough", "task_lists", "url", "footnotes", "math", "spoiler", "def_list", "abbr")


@dataclass(frozen=True, slots=True)
class Document:
    """``kind`` is own, answer, commonmark, gfm or real."""

    id: str
    kind: str
    text: str


@cache
def own_documents() -> tuple[Document, ...]:
    """What needs nothing installed."""
    hard = [Document(f"own:{name}", "own", text) for name, text in hard_inputs().items()]
    return (*hard, *(Document(f"answer:{name}", "answer", text) for name, text in answers().items()))


@cache
def installed_documents() -> tuple[Document, ...]:
    """Specification examples and real files, as far as they are on this computer."""
    folders = _folders()
    found = [document for folder in folders for document in _examples(folder)]
    unique = {document.id: document for document in found}
    return (*unique.values(), *_real_files(folders))


def _folders() -> list[Path]:
    named = os.environ.get("AGENT_HUB_TEST_MARKDOWN", "").split(os.pathsep)
    named += [sysconfig.get_path("purelib")]
    named += [os.environ.get(name, "") for name in ("AGENT_HUB_TEST_CLIS", "AGENT_HUB_TEST_HERMES")]
    return [Path(name) for name in dict.fromkeys(named) if name and Path(name).is_dir()]


def _examples(folder: Path) -> Iterator[Document]:
    for path in sorted([*folder.rglob("commonmark.json"), *folder.rglob("commonmark-spec/*.json")]):
        entries = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(entries, list) and entries and "markdown" in entries[0]:
            for entry in entries:
                yield Document(f"commonmark:{entry['example']}", "commonmark", entry["markdown"])
    for path in sorted(folder.rglob("test_port/fixtures/*.md")):
        kind = "gfm" if path.stem in GFM_FIXTURES else "commonmark"
        if path.stem != "commonmark_spec":
            for number, text in enumerate(_markdown_it_inputs(path.read_text(encoding="utf-8"))):
                yield Document(f"{kind}:{path.stem}.{number}", kind, text)
    for name in MISTUNE_FIXTURES:
        for path in sorted(folder.rglob(f"mistune*/tests/fixtures/{name}.txt")):
            for number, text in enumerate(_mistune_inputs(path.read_text(encoding="utf-8"))):
                yield Document(f"gfm:mistune.{name}.{number}", "gfm", text)


def _markdown_it_inputs(fixture: str) -> Iterator[str]:
    """Fixtures of markdown-it: title, a dot, the input, a dot, the output, a dot."""
    lines: list[str] = []
    dots = 0
    for line in fixture.split("\n"):
        if line.strip() != ".":
            lines.append(line)
            continue
        if dots == 1:
            yield "\n".join(lines) + "\n"
        dots = (dots + 1) % 3
        lines = []


def _mistune_inputs(fixture: str) -> list[str]:
    examples = re.findall(r"^`{8,} ?(?:example)?\n(.*?)\n\.\n", fixture, re.DOTALL | re.MULTILINE)
    return [example.replace("\u2423", "\t") for example in examples]


def _real_files(folders: list[Path]) -> Iterator[Document]:
    paths = [path for folder in folders for path in sorted(folder.rglob("*.md")) if "tests" not in path.parts]
    random.Random(7).shuffle(paths)
    seen: set[str] = set()
    total = large = 0
    for path in paths:
        size = path.stat().st_size if path.is_file() else 0
        if not SMALLEST <= size <= LARGEST or total > REAL_TOTAL or (size > LARGE and large >= 4):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        digest = hashlib.sha256(text.encode()).hexdigest()
        if digest in seen:
            continue
        seen.add(digest)
        total += size
        large += size > LARGE
        yield Document(f"real:{digest[:10]}:{path.name}", "real", text)
