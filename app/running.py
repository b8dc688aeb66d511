"""``agent-hub run``: with tray and window where this desktop can show them, else headless with the reason said."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path

from agents.contract import HubError
from app import crash, logs
from app.console import OutputGoneError, complain, say
from app.health import HubView
from app.host import Host
from app.paths import Folders, folders
from app.single_instance import SingleInstance
from bridge.texts import tr


def run_command(settings_file: Path | None, data_dir: Path | None, *, headless: bool, verbose: bool) -> int:
    """Run until quit; exit code 0, or 0 at once when a hub already runs on this data folder."""
    place = folders(data_dir)
    place.make()
    logs.set_up(place.logs, verbose=verbose, to_console=headless)
    crash.install(place.logs)
    instance = SingleInstance(place)
    if not instance.acquire():
        answer = instance.call("show")
        say(tr("agent-hub is already running.") + (f" {answer}" if answer else ""))
        return 0
    try:
        if headless or not can_show_window():
            return run_headless(place, settings_file, data_dir, instance)
        from app.ui.program import run_with_window

        return run_with_window(place, settings_file, data_dir, instance)
    finally:
        instance.close()


def can_show_window() -> bool:
    """Whether Qt starts here; a missing library would abort this very process, so a child tries it first."""
    from app.doctor import State, check_display, check_qt  # not needed without a window

    for finding in (check_display(), check_qt()):
        if finding.state is not State.OK:
            complain(f"{finding.message}. {finding.hint}")
            complain(tr("Running without a window."))
            return False
    return True


def run_headless(place: Folders, settings_file: Path | None, data_dir: Path | None, instance: SingleInstance) -> int:
    """The engine in this thread until SIGINT or SIGTERM."""
    host = Host(place, settings_file, data_dir)
    instance.listen(lambda _word: host.view.sentence)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(host))
    return 0


async def _serve(host: Host) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C arrives as KeyboardInterrupt
            loop.add_signal_handler(number, stopped.set)
    last = ""

    def show(view: HubView) -> None:
        nonlocal last
        line = " ".join(part for part in (view.sentence, view.hint) if part)
        if line != last:
            last = line
            with contextlib.suppress(OutputGoneError, HubError):  # a hub lives on when its terminal or journal is gone
                say(line)

    running = asyncio.create_task(host.run(show))
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    running.cancel()
    await asyncio.gather(running, waiting, return_exceptions=True)
    if not running.cancelled():
        running.result()  # a hub that broke must not end as one that was told to: the service starts it again
