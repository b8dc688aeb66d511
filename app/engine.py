"""Builds the bridge from the settings and runs it in the current event loop. Knows no Qt and no thread.

One engine is one life of the hub: ``start``, then ``stop``. What the window may ask of it is ``app.engine_facade``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Coroutine, Mapping
from random import Random
from typing import Any
from urllib.parse import urlsplit

from agents.catalogue import Finder, deferred_backends
from agents.contract import AgentBackend, HubError
from agents.deferred import DeferredBackends
from agents.processes import sweep
from agents.reaper import shared_reaper
from app.health import HubView
from app.logs import redactor
from app.paths import Folders
from app.process_records import ProcessFile
from app.rule_seals import RuleSeals
from app.settings import Settings
from bridge.clock import Clock, SystemClock
from bridge.config import BridgeConfig
from bridge.context import HubContext
from bridge.delivery import ChatMovedTo, DeliveryEvent, RightsLost, StoreTrouble, TokenRefused, TopicLost, WaitingUntil
from bridge.hub import Hub
from bridge.lock import HubLock
from bridge.outbox import Outbox
from bridge.pending import AskDesk
from bridge.recovery import Pending
from bridge.store import Database
from bridge.telegram.api import ApiAddress
from bridge.telegram.client import TelegramClient
from bridge.telegram.poller import Poller, PollGap, PollState
from bridge.telegram.updates import parse_update
from bridge.texts import set_language, tr

log = logging.getLogger(__name__)

SHOWN_ASKS = 5
"""Open requests named in the tray's menu."""
WARM_AFTER = 1.0
"""Seconds from the start until the adapters that nobody asked for yet are imported."""
QUIT_SECONDS = 1.0
"""How long calls under way may take at the end."""


