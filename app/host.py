"""Owns the engine for as long as the program runs: starts it, starts it again after trouble, stops it. No Qt here.

Trouble that may pass (locked keyring, no token yet, a database held by another program) is shown and tried again;
the program itself keeps running. All methods of the public part belong to the thread that made the host.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection
from concurrent.futures import Future
from pathlib import Path

from agents.contract import HubError
from app import secrets
from app.cli import version
from app.daemon_thread import in_daemon_thread
from app.engine import Engine
from app.engine_facade import EngineFacade
from app.facade import Facade
from app.health import HubView
from app.keep_awake import KeepAwake
from app.loop_thread import LoopThread
from app.paths import Folders
from app.settings import Settings, SettingsError, load
from app.settings_fields import NEEDS_RESTART, changed
from app.settings_watch import Found, PendingChange, SettingsWatch, keeping_protected, taking, weigh
from app.update_check import Release, UpdateWatch
from bridge.clock import SystemClock
from bridge.texts import told, tr

log = logging.getLogger(__name__)

RETRY_SECONDS = 15.0
SHORT_LIFE = 60.0
"""Seconds; an engine that breaks sooner would most likely break again at once."""

OnView = Callable[[HubView], None]


class Host:
    """One program's engine, through all its lives. ``token`` None: looked up in the keyring and its stand-ins."""

    def __init__(self, folders: Folders, settings_file: Path | None = None, data_dir: Path | None = None) -> None:
        self.folders = folders
        self.settings_file = settings_file or folders.settings_file
        self.data_dir = data_dir
        self.settings = Settings()
        self.view = HubView()
        self.engine: Engine | None = None
        self.pending: tuple[PendingChange, ...] = ()
        self._shown: Settings | None = None
        """The file whose changes ``pending`` tells."""
        self._was_up = False
        """An engine has run: from now on the file alone never changes what is protected."""
        self._on_view: OnView = lambda view: None
        self._awake = KeepAwake()
        self._restart = asyncio.Event()
        self._lock_switched_on = asyncio.Event()
        self._has_failed = False
        self._updates = UpdateWatch(folders.data, lambda: self.settings, version())

    @property
    def newer(self) -> Release | None:
        """A version newer than this one, for the Health page."""
        return self._updates.newer

    @property
    def is_up(self) -> bool:
        return self.engine is not None

    def facade(self) -> Facade:
        """The verbs of the running engine; raises HubError while there is none."""
        if self.engine is None:
            raise HubError(tr("The hub is not running yet."), hint=self.view.hint)
        return EngineFacade(self.engine, self)

    async def run(self, on_view: OnView) -> None:
        """Run engines until cancelled. In the engine's loop."""
        self._on_view = on_view
        try:
            while True:
                self._restart.clear()
                self._has_failed, begun = False, SystemClock().monotonic()
                try:
                    await self._one_life()
                except HubError as error:
                    log.warning("the hub can't start: %s %s", error.title, error.detail)
                    self._show(HubView(problem=told(error.title), hint=told(error.hint)))
                    await self._wait_to_retry()
                else:
                    if self._has_failed and SystemClock().monotonic() - begun < SHORT_LIFE:
                        self._restart.clear()
                        await self._wait_to_retry()
        finally:
            await asyncio.to_thread(self._awake.release)

    async def _wait_to_retry(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._restart.wait(), RETRY_SECONDS)

    def _life_failed(self) -> None:
        """A part of the engine broke: begin a new life, but not one after the other without a pause."""
        self._has_failed = True
        self.restart()

    async def _one_life(self) -> None:
        """From a start to a wanted restart or the end."""
        self._show(HubView())
        watch = SettingsWatch(self.settings_file, lambda: self.settings, self._settings_changed)
        await self._read_settings()
        token = await self._token()
        lock_secret = await self._lock_secret() if self.settings.lock.enabled else ""
        engine = Engine(
            self.settings,
            token,
            self.folders,
            on_view=self._show,
            on_failure=self._life_failed,
            lock_secret=lock_secret,
        )
        engine.settings_file = self.settings_file
        await engine.start()
        try:
            self.engine, self._was_up = engine, True
            self._show(engine.make_view())
            await self._watch_until_restart(watch)
        finally:
            self.engine = None
            await asyncio.shield(engine.stop())

    async def _read_settings(self) -> None:
        """The whole file at the start of the program; a later life begins by itself and gets only what may apply.

        Whoever can write the file can also bring about a new life (another language is enough).
        """
        try:
            in_file = await asyncio.to_thread(load, self.settings_file)
        except SettingsError as error:
            if not self._was_up:
                raise
            log.warning("the settings file is not used, the settings in force stay: %s", error.title)
            return
        if self._was_up:
            self.settings = self._hold(weigh(self.settings, in_file))
        else:
            self.settings, self.pending = in_file, ()

    async def _watch_until_restart(self, watch: SettingsWatch) -> None:
        """Follow the settings file until a new life is wanted."""
        watching = [
            asyncio.create_task(watch.run(SystemClock()), name="settings file"),
            asyncio.create_task(self._updates.run(SystemClock()), name="new versions"),
            asyncio.create_task(self._follow_lock(), name="secret of the lock"),
        ]
        try:
            await self._restart.wait()
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)

    def _settings_changed(self, found: Found) -> None:
        """The file was changed by hand: use what may be used, keep the rest for the person at the desk."""
        applied = self._hold(found)
        for change in self.pending:
            log.warning("a change of %s in the settings file waits for a yes in the window", change.name)
        self.use(applied)

    def use(self, new: Settings) -> None:
        """Put settings in force: in the running engine where possible, else by a new life. In the engine's loop."""
        old, self.settings = self.settings, new
        if any(name.startswith(NEEDS_RESTART) for name in changed(old, new)) or old.agents != new.agents:
            self.restart()
        elif self.engine is not None:
            if new.lock.enabled and not self.engine.lock_secret:
                self._lock_switched_on.set()
            self.engine.reconfigure(new)

    def use_changes(self, in_file: Settings, names: Collection[str]) -> None:
        """The person at the desk changed these settings; what else differs in the file is held back as ever."""
        self.use(self._hold(weigh(taking(self.settings, in_file, names), in_file)))

    async def accept_pending(self) -> None:
        """The person at the desk says yes to what waits in the file; to nothing that came after it was shown."""
        in_file = await asyncio.to_thread(load, self.settings_file)
        shown = self._shown
        self._hold(weigh(self.settings, in_file))
        if shown is None or keeping_protected(shown, in_file) != in_file:
            raise HubError(
                tr("Changed in the settings file, not in force until you say yes:"),
                hint="\n".join(f"{change.name}: {change.old} → {change.new}" for change in self.pending),
            )
        self.pending = ()
        self.use(in_file)

    def _hold(self, found: Found) -> Settings:
        """Remember what waits for a yes; returns what may be used."""
        self.pending, self._shown = found.pending, found.in_file
        return found.applied

    async def _token(self) -> str:
        try:
            async with asyncio.timeout(secrets.KEYRING_SECONDS):
                return (await in_daemon_thread(secrets.read, self.folders)).value
        except TimeoutError as error:
            raise secrets.KeyringUnavailableError(
                tr("The keyring does not answer."), hint=tr("Unlock it; the hub tries again.")
            ) from error

    async def _follow_lock(self) -> None:
        """The lock was switched on in a running engine: until its secret is read, only the desk can open it."""
        while True:
            await self._lock_switched_on.wait()
            self._lock_switched_on.clear()
            if self.engine is not None:
                self.engine.lock_secret = await self._lock_secret() or self.engine.lock_secret

    async def _lock_secret(self) -> str:
        """The secret of the second factor; without it the hub runs and stays locked."""
        try:
            async with asyncio.timeout(secrets.KEYRING_SECONDS):
                return await in_daemon_thread(secrets.read_lock_secret, self.folders)
        except (TimeoutError, secrets.SecretError) as error:
            log.warning("the secret of the lock can't be read, so the hub stays locked: %s", type(error).__name__)
            return ""

    def restart(self) -> None:
        """End this life and begin another with the settings and the token of now. In the engine's loop."""
        self._restart.set()

    def _show(self, view: HubView) -> None:
        was_busy = bool(self.view.running)
        self.view = view
        if bool(view.running) != was_busy:
            self._keep_awake(bool(view.running))
        self._on_view(view)

    def _keep_awake(self, is_busy: bool) -> None:
        task = asyncio.get_running_loop().run_in_executor(None, self._awake.set_busy, is_busy)
        task.add_done_callback(note_failure)


