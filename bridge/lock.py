"""The second factor: a stolen chat account alone must not be a shell.

Locked after a time without a person, at every start, and when the time that ``/unlock CODE`` bought is over. Codes are
time-based (RFC 6238), each opens once, wrong ones are counted over restarts. The lock decides nothing else: desk and
hub ask ``is_locked``. The secret comes from the keyring through ``app``; it never enters a log or a message.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import pyotp

from bridge.audit import AuditEvent, AuditLine, Statement, insertion
from bridge.clock import Clock
from bridge.config import LockSettings
from bridge.store import Database, StoreError
from bridge.texts import tr

log = logging.getLogger(__name__)

STEP = 30
"""Seconds a code is shown (RFC 6238 default, what authenticator apps use)."""
DRIFT = 1
"""Steps a phone's clock may be off."""
LOOK = 30.0
"""Seconds between two looks whether it is time to lock; only the notice depends on it."""


class UnlockResult(StrEnum):
    """What came of a code."""

    OPEN = "open"
    WRONG = "wrong"
    USED = "used"
    TOO_MANY = "too many"
    NOT_SET_UP = "not set up"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class UnlockOutcome:
    """``until`` is the wall clock until which the hub is open, or until which every code is refused."""

    result: UnlockResult
    text: str
    until: float = 0.0


def new_secret() -> str:
    """A fresh secret for the keyring (160 bits, base32)."""
    return pyotp.random_base32()


def provisioning_uri(secret: str, name: str) -> str:
    """What the QR code for the authenticator app holds."""
    return pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name="agent-hub")


