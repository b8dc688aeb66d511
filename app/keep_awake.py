"""Keeps the computer awake while turns run, and lets it sleep afterwards.

wakepy knows the desktop's own ways; on Linux it has no way through logind (measured on wakepy 1.0.0), so a
``systemd-inhibit`` child holds that lock. A computer that offers neither simply sleeps: that is no error.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import subprocess
import sys
from typing import Protocol

logger = logging.getLogger(__name__)


class Lock(Protocol):
    """One way of keeping awake."""

    def take(self) -> bool:
        """Whether the computer now stays awake by this way."""

    def release(self) -> None: ...


class DesktopLock:
    """The desktop's own interface, through wakepy."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()

    def take(self) -> bool:
        from wakepy import keep

        mode = self._stack.enter_context(keep.running(on_fail="pass"))
        return bool(mode.active)

    def release(self) -> None:
        self._stack.close()


class LogindLock:
    """A child of ``systemd-inhibit`` that waits on a pipe: it ends with the hub, however the hub ends."""

    def __init__(self, program: str = "systemd-inhibit") -> None:
        self._program = program
        self._child: subprocess.Popen[bytes] | None = None

    def take(self) -> bool:
        program = shutil.which(self._program)
        if sys.platform != "linux" or program is None:
            return False
        command = [program, "--what=idle:sleep", "--who=agent-hub", "--why=An agent is working", "--mode=block", "cat"]
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return self._child.poll() is None

    def release(self) -> None:
        if self._child is None:
            return
        if self._child.stdin is not None:
            self._child.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=2)
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait(timeout=2)
        self._child = None


class KeepAwake:
    """Awake while anything runs. Call ``set_busy`` as often as you like; blocking, so call it in a thread."""

    def __init__(self, locks: tuple[Lock, ...] | None = None) -> None:
        self._locks = locks if locks is not None else (DesktopLock(), LogindLock())
        self._held: list[Lock] = []
        self._is_busy = False

    def set_busy(self, is_busy: bool) -> None:
        if is_busy == self._is_busy:
            return
        self._is_busy = is_busy
        if not is_busy:
            self.release()
            return
        for lock in self._locks:
            try:
                taken = lock.take()
            except (OSError, RuntimeError) as error:
                logger.info("can't keep the computer awake by %s: %s", type(lock).__name__, error)
                continue
            if taken:
                self._held.append(lock)

    def release(self) -> None:
        for lock in self._held:
            lock.release()
        self._held.clear()
