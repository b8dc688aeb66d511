"""From an HTTP request to a Bot API method and back: token, envelope, faults, the log of calls."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bridge.simulator.calls import Call, read_call
from bridge.simulator.editing import Editing
from bridge.simulator.errors import (
    MALFORMED_TOKEN,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    TOO_LARGE,
    UNKNOWN_TOKEN,
    ApiError,
    too_many_requests,
)
from bridge.simulator.faults import TAKES_EFFECT, Fault, FaultKind
from bridge.simulator.feed import Kind
from bridge.simulator.forum import Forum
from bridge.simulator.http import Break, Request, Response
from bridge.simulator.lookups import Lookups
from bridge.simulator.sending import Sending
from bridge.simulator.world import World

_PATH = re.compile(r"/(file/)?bot([^/]*)/(.+)")
_TOKEN = re.compile(r"\d{1,20}:[A-Za-z0-9_-]{30,}")
FOREVER = 86_400.0
SUMMARY = 100
SUMMARIES = ("text", "caption", "name", "action", "reaction", "file_id", "callback_query_id")
ERRORS = {
    FaultKind.BAD_GATEWAY: (502, "Bad Gateway"),
    FaultKind.SERVER_ERROR: (500, "Internal Server Error"),
    FaultKind.DISK_FULL: (500, "Internal Server Error: can't write file: no space left on device"),
}


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call as the drawer of the phone page shows it. ``seconds`` includes the time it was held.

    ``summary`` is the beginning of its text, ``note`` the refusal.
    """

    method: str
    chat_id: int
    topic_id: int
    at: float
    seconds: float
    code: int
    note: str
    summary: str = ""


class BotApi:
    """Answers one bot's calls; getUpdates and downloads included."""

    def __init__(self, world: World, token: str) -> None:
        self._world = world
        self.token = token
        self._table: dict[str, Callable[[Call], Awaitable[Any]]] = {}
        for part in (Sending(world), Editing(world), Forum(world), Lookups(world)):
            self._table |= part.table

    def is_mine(self, path: str) -> bool:
        """Whether a path belongs to the Bot API."""
        return path.startswith(("/bot", "/file/bot"))

    async def handle(self, request: Request) -> Response:
        """One call with its envelope; broken off when a fault says so."""
        found = _PATH.fullmatch(request.path)
        if found is None:
            return _failure(ApiError(404, NOT_FOUND))
        if found[2] != self.token:
            return _failure(ApiError(401, UNKNOWN_TOKEN if _TOKEN.fullmatch(found[2]) else MALFORMED_TOKEN))
        if found[1]:
            return await self._download(found[3], request)
        if request.is_oversize:
            return _failure(ApiError(413, TOO_LARGE))
        return await self._call(found[3], request)

    async def _call(self, name: str, request: Request) -> Response:
        fault = self._world.faults.strike(name)
        started = self._world.clock.monotonic()
        call = Call(name.lower())
        try:
            if await self._is_broken_by(fault, request):
                return Response(broken=Break.RESET)
            call = read_call(name.lower(), request)
            result = await self._run(call, request)
        except ApiError as error:
            response = _failure(error)
            self._log(name, call, started, error)
        else:
            response = _json(200, {"ok": True, "result": result})
            self._log(name, call, started, None)
        return await self._spoil(response, fault, request)

    async def _run(self, call: Call, request: Request) -> Any:
        if call.method == "getupdates":
            queue = self._world.updates
            queue.allow(call.json("allowed_updates"))
            offset, limit, timeout = call.integer("offset"), call.integer("limit", 100), call.integer("timeout")
            return await queue.poll(offset, limit, timeout, request.gone)
        handler = self._table.get(call.method)
        if handler is None:
            raise ApiError(404, METHOD_NOT_FOUND)
        return await handler(call)

    async def _is_broken_by(self, fault: Fault | None, request: Request) -> bool:
        """Trouble before the call is taken: true when the connection dies, ApiError when the server refuses."""
        if fault is None or fault.kind in TAKES_EFFECT:
            return False
        if fault.kind is FaultKind.HANG:
            await self._hang(fault, request)
            return fault.seconds == 0
        if fault.kind is FaultKind.RATE_LIMIT:
            raise too_many_requests(int(fault.seconds))
        if fault.kind is not FaultKind.RESET:
            raise ApiError(*ERRORS[fault.kind])
        return True

    async def _spoil(self, response: Response, fault: Fault | None, request: Request) -> Response:
        """Trouble after the call was taken: the message is out, the answer is not."""
        if fault is None or fault.kind not in TAKES_EFFECT:
            return response
        if fault.kind is FaultKind.HALF_BODY:
            return Response(response.status, response.body, broken=Break.HALF_BODY)
        if fault.kind is FaultKind.LOST_AND_HANG:
            await self._hang(fault, request)
        return Response(broken=Break.RESET)

    async def _hang(self, fault: Fault, request: Request) -> None:
        waits = [
            asyncio.ensure_future(request.gone.wait()),
            asyncio.ensure_future(self._world.clock.sleep(fault.seconds or FOREVER)),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _download(self, path: str, request: Request) -> Response:
        fault = self._world.faults.strike("getFile:download")
        try:
            if await self._is_broken_by(fault, request):
                return Response(broken=Break.RESET)
        except ApiError as error:
            return _failure(error)
        stored = self._world.files.at(path)
        if stored is None:
            return _failure(ApiError(404, NOT_FOUND))
        response = Response(200, stored.data, "application/octet-stream")
        return await self._spoil(response, fault, request)

    def _log(self, name: str, call: Call, started: float, error: ApiError | None) -> None:
        if call.method == "getupdates" and error is None:
            return
        clock = self._world.clock
        logged = LoggedCall(
            name,
            call.integer("chat_id"),
            call.integer("message_thread_id"),
            clock.now(),
            clock.monotonic() - started,
            200 if error is None else error.code,
            "" if error is None else error.description,
            next((call.text(field)[:SUMMARY] for field in SUMMARIES if call.has(field)), ""),
        )
        self._world.feed.publish(Kind.CALL, logged.chat_id, logged)


def _json(status: int, body: Any) -> Response:
    return Response(status, json.dumps(body, ensure_ascii=False).encode())


def _failure(error: ApiError) -> Response:
    body: dict[str, Any] = {"ok": False, "error_code": error.code, "description": error.description}
    if error.parameters:
        body["parameters"] = error.parameters
    return _json(error.code, body)
