"""``agent-hub doctor``: everything the hub needs, checked one by one, each with what to do when it is missing.

The same checks stand behind the window's Health page. Nothing here changes anything; a check never raises.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from agents.contract import HubError
from app import secrets
from app.agents_report import probe_all
from app.console import say, say_json
from app.daemon_thread import in_daemon_thread
from app.paths import Folders, folders
from app.qt_libraries import needed_packages
from app.settings import Settings, load
from bridge.texts import mark, told, tr, trn

if TYPE_CHECKING:
    from bridge.telegram.client import BotAccount, TelegramClient

MIN_FREE_BYTES = 200 * 1024 * 1024
QT_TRIAL = "from app.doctor import try_qt; try_qt()"
QT_TRIAL_FLAG = "--qt-trial"
"""The hidden argument by which a frozen application tries Qt in a process of its own."""
QT_TRIAL_SECONDS = 30
TRAY_HOST = "org.kde.StatusNotifierWatcher"


class State(StrEnum):
    """How a check ended; ``warning`` means the hub works without it."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: ``message`` is what was found, ``hint`` what to do ("" when nothing).

    ``name`` stays English: programs that read ``--json`` know checks by it; people see it in their language.
    """

    name: str
    state: State
    message: str
    hint: str = ""


def doctor_command(settings_file: Path | None, data_dir: Path | None, *, as_json: bool) -> int:
    """Print all findings; exit code 1 when something the hub can't do without is missing."""
    findings = asyncio.run(examine(settings_file, data_dir))
    if as_json:
        say_json([asdict(finding) for finding in findings])
    else:
        marks = {State.OK: "✓", State.WARNING: "!", State.PROBLEM: "✗"}
        for finding in findings:
            say(f"{marks[finding.state]} {tr(finding.name)}: {finding.message}")
            if finding.hint:
                say(f"    {finding.hint}")
    return 1 if any(finding.state is State.PROBLEM for finding in findings) else 0


async def examine(settings_file: Path | None, data_dir: Path | None) -> Sequence[Finding]:
    """Run every check; slow ones in threads, so that one that hangs does not hold up the others."""
    place = folders(data_dir)
    try:
        settings = load(settings_file or place.settings_file)
    except HubError as error:
        settings_finding = Finding(mark("settings"), State.PROBLEM, error.title, error.hint)
        settings = Settings()
    else:
        settings_finding = Finding("settings", State.OK, str(settings_file or place.settings_file))
    checks: list[Callable[[], Finding]] = [
        check_python,
        check_display,
        check_qt,
        check_tray,
        lambda: check_disk(place),
        lambda: check_roots(settings),
        lambda: check_users(settings),
    ]
    results = await asyncio.gather(
        patiently(mark("bot token"), lambda: check_token(place)),
        patiently(mark("keyring"), check_keyring),
        *(asyncio.to_thread(check) for check in checks),
    )
    telegram, agents = await asyncio.gather(check_telegram(settings, place), check_agents(settings))
    return [settings_finding, *results, *telegram, *agents]


async def patiently(name: str, check: Callable[[], Finding]) -> Finding:
    """A check that a keyring's prompt may block."""
    try:
        async with asyncio.timeout(secrets.KEYRING_SECONDS):
            return await in_daemon_thread(check)
    except TimeoutError:
        return Finding(name, State.PROBLEM, tr("The keyring does not answer."), tr("Unlock it and check again."))


def check_python() -> Finding:
    text = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    return Finding("Python", State.OK, text)


def check_display() -> Finding:
    if sys.platform in {"win32", "darwin"} or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return Finding(mark("display"), State.OK, tr("a display is there"))
    return Finding("display", State.WARNING, tr("no display"), tr("Start with: agent-hub run --headless"))


