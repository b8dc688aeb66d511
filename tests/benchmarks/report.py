"""The one form in which a benchmark says its figures: progress on stderr, one JSON object on stdout."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """``floor`` was measured in the same run on the same work, None where none makes sense."""

    value: float
    goal: float
    unit: str
    floor: float | None = None
    more_is_better: bool = False

    @property
    def holds(self) -> bool:
        if math.isnan(self.value):
            return False
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal

    def shape(self) -> dict[str, Any]:
        def rounded(number: float | None) -> float | None:
            return None if number is None or math.isnan(number) else round(number, 5)

        return {
            "value": rounded(self.value),
            "floor": rounded(self.floor),
            "goal": rounded(self.goal),
            "unit": self.unit,
            "more_is_better": self.more_is_better,
            "holds": self.holds,
        }


def say(line: str) -> None:
    """Progress for a person who waits."""
    print(line, file=sys.stderr, flush=True)


def arguments(name: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.benchmarks.{name}")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout (the only form there is)")
    parser.add_argument("--quick", action="store_true", help="fewer runs; done in 45 seconds")
    return parser


def report(
    name: str, figures: Mapping[str, Figure], notes: str, rows: Sequence[Mapping[str, Any]] | None = None
) -> int:
    """Print the object; the exit code is 0 only if every figure holds."""
    is_ok = all(figure.holds for figure in figures.values())
    for key, figure in figures.items():
        if not figure.holds:
            say(f"does not hold: {key} = {figure.value:.3f} {figure.unit}, goal {figure.goal:.3f}")
    document: dict[str, Any] = {
        "name": name,
        "ok": is_ok,
        "figures": {key: figure.shape() for key, figure in figures.items()},
        "notes": notes,
    }
    if rows is not None:
        document["rows"] = list(rows)
    print(json.dumps(document, ensure_ascii=False))
    return 0 if is_ok else 1


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` percent lie; NaN for none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))]
