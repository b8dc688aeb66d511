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

from agents.contract import HubError
from app import secrets
from app.agents_report import probe_all
from app.console import say, say_json
from app.paths import Folders, folders
from app.settings import Settings, load
from bridge.texts import set_language, told

MIN_FREE_BYTES = 200 * 1024 * 1024
QT_TRIAL = "from app.doctor import try_qt; try_qt()"
QT_TRIAL_FLAG = "--qt-trial"
"""The hidden argument by which a frozen application tries Qt in a process of its own."""
QT_TRIAL_SECONDS = 30


class State(StrEnum):
    """How a check ended; ``warning`` means the hub works without it."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: ``message`` is what was found, ``hint`` what to do ("" when nothing)."""

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
            say(f"{marks[finding.state]} {finding.name}: {finding.message}")
            if finding.hint:
                say(f"    {finding.hint}")
    return 1 if any(finding.state is State.PROBLEM for finding in findings) else 0


async def examine(settings_file: Path | None, data_dir: Path | None) -> Sequence[Finding]:
    """Run every check; slow ones in threads, so that one that hangs does not hold up the others."""
    place = folders(data_dir)
    try:
        settings = load(settings_file or place.settings_file)
    except HubError as error:
        settings_finding = Finding("settings", State.PROBLEM, error.title, error.hint)
        settings = Settings()
    else:
        settings_finding = Finding("settings", State.OK, str(settings_file or place.settings_file))
        set_language(settings.hub.language)
    checks: list[Callable[[], Finding]] = [
        check_python,
        check_display,
        check_qt,
        lambda: check_token(place),
        check_keyring,
        lambda: check_disk(place),
        lambda: check_roots(settings),
        lambda: check_users(settings),
    ]
    results = await asyncio.gather(*(asyncio.to_thread(check) for check in checks))
    return [settings_finding, *results, await check_telegram(settings, place), *await check_agents(settings)]


def check_python() -> Finding:
    text = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    return Finding("python", State.OK, text)


def check_display() -> Finding:
    if sys.platform in {"win32", "darwin"} or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return Finding("display", State.OK, "a display is there")
    return Finding("display", State.WARNING, "no display", "Start with: agent-hub run --headless")


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
        return Finding("window", State.WARNING, f"Qt could not be tried: {type(error).__name__}", QT_HINT)
    if trial.returncode == 0:
        return Finding("window", State.OK, "Qt starts")
    last = (trial.stderr.strip().splitlines() or ["no message"])[-1]
    return Finding("window", State.WARNING, f"Qt does not start: {last[:200]}", QT_HINT)


def try_qt() -> None:
    """Make a Qt application and let it go; aborts the whole process when a library is missing."""
    from app.ui.program import make_application

    make_application()


QT_HINT = (
    "On Debian and Ubuntu: apt install libgl1 libegl1 libfontconfig1 libxkbcommon0 libdbus-1-3 libxcb-cursor0 "
    "libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxkbcommon-x11-0. "
    "Without a window: agent-hub run --headless"
)


def check_token(place: Folders) -> Finding:
    try:
        token = secrets.read(place)
    except HubError as error:
        return Finding("bot token", State.PROBLEM, error.title, error.hint)
    if token.source is secrets.SecretSource.FILE:
        return Finding("bot token", State.WARNING, "kept in a plaintext file", "Move it: agent-hub token")
    return Finding("bot token", State.OK, f"from the {token.source.value}")


def check_keyring() -> Finding:
    try:
        return Finding("keyring", State.OK, secrets.backend_name())
    except HubError as error:
        return Finding("keyring", State.WARNING, error.title, error.hint)


def check_disk(place: Folders) -> Finding:
    folder = next(folder for folder in (place.data, *place.data.parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        return Finding("disk", State.PROBLEM, f"{free // 2**20} MB free in {folder}", "Free some space.")
    return Finding("disk", State.OK, f"{free // 2**30} GB free")


def check_roots(settings: Settings) -> Finding:
    roots = settings.workspace.roots
    if not roots:
        return Finding("folders", State.PROBLEM, "no folder to work in", "Set [workspace] roots in the settings.")
    gone = [str(root) for root in roots if not os.access(root, os.R_OK | os.X_OK)]
    if gone:
        return Finding("folders", State.WARNING, f"can't be read: {', '.join(gone)}", "Mount or mend them.")
    return Finding("folders", State.OK, ", ".join(map(str, roots)))


def check_users(settings: Settings) -> Finding:
    if not settings.telegram.chats or not settings.telegram.users:
        return Finding(
            "who may use it",
            State.PROBLEM,
            "no group or no user is set",
            "Set [telegram] chats and users in the settings.",
        )
    return Finding(
        "who may use it", State.OK, f"{len(settings.telegram.users)} users in {len(settings.telegram.chats)} groups"
    )


async def check_telegram(settings: Settings, place: Folders) -> Finding:
    """Ask Telegram who the bot is."""
    from bridge.telegram.api import ApiAddress
    from bridge.telegram.client import TelegramClient

    try:
        token = await asyncio.to_thread(secrets.read, place)
    except HubError:
        return Finding("Telegram", State.WARNING, "not tried without a token")
    try:
        telegram = settings.telegram
        address = ApiAddress(telegram.base_url, telegram.base_file_url, telegram.proxy)
        async with TelegramClient(token.value, address) as client:
            bot = await client.me()
    except HubError as error:
        return Finding("Telegram", State.PROBLEM, error.title, error.hint or "Check the network and the proxy.")
    return Finding("Telegram", State.OK, f"connected as @{bot.username}")


async def check_agents(settings: Settings) -> Sequence[Finding]:
    return [
        Finding(
            health.title,
            State.OK if health.is_usable and not health.problem else State.WARNING,
            told(health.problem) or f"{health.version} at {health.program}"
            if health.program
            else told(health.problem) or "built in",
            told(health.hint),
        )
        for health in await probe_all(settings)
    ]
