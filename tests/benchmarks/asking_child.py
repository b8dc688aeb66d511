"""The child of the round-trip benchmark: asks for permission, waits for the decision, and stamps both.

``python asking_child.py STAMPS bare|acp``. It speaks ACP, or (bare) one JSON line each way. The prompt
"ask COUNT NAME" makes it ask COUNT times; "stream RATE" makes it stream that many lines a second for ever.
Stamps are nanoseconds of the machine's monotonic clock, one line a step: name, request written, decision read.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

GAP = 0.12
"""Seconds between a decision and the next request."""
CHUNK = "some words of an answer that goes on and on, as answers do; " * 8


def write(value: dict[str, Any]) -> int:
    """Send one line; the stamp of the moment its last byte was handed to the pipe."""
    line = json.dumps(value).encode() + b"\n"
    stamp = time.monotonic_ns()
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    return stamp


def read() -> tuple[dict[str, Any], int]:
    line = sys.stdin.buffer.readline()
    stamp = time.monotonic_ns()
    if not line:
        sys.exit(0)
    value = json.loads(line)
    assert isinstance(value, dict)
    return value, stamp


class Child:
    """One session."""

    def __init__(self, stamps: Path) -> None:
        self.stamps = stamps.open("a", encoding="utf-8")
        self.number = 0

    def stamp(self, step: str, written: int, decided: int) -> None:
        self.stamps.write(f"{step} {written} {decided}\n")
        self.stamps.flush()

    def bare(self) -> None:
        while True:
            command, _ = read()
            for _ in range(command["ask"]):
                self.number += 1
                step = f"{command['name']}-{self.number:06d}"
                ask = {"type": "ask", "id": self.number, "command": f"make step-{step}", "reason": "r" * 420}
                written = write(ask)
                _, decided = read()
                self.stamp(step, written, decided)
                time.sleep(GAP)

    def acp(self) -> None:
        while True:
            message, _ = read()
            method, params = message.get("method"), message.get("params") or {}
            if method == "initialize":
                self.reply(message, {"protocolVersion": 1, "agentInfo": {"name": "bench"}, "agentCapabilities": {}})
            elif method == "session/new":
                self.reply(message, {"sessionId": f"s{time.monotonic_ns()}"})
            elif method == "session/prompt":
                self.prompt(message, params)
            elif "id" in message and method is not None:
                self.reply(message, {})

    def reply(self, message: dict[str, Any], result: dict[str, Any]) -> None:
        write({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def prompt(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        session, words = params["sessionId"], params["prompt"][0]["text"].split()
        if words[0] == "stream":
            threading.Thread(target=self.stream, args=(session, float(words[1])), daemon=True).start()
            return
        for _ in range(int(words[1])):
            self.ask(session, words[2])
            time.sleep(GAP)
        self.say(session, "done")
        self.reply(message, {"stopReason": "end_turn"})

    def ask(self, session: str, name: str) -> None:
        self.number += 1
        step = f"{name}-{self.number:06d}"
        call = {
            "toolCallId": step,
            "title": f"make step-{step}",
            "kind": "execute",
            "status": "pending",
            "rawInput": {"command": f"make step-{step}", "description": "why " * 20},
        }
        options = [
            {"optionId": "once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]
        params = {"sessionId": session, "toolCall": call, "options": options}
        written = write({"jsonrpc": "2.0", "id": step, "method": "session/request_permission", "params": params})
        while True:
            answer, decided = read()
            if answer.get("id") == step:
                break
        assert answer["result"]["outcome"]["optionId"] == "once", answer
        self.stamp(step, written, decided)

    def say(self, session: str, text: str) -> None:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        write({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})

    def stream(self, session: str, rate: float) -> None:
        due = time.monotonic()
        while True:
            due += 1 / rate
            time.sleep(max(0.0, due - time.monotonic()))
            self.say(session, CHUNK)


if __name__ == "__main__":
    child = Child(Path(sys.argv[1]))
    child.bare() if sys.argv[2] == "bare" else child.acp()
