"""All benchmarks after each other: one JSON object on stdout, and docs/performance.md written from it.

    python -m tests.benchmarks --json [--quick] [--only NAME ...] [--known FILE ...] [--page FILE]

The long ones may run by night: ``--known`` takes the report that one of them printed instead of running it again.
For a quiet machine: what else runs stands in the figures. Each benchmark is a process of its own, so none measures what
another left in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks.page import PAGE, page
from tests.benchmarks.report import say

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A module that prints one report; ``limit`` and ``quick_limit`` are seconds after which it is given up."""

    module: str
    quick: Sequence[str] = ("--quick",)
    full: Sequence[str] = ()
    limit: float = 1200
    quick_limit: float = 600

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]


BENCHMARKS = (
    Benchmark("tests.benchmarks.roundtrip"),
    Benchmark("tests.benchmarks.delivery"),
    Benchmark("tests.benchmarks.render"),
    Benchmark("tests.benchmarks.sessions"),
    Benchmark("tests.benchmarks.footprint", limit=2400),
    Benchmark("tests.benchmarks.lines"),
    Benchmark("tests.soak", quick=("--kills", "3"), full=("--kills", "200"), limit=3600),
)
"""In the order of the page. A new benchmark is one line here and its sentences in ``page.py``."""


def machine() -> dict[str, Any]:
    """The kind of machine, never its name."""
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def failed(benchmark: Benchmark, why: str) -> dict[str, Any]:
    """A report for one that made none: nothing is left out silently."""
    say(f"{benchmark.name}: {why}")
    return {"name": benchmark.name, "ok": False, "figures": {}, "notes": why}


def run(benchmark: Benchmark, *, quick: bool) -> dict[str, Any]:
    """Its report; progress goes on to stderr."""
    say(f"== {benchmark.name}")
    command = [sys.executable, "-m", benchmark.module, "--json", *(benchmark.quick if quick else benchmark.full)]
    limit = benchmark.quick_limit if quick else benchmark.limit
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return failed(benchmark, f"not done after {limit:.0f} s")
    return read(benchmark, ran.stdout.decode("utf-8", "replace"), ran.returncode)


def read(benchmark: Benchmark, said: str, code: int) -> dict[str, Any]:
    """The last line of what it said, if that is a report."""
    lines = said.strip().splitlines()
    try:
        report = json.loads(lines[-1]) if lines else None
    except ValueError:
        report = None
    if not isinstance(report, Mapping) or not isinstance(report.get("figures"), Mapping):
        return failed(benchmark, f"made no report (exit code {code})")
    return {**report, "name": benchmark.name, "ok": report.get("ok") is True and code == 0}


def known(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Reports that benchmarks printed earlier, by name."""
    names = {one.name: one for one in BENCHMARKS}
    found = {}
    for file in files:
        said = file.read_text(encoding="utf-8")
        name = json.loads(said.strip().splitlines()[-1])["name"]
        found[name] = read(names[name], said, 0)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout (the only form there is)")
    parser.add_argument("--quick", action="store_true", help="fewer runs; the page is written only if --page names it")
    parser.add_argument("--only", action="append", choices=[one.name for one in BENCHMARKS], help="may be repeated")
    parser.add_argument(
        "--known", action="append", type=Path, default=[], help="a report made earlier; may be repeated"
    )
    parser.add_argument("--page", type=Path, help=f"where the table goes; without --quick {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    chosen = [one for one in BENCHMARKS if not options.only or one.name in options.only]
    made = known(options.known)
    reports = [made.get(one.name) or run(one, quick=options.quick) for one in chosen]
    result = {
        "ok": all(report["ok"] for report in reports),
        "quick": options.quick,
        "machine": machine(),
        "benchmarks": reports,
    }
    target = options.page or (None if options.quick or options.only else PAGE)
    if target is not None:
        target.write_text(page(result), encoding="utf-8")
        say(f"wrote {target}")
    print(json.dumps(result, ensure_ascii=False))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