class HubLock:
    """``secret`` gives the secret that was read from the keyring, "" when there is none: then nothing opens.

    ``on_change`` is called when it locks or opens.
    """

    def __init__(
        self,
        settings: Callable[[], LockSettings],
        secret: Callable[[], str],
        database: Database,
        clock: Clock,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._secret = secret
        self._database = database
        self._clock = clock
        self.on_change = on_change
        self._opened: tuple[float, float] | None = None
        self._touched: tuple[float, float] = (0.0, 0.0)
        self._said_locked = True
        self._one_at_a_time = asyncio.Lock()

    @property
    def is_locked(self) -> bool:
        """Whether no turn may begin and nothing may be allowed from the chat."""
        if not self._settings().is_enabled:
            return False
        return self.time_left() <= 0

    def time_left(self) -> float:
        """Seconds until it locks by itself, 0 when it is locked. By the stricter of the two clocks."""
        if self._opened is None:
            return 0.0
        settings = self._settings()
        left = min(settings.open_for - self._since(self._opened), settings.idle - self._since(self._touched))
        return max(left, 0.0)

    def touch(self) -> None:
        """A person who is on the list did something: the idle time begins anew, if it is open."""
        if not self.is_locked:
            self._touched = self._stamp()

    async def unlock(self, code: str, *, by_id: int | None, by_name: str) -> UnlockOutcome:
        """Try a code. Raises StoreError when its use can't be recorded: then it stays locked."""
        async with self._one_at_a_time:  # or a burst of guesses would pass the limit together
            return await self._unlock(code, by_id, by_name)

    def unlock_at_desk(self) -> None:
        """The person sits at the computer: no code is needed."""
        self._open(None, tr("you, at the computer"))

    def lock_now(self, *, by_id: int | None, by_name: str) -> bool:
        """Lock at once; False when the lock is switched off."""
        if not self._settings().is_enabled:
            return False
        self._opened, self._said_locked = None, True
        self._write(AuditEvent.LOCKED, by_id, by_name)
        self.on_change()
        return True

    async def run(self) -> None:
        """Notice when the time is over, so that cards and tray say so. Owned and cancelled by the hub."""
        while True:
            if self.is_locked and not self._said_locked:
                self._opened, self._said_locked = None, True
                self._write(AuditEvent.LOCKED, None, tr("the hub"))
                self.on_change()
            await self._clock.sleep(min(max(self.time_left(), 1.0), LOOK))

    # --- inside

    async def _unlock(self, code: str, by_id: int | None, by_name: str) -> UnlockOutcome:
        settings = self._settings()
        if not settings.is_enabled:
            return UnlockOutcome(UnlockResult.OFF, tr("The lock is switched off. There is nothing to unlock."))
        totp = usable(self._secret())
        if totp is None:
            text = tr("The lock has no usable secret. Set it up at the computer, in the window or the terminal.")
            return UnlockOutcome(UnlockResult.NOT_SET_UP, text)
        blocked_until = self._blocked_until(settings)
        if blocked_until > self._clock.now():
            text = tr("Too many wrong codes. Wait, or unlock at the computer.")
            return UnlockOutcome(UnlockResult.TOO_MANY, text, blocked_until)
        step, now = self._step_of(code, totp), self._clock.now()
        if step is None:
            return await self._refuse(UnlockResult.WRONG, by_id, by_name)
        if not await self._database.durably(lambda connection: use_up(connection, step, now)):
            return await self._refuse(UnlockResult.USED, by_id, by_name)
        return self._open(by_id, by_name)

    def _open(self, by_id: int | None, by_name: str) -> UnlockOutcome:
        self._opened = self._touched = self._stamp()
        self._said_locked = False
        self._database.execute("DELETE FROM lock_attempts")
        self._write(AuditEvent.UNLOCKED, by_id, by_name)
        self.on_change()
        minutes = round(self._settings().open_for / 60)
        text = tr("🔓 Unlocked for at most {minutes} minutes.", minutes=minutes)
        return UnlockOutcome(UnlockResult.OPEN, text, self._clock.now() + self._settings().open_for)

    async def _refuse(self, result: UnlockResult, by_id: int | None, by_name: str) -> UnlockOutcome:
        now = self._clock.now()
        line = AuditLine(now, AuditEvent.WRONG_CODE, "text", by_id, by_name, reason=result.value)
        statements: list[Statement] = [
            ("INSERT INTO lock_attempts (at, by_id) VALUES (?, ?)", (now, by_id)),
            insertion(line),
        ]
        await self._database.durably(lambda connection: [connection.execute(*statement) for statement in statements])
        if result is UnlockResult.USED:
            return UnlockOutcome(result, tr("This code was used already. Wait for the next one."))
        return UnlockOutcome(result, tr("Wrong code. The hub stays locked."))

    def _blocked_until(self, settings: LockSettings) -> float:
        """The end of the pause after too many wrong codes; stamps of a clock that was set back still count."""
        most = max(settings.attempts, 1)
        rows = self._database.rows("SELECT at FROM lock_attempts ORDER BY id DESC LIMIT ?", (most,))
        if len(rows) < most:
            return 0.0
        return float(rows[-1]["at"]) + settings.attempts_window

    def _step_of(self, code: str, totp: pyotp.TOTP) -> int | None:
        digits = "".join(letter for letter in code if letter.isascii() and letter.isdigit())
        now = int(self._clock.now()) // STEP
        found: int | None = None
        for step in range(now - DRIFT, now + DRIFT + 1):
            if hmac.compare_digest(totp.generate_otp(step), digits):
                found = step
        return found

    def _stamp(self) -> tuple[float, float]:
        return self._clock.now(), self._clock.monotonic()

    def _since(self, stamp: tuple[float, float]) -> float:
        wall, monotonic = stamp
        return max(self._clock.now() - wall, self._clock.monotonic() - monotonic)

    def _write(self, event: AuditEvent, by_id: int | None, by_name: str) -> None:
        line = AuditLine(self._clock.now(), event, "text" if by_id else "hub", by_id, by_name)
        try:
            self._database.execute(*insertion(line))
        except StoreError:
            log.exception("a change of the lock could not be written")


def usable(secret: str) -> pyotp.TOTP | None:
    """The codes of a secret; None when it is missing, too short or no base32."""
    try:
        return pyotp.TOTP(secret, interval=STEP) if secret else None
    except ValueError:  # binascii.Error is one
        return None


def use_up(connection: sqlite3.Connection, step: int, now: float) -> bool:
    """Mark a code as used; False when it, or a later one, was. Inside the durable transaction."""
    (last,) = connection.execute("SELECT coalesce(max(step), -1) FROM lock_codes").fetchone()
    if step <= last:
        return False
    connection.execute("INSERT INTO lock_codes (step, used) VALUES (?, ?)", (step, now))
    connection.execute("DELETE FROM lock_codes WHERE step < ?", (step,))
    return True
