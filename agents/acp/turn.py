"""What is going on in one session at one moment: the running turn and the open requests to the person."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agents.contract import AskId, InputId
from agents.jsonrpc import Request


@dataclass(slots=True)
class Turn:
    """One prompt from its sending to its answer."""

    input_id: InputId
    is_cancelling: bool = False
    has_started: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class OpenAsk:
    """A permission request or question that waits for the person."""

    id: AskId
    request: Request | None
    call_id: str
    is_withdrawn: bool = False
