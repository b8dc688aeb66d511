"""The simulator as one thing to start and stop: a loopback Bot API for one bot, with its group and its people."""

from __future__ import annotations

import secrets
from random import Random
from types import TracebackType
from typing import Self

from bridge.clock import Clock, SystemClock
from bridge.simulator.api import BotApi
from bridge.simulator.chats import Chat
from bridge.simulator.faults import Fault, Faults
from bridge.simulator.http import HttpServer, Request, Response
from bridge.simulator.limits import Limits
from bridge.simulator.phone import Phone
from bridge.simulator.texts import Judge, best_judge
from bridge.simulator.world import GROUP_ID, World

TOKEN = "7000000001:AAsimulated-token-of-a-bot-that-is-not_real"  # noqa: S105 - valid on loopback only


class Simulator:
    """``async with Simulator() as simulator``: serves until the block ends; the state survives ``stop`` and ``start``.

    ``base_url`` and ``base_file_url`` are what a client of the Bot API takes as its server. ``world`` is the state
    behind it, to read and to change; ``phone`` serves the page at ``phone_url``. Runs in the event loop that starts it.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        token: str = TOKEN,
        limits: Limits | None = None,
        judge: Judge | None = None,
        port: int = 0,
        phone_secret: str = "",
        random: Random | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.random = random or Random()  # noqa: S311 - ids of a simulation
        self.world = World(self.clock, limits or Limits(), judge or best_judge(), self.random)
        self.api = BotApi(self.world, token)
        self.phone = Phone(self.world, phone_secret or secrets.token_urlsafe(18))
        self._server = HttpServer(self._handle, port)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def token(self) -> str:
        return self.api.token

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """For clients that put the token right behind it."""
        return f"{self.address}/bot"

    @property
    def base_file_url(self) -> str:
        return f"{self.address}/file/bot"

    @property
    def phone_url(self) -> str:
        """The phone page; whoever knows it acts as the person in front of it."""
        return f"{self.address}/phone/{self.phone.secret}/"

    @property
    def group(self) -> Chat:
        """The forum group every simulator starts with."""
        return self.world.chats[GROUP_ID]

    @property
    def faults(self) -> Faults:
        return self.world.faults

    def fail(self, fault: Fault) -> None:
        """Let trouble strike the next call that fits."""
        self.world.faults.add(fault)

    async def _handle(self, request: Request) -> Response:
        if self.phone.is_mine(request.path):
            return await self.phone.handle(request)
        return await self.api.handle(request)
