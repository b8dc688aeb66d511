"""Every promise over every kind of agent, against exchanges recorded from the real programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.kinds import cases
from tests.contract.promises import Promise
from tests.contract.rig import Kind, played

CASES = [pytest.param(kind, promise, id=f"{kind.name}-{promise.name}") for kind, promise in cases(is_live=False)]


@pytest.mark.asyncio
@pytest.mark.parametrize(("kind", "promise"), CASES)
async def test_an_agent_keeps_its_promise(kind: Kind, promise: Promise, tmp_path: Path) -> None:
    async with played(kind, promise.name, tmp_path) as rig:
        await promise.keep(rig)
