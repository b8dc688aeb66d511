"""A bare Bot API client, so that tests see the envelope and not a library's reading of it."""

from __future__ import annotations

from typing import Any

import httpx

from bridge.simulator import Simulator


class Client:
    """Calls return the whole answer; ``ok`` returns the result and fails on a refusal."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self.http = httpx.AsyncClient(trust_env=False, timeout=30.0)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    @property
    def chat_id(self) -> int:
        return self.simulator.group.id

    def url(self, method: str) -> str:
        return f"{self.simulator.base_url}{self.simulator.token}/{method}"

    async def call(self, method: str, **fields: Any) -> dict[str, Any]:
        answer = await self.http.post(self.url(method), json=fields)
        body: dict[str, Any] = answer.json()
        assert answer.status_code == body.get("error_code", 200)
        return body

    async def ok(self, method: str, **fields: Any) -> Any:
        body = await self.call(method, **fields)
        assert body["ok"], body
        return body["result"]

    async def refusal(self, method: str, **fields: Any) -> str:
        """The description of a refused call."""
        body = await self.call(method, **fields)
        assert not body["ok"], body
        return str(body["description"])

    async def send(self, text: str, **fields: Any) -> Any:
        return await self.ok("sendMessage", chat_id=self.chat_id, text=text, **fields)

    async def updates(self, **fields: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.ok("getUpdates", **fields)
        return found
