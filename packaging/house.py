"""Shows the state of the house: how large each package is, who imports whom, how much is tested.

python packaging/house.py           tables for people
python packaging/house.py --json    the same for programs
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("agents", "bridge", "app")
LINES_LIMIT = 500
NEAR_LIMIT = 450


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def room(path: Path) -> str:
    """The folder a module belongs to, at most two names deep ("bridge/pending")."""
    parts = path.relative_to(ROOT).parent.parts
    return "/".join(parts[:2])


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def imported_rooms(path: Path) -> Iterator[str]:
    """The rooms of ours that a module imports from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        for name in names:
            steps = name.split(".")
            if steps[0] in PACKAGES:
                yield "/".join(steps[:2]) if (ROOT / steps[0] / (steps[1:2] or [""])[0]).is_dir() else steps[0]


def sizes() -> list[dict[str, object]]:
    """For each room: modules, lines, the median and the largest module."""
    found: dict[str, list[Path]] = {}
    for package in PACKAGES:
        for path in modules(package):
            found.setdefault(room(path), []).append(path)
    rows = []
    for name, paths in sorted(found.items()):
        counted = {path: lines_of(path) for path in paths}
        largest = max(counted, key=counted.__getitem__)
        rows.append(
            {
                "room": name,
                "modules": len(paths),
                "lines": sum(counted.values()),
                "median": int(statistics.median(counted.values())),
                "largest": f"{largest.name} ({counted[largest]})",
            }
        )
    return rows


def imports() -> dict[str, dict[str, int]]:
    """Who imports whom, and in how many places; a room's imports of itself are left out."""
    table: dict[str, Counter[str]] = {}
    for package in PACKAGES:
        for path in modules(package):
            here = room(path)
            table.setdefault(here, Counter()).update(there for there in imported_rooms(path) if there != here)
    return {name: dict(sorted(counts.items())) for name, counts in sorted(table.items())}


def tests() -> dict[str, int]:
    """Test functions for each folder of tests; a parametrised one counts once."""
    counts: Counter[str] = Counter()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        counts[room(path)] += len(
            re.findall(r"^\s*(?:async )?def test_", path.read_text(encoding="utf-8"), re.MULTILINE)
        )
    return dict(sorted(counts.items()))


def near_the_limit() -> list[str]:
    """Modules that will be too large soon."""
    paths = [path for package in PACKAGES for path in modules(package)]
    return [f"{path.relative_to(ROOT).as_posix()} ({lines_of(path)})" for path in paths if lines_of(path) >= NEAR_LIMIT]


def state() -> dict[str, object]:
    return {"sizes": sizes(), "imports": imports(), "tests": tests(), "near the limit": near_the_limit()}


def show() -> str:
    """Everything as text."""
    text = [f"{'room':24}{'modules':>8}{'lines':>8}{'median':>8}  largest"]
    text += [
        f"{row['room']:24}{row['modules']:>8}{row['lines']:>8}{row['median']:>8}  {row['largest']}" for row in sizes()
    ]
    text += ["", "imports"]
    for name, others in imports().items():
        listed = ", ".join(f"{other} {count}" for other, count in others.items())
        text.append(f"  {name:22} {listed or 'nothing of ours'}")
    text += ["", "tests"]
    text += [f"  {name:30}{count:>5}" for name, count in tests().items()]
    text.append(f"  {'all':30}{sum(tests().values()):>5}")
    text += ["", f"modules of {NEAR_LIMIT} lines and more (the limit is {LINES_LIMIT})"]
    text += [f"  {name}" for name in near_the_limit()] or ["  none"]
    return "\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    sys.stdout.write(json.dumps(state(), indent=2) + "\n" if args.json else show())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
