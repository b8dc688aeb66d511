"""One hub per data folder, with or without a window: a file lock says who runs, a local socket reaches it.

A second start asks the first to show itself and ends. The lock is the operating system's, so a killed hub leaves
nothing behind that would block the next start.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass

import filelock

from app.paths import Folders

REPLY_LIMIT = 4096
ANSWER_WITHIN = 2.0
"""Seconds a second start waits for the first to answer."""


@dataclass(frozen=True, slots=True)
class Doorbell:
    """Where the running hub listens: a loopback port and the secret that opens it (file readable by the user only)."""

    port: int
    secret: str


class SingleInstance:
    """Holds the lock of one data folder. Not thread-bound; ``close`` releases everything."""

    def __init__(self, folders: Folders) -> None:
        self._lock = filelock.FileLock(str(folders.runtime / "agent-hub.lock"))
        self._address_file = folders.runtime / "agent-hub.address"
        self._listener: socket.socket | None = None

    def acquire(self) -> bool:
        """Whether this process is the only one now."""
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            return False
        return True

    def listen(self, on_call: Callable[[str], str]) -> None:
        """Answer later starts: ``on_call`` gets a word ("show") in a thread of its own and returns the answer."""
        listener = socket.create_server(("127.0.0.1", 0))
        bell = Doorbell(listener.getsockname()[1], secrets.token_hex(16))
        descriptor = os.open(self._address_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            json.dump({"port": bell.port, "secret": bell.secret}, handle)
        self._listener = listener
        threading.Thread(target=self._answer, args=(listener, bell, on_call), name="doorbell", daemon=True).start()

    @staticmethod
    def _answer(listener: socket.socket, bell: Doorbell, on_call: Callable[[str], str]) -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:  # closed by close(): the thread's end
                return
            with caller, contextlib.suppress(OSError):
                caller.settimeout(ANSWER_WITHIN)
                secret, _, word = caller.recv(REPLY_LIMIT).decode("utf-8", "replace").partition(" ")
                if secrets.compare_digest(secret.encode(), bell.secret.encode()):
                    caller.sendall(on_call(word.strip()).encode())

    def call(self, word: str) -> str | None:
        """Send ``word`` to the running hub; None when it does not answer."""
        try:
            values = json.loads(self._address_file.read_text(encoding="utf-8"))
            with socket.create_connection(("127.0.0.1", int(values["port"])), timeout=ANSWER_WITHIN) as line:
                line.sendall(f"{values['secret']} {word}".encode())
                return line.recv(REPLY_LIMIT).decode("utf-8", "replace")
        except (OSError, ValueError, KeyError):
            return None

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
            self._address_file.unlink(missing_ok=True)
        self._lock.release()