def note_failure(done: asyncio.Future[None]) -> None:
    """A computer that can't be kept awake simply sleeps; the log says why."""
    if not done.cancelled() and (error := done.exception()):
        log.info("keeping awake failed: %s", error)


class ThreadedHost(Host):
    """The host in a worker thread, for programs whose main thread belongs to a window."""

    def __init__(self, folders: Folders, settings_file: Path | None = None, data_dir: Path | None = None) -> None:
        super().__init__(folders, settings_file, data_dir)
        self.loop = LoopThread("engine", self._failed)
        self._running: Future[None] | None = None

    def start(self, on_view: OnView) -> None:
        """Begin to run; ``on_view`` is called in the engine's thread."""
        self._running = self.loop.call(self.run(on_view))

    def stop(self, then: Callable[[], None]) -> None:
        """End everything; ``then`` is called in the engine's thread when it has ended."""
        running = self._running
        if running is None:
            then()
            return
        running.add_done_callback(lambda _done: then())
        running.cancel()

    def restart_from_outside(self) -> None:
        self.loop.soon(self.restart)

    def _failed(self, error: BaseException) -> None:
        log.error("the engine failed: %s", error, exc_info=error)
        self._show(HubView(problem=tr("The hub met an error: {error}", error=type(error).__name__)))