def check_qt() -> Finding:
    """Try Qt in a child: with missing libraries it aborts the process, which nothing in this one could catch."""
    environment = dict(os.environ)
    if check_display().state is not State.OK:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    try:
        trial = subprocess.run(
            [sys.executable, QT_TRIAL_FLAG] if getattr(sys, "frozen", False) else [sys.executable, "-c", QT_TRIAL],
            capture_output=True,
            text=True,
            timeout=QT_TRIAL_SECONDS,
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = tr("Qt could not be tried: {error}", error=type(error).__name__)
        return Finding(mark("window"), State.WARNING, why, qt_hint())
    if trial.returncode == 0:
        return Finding("window", State.OK, tr("Qt starts"))
    last = (trial.stderr.strip().splitlines() or [str(trial.returncode)])[-1]
    return Finding("window", State.WARNING, tr("Qt does not start: {error}", error=last[:200]), qt_hint())


def try_qt() -> None:
    """Make a Qt application and let it go; aborts the whole process when a library is missing."""
    from app.ui.program import make_application

    make_application()


def qt_hint() -> str:
    """The packages that are missing, where they have names; a way without a window everywhere."""
    headless = tr("Without a window: agent-hub run --headless")
    if sys.platform != "linux":
        return headless
    install = tr("On Debian and Ubuntu: apt install {packages}", packages=needed_packages())
    return f"{install}\n{headless}"


def check_tray() -> Finding:
    """Whether this desktop shows tray icons (StatusNotifierWatcher on the session bus; other systems always do)."""
    if sys.platform != "linux":
        return Finding(mark("tray"), State.OK, tr("part of this system"))
    try:
        from jeepney import message_bus
        from jeepney.io.blocking import open_dbus_connection

        with open_dbus_connection("SESSION") as bus:
            has_host = bool(bus.send_and_get_reply(message_bus.NameHasOwner(TRAY_HOST), timeout=5).body[0])
    except (ImportError, OSError, KeyError, TimeoutError, ValueError):
        return Finding("tray", State.WARNING, tr("no session bus"), tr("Without a tray the window stays open instead."))
    if has_host:
        return Finding("tray", State.OK, tr("this desktop shows icons"))
    return Finding(
        "tray",
        State.WARNING,
        tr("this desktop shows no tray icons"),
        tr("The window stays open instead. On GNOME, install the extension AppIndicator."),
    )


def check_token(place: Folders) -> Finding:
    try:
        token = secrets.read(place)
    except HubError as error:
        return Finding("bot token", State.PROBLEM, error.title, error.hint)
    if token.source is secrets.SecretSource.FILE:
        return Finding("bot token", State.WARNING, tr("kept in a plaintext file"), tr("Move it: agent-hub token"))
    return Finding("bot token", State.OK, secrets.source_text(token.source))


def check_keyring() -> Finding:
    try:
        return Finding("keyring", State.OK, secrets.backend_name())
    except HubError as error:
        return Finding("keyring", State.WARNING, error.title, error.hint)


def check_disk(place: Folders) -> Finding:
    folder = next(folder for folder in (place.data, *place.data.parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        said = tr("{size} MB free in {folder}", size=free // 2**20, folder=folder)
        return Finding(mark("disk"), State.PROBLEM, said, tr("Free some space."))
    return Finding("disk", State.OK, tr("{size} GB free", size=free // 2**30))


def check_roots(settings: Settings) -> Finding:
    roots = settings.workspace.roots
    if not roots:
        return Finding(mark("folders"), State.PROBLEM, tr("no folder to work in"), set_up_hint())
    gone = [str(root) for root in roots if not os.access(root, os.R_OK | os.X_OK)]
    if gone:
        return Finding(
            "folders", State.WARNING, tr("can't be read: {names}", names=", ".join(gone)), tr("Mount or mend them.")
        )
    return Finding("folders", State.OK, ", ".join(map(str, roots)))


def check_users(settings: Settings) -> Finding:
    users, chats = len(settings.telegram.users), len(settings.telegram.chats)
    if not users or not chats:
        return Finding(mark("who may use it"), State.PROBLEM, tr("no group or no person is set"), set_up_hint())
    people = trn("{count} person", "{count} people", users)
    groups = trn("{count} group", "{count} groups", chats)
    return Finding("who may use it", State.OK, f"{people}, {groups}")


def set_up_hint() -> str:
    return tr("Run: agent-hub setup, or press Set up in the window.")


async def check_telegram(settings: Settings, place: Folders) -> Sequence[Finding]:
    """Ask Telegram who the bot is, and what it may do in each group."""
    from bridge.telegram.api import ApiAddress
    from bridge.telegram.client import TelegramClient

    try:
        async with asyncio.timeout(secrets.KEYRING_SECONDS):
            token = await in_daemon_thread(secrets.read, place)
    except (HubError, TimeoutError):
        return [Finding("Telegram", State.WARNING, tr("not tried without a token"))]
    try:
        telegram = settings.telegram
        address = ApiAddress(telegram.base_url, telegram.base_file_url, telegram.proxy)
        async with TelegramClient(token.value, address) as client:
            bot = await client.me()
            groups = [await check_group(client, bot, chat) for chat in telegram.chats]
    except HubError as error:
        hint = error.hint or tr("Check the network and the proxy.")
        return [Finding("Telegram", State.PROBLEM, error.title, hint)]
    return [Finding("Telegram", State.OK, tr("connected as @{bot}", bot=bot.username)), *groups]


async def check_group(client: TelegramClient, bot: BotAccount, chat_id: int) -> Finding:
    """The bot's rights in one group: the same look as the wizard's."""
    from app.setup_steps import group_checks

    try:
        facts = await client.chat_facts(chat_id, bot.id)
    except HubError as error:
        return Finding(mark("group"), State.PROBLEM, f"{chat_id}: {error.title}", error.hint)
    missing = [check for check in group_checks(facts, bot) if not check.is_fine]
    if not missing:
        return Finding("group", State.OK, tr("{group}: the bot has every right it needs", group=facts.title))
    names = ", ".join(check.name for check in missing)
    return Finding(
        "group",
        State.PROBLEM,
        tr("{group}: missing: {what}", group=facts.title, what=names),
        "\n".join(check.hint for check in missing),
    )


async def check_agents(settings: Settings) -> Sequence[Finding]:
    return [
        Finding(
            health.title,
            State.OK if health.is_usable and not health.problem else State.WARNING,
            told(health.problem) or " ".join(part for part in (health.version, str(health.program or "")) if part),
            told(health.hint),
        )
        for health in await probe_all(settings)
    ]
