"""Where the secret of the project rules' seals is kept: the keyring, off the loop's thread and with a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from app import secrets
from app.daemon_thread import in_daemon_thread
from app.paths import Folders
from bridge.texts import tr


class RuleSeals:
    """``SealKeeper`` of one instance of the hub."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    async def read(self) -> bytes:
        return await self._asked(secrets.read_rule_secret)

    async def make(self) -> bytes:
        return await self._asked(secrets.make_rule_secret)

    async def _asked(self, question: Callable[[Folders], str]) -> bytes:
        try:
            async with asyncio.timeout(secrets.KEYRING_SECONDS):
                return (await in_daemon_thread(question, self._folders)).encode()
        except TimeoutError as error:
            raise secrets.KeyringUnavailableError(
                tr("The keyring does not answer."), hint=tr("Unlock it; the hub tries again.")
            ) from error
