"""A Bot API of a few lines in a process of its own: stamps when a whole request is there, and presses the button.

Run as ``python -m tests.benchmarks.wire_server``. Prints its port; takes JSON lines on stdin: ``{"push": update}`` for
the bot "1", ``{"report": true}`` prints all stamps. Each card (a sendMessage with a keyboard whose text names
``step-N``) is pressed after ``PRESS_AFTER`` seconds: an update with its first button's data is served to that bot.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections import defaultdict
from typing import Any
from urllib.parse import parse_qs

PRESS_AFTER = 0.015
STEP = re.compile(r"step-(\w+-\d+)")
CHAT = {"id": -1001234500001, "type": "supergroup", "title": "Bench", "is_forum": True}
OWNER = {"id": 501, "is_bot": False, "first_name": "Ann"}


class Api:
    """State of all bots; stamps are nanoseconds of the machine's monotonic clock, the same in every process."""

    def __init__(self) -> None:
        self.arrived: dict[str, int] = {}
        self.served: dict[str, int] = {}
        self.updates: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.polls: dict[str, tuple[Connection, asyncio.TimerHandle]] = {}
        self.last_update = 0
        self.last_message = 1000

    def answer(self, connection: Connection, path: str, fields: dict[str, str], stamp: int) -> None:
        _, bot, method = path.split("/", 2)
        bot = bot.removeprefix("bot").split(":")[0]
        if method == "getUpdates":
            self.poll(connection, bot, int(fields.get("offset", "0")), float(fields.get("timeout", "0")))
            return
        if method == "sendMessage" and "reply_markup" in fields:
            self.card(bot, fields, stamp)
        connection.reply(self.result_of(method, fields))

    def card(self, bot: str, fields: dict[str, str], stamp: int) -> None:
        found = STEP.search(fields["text"])
        if found is None:
            return
        self.arrived[found[1]] = stamp
        data = json.loads(fields["reply_markup"])["inline_keyboard"][0][0]["callback_data"]
        message = {"message_id": self.last_message + 1, "chat": CHAT, "date": int(time.time())}
        if "message_thread_id" in fields:
            message |= {"message_thread_id": int(fields["message_thread_id"]), "is_topic_message": True}
        press = {"id": str(stamp), "from": OWNER, "message": message, "data": data, "chat_instance": "1"}
        asyncio.get_running_loop().call_later(PRESS_AFTER, self.push, bot, {"callback_query": press}, found[1])

    def push(self, bot: str, update: dict[str, Any], step: str = "") -> None:
        self.last_update += 1
        self.updates[bot].append({"update_id": self.last_update, **update, "_step": step})
        waiting = self.polls.pop(bot, None)
        if waiting is not None:
            waiting[1].cancel()
            self.serve(waiting[0], bot)

    def poll(self, connection: Connection, bot: str, offset: int, seconds: float) -> None:
        self.updates[bot] = [update for update in self.updates[bot] if update["update_id"] >= offset]
        if self.updates[bot] or not seconds:
            self.serve(connection, bot)
            return
        timer = asyncio.get_running_loop().call_later(seconds, self.expire, bot)
        self.polls[bot] = (connection, timer)

    def expire(self, bot: str) -> None:
        connection, _ = self.polls.pop(bot)
        connection.reply([])

    def serve(self, connection: Connection, bot: str) -> None:
        steps = [update["_step"] for update in self.updates[bot]]
        payload = [{key: value for key, value in update.items() if key != "_step"} for update in self.updates[bot]]
        stamp = connection.reply(payload)
        for step in steps:
            self.served.setdefault(step, stamp)

    def result_of(self, method: str, fields: dict[str, str]) -> Any:
        if method == "getMe":
            return {"id": 1, "is_bot": True, "first_name": "Bench", "username": "bench_bot"}
        if method.startswith("send") and method != "sendChatAction":
            self.last_message += 1
            return {"message_id": self.last_message, "date": int(time.time()), "chat": CHAT, "text": "x"}
        if method == "editMessageText":
            return {"message_id": int(fields["message_id"]), "date": int(time.time()), "chat": CHAT, "text": "x"}
        return True


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].decode()
            found = re.search(r"content-length: *(\d+)", head, re.IGNORECASE)
            length = int(found[1]) if found else 0
            if len(self.buffer) < end + 4 + length:
                return
            stamp = time.monotonic_ns()
            body = self.buffer[end + 4 : end + 4 + length]
            self.buffer = self.buffer[end + 4 + length :]
            fields = {key: values[0] for key, values in parse_qs(body.decode("utf-8", "replace")).items()}
            self.api.answer(self, head.split(" ", 2)[1], fields, stamp)

    def reply(self, result: Any) -> int:
        body = json.dumps({"ok": True, "result": result}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        stamp = time.monotonic_ns()
        if self.transport is not None:
            self.transport.write(head + body)
        return stamp


async def main() -> None:
    api = Api()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(api), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    reader = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        if "push" in command:
            api.push("1", command["push"])
        if "report" in command:
            print(json.dumps({"arrived": api.arrived, "served": api.served}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
