"""A simulated Telegram and an empty home for the application's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.paths import Folders, folders
from bridge.simulator.simulator import Simulator


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with Simulator() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Folders:
    made = folders(tmp_path / "hub")
    made.make()
    return made


def write_settings(place: Folders, simulator: Simulator, extra: str = "") -> None:
    """A settings file that points to the simulator."""
    place.settings_file.write_text(
        f"[telegram]\nbase_url = '{simulator.base_url}'\nbase_file_url = '{simulator.base_file_url}'\n{extra}",
        encoding="utf-8",
    )
