"""What each real agent does in each mode without asking is what the documentation says."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.kinds import KINDS
from tests.contract.unasked import table, tried

pytestmark = pytest.mark.live
CASES = [pytest.param(kind, mode, id=f"{kind}-{mode}") for kind, modes in table().items() for mode in modes]


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is neither the session's nor below the system's folder for temporary files."""
    folder = Path(tempfile.mkdtemp(prefix="agent-hub-test-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.asyncio
@pytest.mark.parametrize(("kind", "mode"), CASES)
async def test_a_real_agent_does_unasked_what_the_table_says(
    kind: str, mode: str, tmp_path: Path, outside: Path
) -> None:
    assert await tried(KINDS[kind], mode, tmp_path, outside) == table()[kind][mode]
