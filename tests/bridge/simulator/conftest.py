"""A running simulator on a hand-moved clock, a bare client, and a person."""

from __future__ import annotations

import struct
import zlib
from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio

from bridge.simulator import Human, Simulator
from tests.bridge.clocks import HandClock
from tests.bridge.simulator.client import Client


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest_asyncio.fixture
async def simulator(clock: HandClock) -> AsyncIterator[Simulator]:
    async with Simulator(clock=clock, random=Random(7)) as simulator:
        yield simulator


@pytest_asyncio.fixture
async def client(simulator: Simulator) -> AsyncIterator[Client]:
    async with Client(simulator) as client:
        yield client


@pytest.fixture
def human(simulator: Simulator) -> Human:
    return Human(simulator, patience=20.0)


def picture(width: int = 8, height: int = 8, color: bytes = b"\x40\x80\xc0") -> bytes:
    """A real PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + color * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def png() -> bytes:
    return picture()
