"""Record the exchanges of a kind anew: ``python -m tests.contract.record KIND [PROMISE...]``.

Runs the promises live and keeps what passed between hub and program. Needs the real program.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from tests.contract.kinds import KINDS, cases
from tests.contract.promises import Promise
from tests.contract.rig import FIXTURES, Kind, live


async def record(kind: Kind, promise: Promise) -> None:
    """One promise; nothing is kept of one that is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        async with live(kind, Path(folder) / "run") as rig:
            await promise.keep(rig)
        file = FIXTURES / kind.name / f"{promise.name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        rig.save(file)
        print(f"{kind.name} {promise.name}: {len(rig.recorder.entries)} entries, {file.stat().st_size} bytes")


def main() -> None:
    """Record what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("promises", nargs="*")
    chosen = parser.parse_args()
    for kind, promise in cases(is_live=False):
        if kind.name == chosen.kind and (not chosen.promises or promise.name in chosen.promises):
            asyncio.run(record(kind, promise))


if __name__ == "__main__":
    main()
