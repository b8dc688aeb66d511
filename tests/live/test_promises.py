"""Every promise over every kind of agent: the real program, a scripted model on loopback, folders of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.kinds import cases
from tests.contract.promises import Promise
from tests.contract.rig import Kind, live

pytestmark = pytest.mark.live
CASES = [pytest.param(kind, promise, id=f"{kind.name}-{promise.name}") for kind, promise in cases(is_live=True)]


@pytest.mark.asyncio
@pytest.mark.parametrize(("kind", "promise"), CASES)
async def test_a_real_agent_keeps_its_promise(kind: Kind, promise: Promise, tmp_path: Path) -> None:
    async with live(kind, tmp_path) as rig:
        await promise.keep(rig)