class Engine:
    """The hub with everything it needs. ``on_view`` hears of each change, in the loop's thread."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        folders: Folders,
        *,
        on_view: Callable[[HubView], None] = lambda view: None,
        on_failure: Callable[[], None] = lambda: None,
        backends: Mapping[str, AgentBackend] | None = None,
        clock: Clock | None = None,
        lock_secret: str = "",
    ) -> None:
        redactor.hide(token)
        self.settings = settings
        self.settings_file = folders.settings_file
        """Guarded like the hub's folders; may lie anywhere."""
        self.folders = folders
        self.clock = clock or SystemClock()
        self.backends = backends if backends is not None else deferred_backends(settings.launches(), Finder())
        self._token = token
        self.lock_secret = lock_secret
        """Of the second factor; "" opens nothing. May be set while the engine runs."""
        self._on_view = on_view
        self._on_failure = on_failure
        self._processes = ProcessFile(folders.data / "processes.json")
        self._tasks: list[asyncio.Task[None]] = []
        self._naming: asyncio.Task[None] | None = None
        self._trouble: HubError | None = None
        self.waiting_until = 0.0
        self._view = HubView()

    # --- life

    async def start(self) -> None:
        """Open the database, recover the former life, begin to poll.

        Raises HubError when that can't be; nothing is left open then, and ``stop`` must not follow.
        """
        async with contextlib.AsyncExitStack() as undo:
            await self._start(undo)
            undo.pop_all()

    async def _start(self, undo: contextlib.AsyncExitStack) -> None:
        self.folders.make()
        set_language(self.settings.hub.language)
        left = self._processes.load()
        await sweep([one.record for one in left], marks=[one.mark for one in left])
        self.database = await asyncio.to_thread(Database.open, self.folders.database_file, self.clock)
        undo.push_async_callback(asyncio.to_thread, self.database.close)
        telegram = self.settings.telegram
        address = ApiAddress(
            telegram.base_url,
            telegram.base_file_url,
            telegram.proxy,
            uses_environment=not is_loopback(telegram.base_url),
        )
        self.client = TelegramClient(self._token, address)
        undo.push_async_callback(self._close_client)
        await self.client.__aenter__()
        self._build()
        undo.push_async_callback(self._close_backends)
        undo.push_async_callback(self.hub.stop)
        await self.hub.start(self._unfinished())
        self._tasks = [
            asyncio.create_task(self._guarded(self.outbox.run()), name="outbox"),
            asyncio.create_task(self._guarded(self.poller.run()), name="poller"),
            asyncio.create_task(self._guarded(self._warm()), name="agents' adapters"),
        ]
        self._changed()

    async def stop(self) -> None:
        """End sessions, let calls under way finish for a second, close everything. Never raises."""
        for task in self._tasks[1:]:
            task.cancel()
        if self._naming is not None:
            self._naming.cancel()
        await self.hub.stop()
        await self.outbox.settle_down(QUIT_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close_backends()
        await self._close_client()
        self._processes.save(shared_reaper().running)
        await asyncio.to_thread(self.database.close)

    async def _close_backends(self) -> None:
        backends = self.backends
        made = backends.made if isinstance(backends, DeferredBackends) else backends.values()
        await asyncio.gather(*(backend.close() for backend in made), return_exceptions=True)

    async def _warm(self) -> None:
        """Once the first poll is under way, import what the first task will need, out of the loop's way."""
        await self.clock.sleep(WARM_AFTER)
        if isinstance(self.backends, DeferredBackends):
            await asyncio.to_thread(self.backends.warm)

    async def _close_client(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(QUIT_SECONDS):
                await self.client.close()

    def _build(self) -> None:
        config = self._config()
        clock, database = self.clock, self.database
        self.outbox = Outbox(
            self.client,
            database,
            clock,
            random=Random(),  # noqa: S311 - spreads retries, hides nothing
            on_event=self._delivery_event,
        )
        self.lock = HubLock(
            lambda: self.hub.context.config.lock, lambda: self.lock_secret, database=database, clock=clock
        )
        self.desk = AskDesk(
            config=lambda: self.hub.context.config,
            database=database,
            delivery=self.outbox,
            clock=clock,
            new_id=new_id,
            lock=self.lock,
            files=self.folders.data / "asks",
        )
        self.desk.rules.seals = RuleSeals(self.folders)
        context = HubContext(
            config=config,
            messenger=self.client,
            delivery=self.outbox,
            database=database,
            backends=self.backends,
            desk=self.desk,
            clock=clock,
            new_id=new_id,
            data=self.folders.data,
        )
        self.hub = Hub(context, bell=self._changed, lock=self.lock)

        self.poller = Poller(
            self.client,
            self.hub.context.journal,
            clock,
            random=Random(),  # noqa: S311 - spreads retries, hides nothing
            on_update=self.hub.handle,
            on_state=self._poll_state,
            on_gap=self._poll_gap,
        )

    def _unfinished(self) -> list[Pending]:
        """What the former life had taken and not finished, parsed again."""
        entries = self.hub.context.journal.unfinished()
        return [Pending(parse_update(entry.body), entry.state) for entry in entries]

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """A room that ends by itself is a fault: said in the tray, and the host begins a new life."""
        try:
            await work
        except Exception as error:
            log.exception("a part of the hub failed")
            self._trouble = HubError(tr("The hub met an error and starts again."), detail=type(error).__name__)
            self._changed()
            self._on_failure()

    def reconfigure(self, settings: Settings) -> None:
        """Use settings that need no new life."""
        self.settings = settings
        set_language(settings.hub.language)
        self.hub.reconfigure(self._config())
        self._changed()

    def _config(self) -> BridgeConfig:
        guarded = (self.folders.config, self.folders.data, self.folders.runtime, self.settings_file)
        return self.settings.bridge_config(guarded)

    # --- news

    def _poll_state(self, state: PollState) -> None:
        if state.is_connected:
            self.outbox.wake()
            if not self.hub.context.bot_name and self._naming is None:
                self._naming = asyncio.create_task(self._learn_name(), name="bot's name")
        self._changed()

    async def _learn_name(self) -> None:
        """Commands may carry the bot's name ("/stop@name"); those with another name are for another bot."""
        try:
            self.hub.context.bot_name = (await self.client.me()).username
        except HubError as error:
            log.info("the bot's name is not known yet: %s", error.title)
            self._naming = None

    def _poll_gap(self, gap: PollGap) -> None:
        """Telegram forgets presses after 150 s: what waits for a person is shown again."""
        self.hub.was_away(gap.seconds)
        if not gap.is_start:
            self.desk.show_again()

    def _delivery_event(self, event: DeliveryEvent) -> None:
        """What the outbox found out goes to the hub, the log and the tray."""
        match event:
            case TopicLost():
                self.hub.topic_lost(event.place, is_closed=event.is_closed)
            case ChatMovedTo():
                self.hub.chat_moved(event.old_chat_id, event.new_chat_id)
            case WaitingUntil():
                self.waiting_until = event.until
                log.warning("Telegram asks to leave chat %s alone until %.0f", event.chat_id, event.until)
            case RightsLost():
                self._trouble = HubError(
                    tr("The bot lost a right in the group."),
                    hint=tr("Make it an administrator again."),
                    detail=event.reason,
                )
                log.warning("rights lost in chat %s: %s", event.chat_id, event.reason)
            case TokenRefused():
                self._trouble = token_refused()
            case StoreTrouble():
                self._trouble = HubError(
                    tr("The database can't be written; messages wait."),
                    hint=tr("Free some disk space."),
                    detail=event.reason,
                )
        self._changed()

    def _changed(self) -> None:
        """Something in the hub changed: remember what runs, and tell tray and window when they would look different."""
        self._processes.save(shared_reaper().running)
        view = self.make_view()
        if view != self._view:
            self._view = view
            self._on_view(view)

    def make_view(self) -> HubView:
        """The hub at a glance. Made at every change, so it asks no topic for the words of its state."""
        poll, asks, topics = self.poller.state, self.desk.open_asks(), self.hub.topics()
        titles = {topic.place: topic.binding.title for topic in topics}
        trouble = poll.problem or self._trouble
        waits = self.waiting_until - self.clock.now()
        hint = trouble.hint if trouble else ""
        if waits > 60 and not hint:
            hint = tr("Telegram asks to wait {seconds} s before the next message.", seconds=round(waits))
        return HubView(
            is_connected=poll.is_connected,
            is_paused=self.hub.context.is_paused,
            is_locked=self.desk.is_locked,
            has_lock=self.settings.lock.enabled,
            waiting=len(asks),
            waits=tuple(f"{titles.get(ask.origin.place, '')}: {ask.title}" for ask in asks[:SHOWN_ASKS]),
            running=sum(topic.turn is not None for topic in topics),
            problem=trouble.title if trouble else "",
            hint=hint,
        )


def new_id() -> str:
    """A random id that fits into a button (12 bytes, 16 letters)."""
    return secrets.token_urlsafe(12)


def token_refused() -> HubError:
    return HubError(
        tr("Telegram does not accept the bot token any more."),
        hint=tr("Set a new one: agent-hub token, or Set up in the window."),
    )


def is_loopback(address: str) -> bool:
    """A simulator or an own server on this computer: a proxy of the environment must not apply."""
    return urlsplit(address).hostname in {"127.0.0.1", "localhost", "::1"}
