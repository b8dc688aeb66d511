"""Looks once a day whether there is a newer agent-hub and says so. Never downloads or installs anything.

Asks one address of the settings (``hub.update_url``; empty = never) for a small JSON document and sends nothing about
this computer or its person. Two shapes are read: ``{"version", "link", "news"}``, and that of a code host's "latest
release" (``tag_name``, ``html_url``, ``body``). What it says is text from outside: shown, never run, never formatted.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from agents.contract import HubError
from agents.versions import read_version
from app.settings import Settings
from bridge.clock import Clock
from bridge.texts import tr

log = logging.getLogger(__name__)

DAY = 86_400.0
LOOK_EVERY = 600.0
"""Seconds between two looks at the clock: a computer that slept asks soon after it wakes."""
FIRST_LOOK = 30.0
"""Seconds after the start, when everything more important has begun."""
ANSWER_SECONDS = 20.0
LARGEST_ANSWER = 256 * 1024
"""Bytes; the notes of one release are a few thousand."""
NEWS_LETTERS = 600
RECORD = "update.json"


class UpdateCheckError(HubError):
    """The address did not say what the newest version is."""


@dataclass(frozen=True, slots=True)
class Release:
    """The newest version as its address tells it; ``link`` is https or empty, ``news`` plain text."""

    version: str
    link: str = ""
    news: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What was heard last, kept between starts. ``asked`` is wall-clock seconds of the last question, 0 = never."""

    asked: float = 0.0
    release: Release | None = None


def parse_release(body: bytes) -> Release:
    """Read an answer; raises UpdateCheckError when it names no version."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UpdateCheckError(tr("The answer about new versions is not JSON."), detail=str(error)[:200]) from error
    if not isinstance(said, dict):
        raise UpdateCheckError(tr("The answer about new versions names no version."))
    version = read_version(first_text(said, "version", "tag_name"))
    if version is None:
        raise UpdateCheckError(tr("The answer about new versions names no version."))
    return Release(
        str(version), safe_link(first_text(said, "link", "html_url")), one_paragraph(first_text(said, "news", "body"))
    )


def first_text(said: dict[str, Any], *names: str) -> str:
    return next((said[name] for name in names if isinstance(said.get(name), str)), "")


def safe_link(link: str) -> str:
    """Only an https address is shown as a link."""
    try:
        parts = urlsplit(link.strip())
    except ValueError:
        return ""
    return link.strip() if parts.scheme == "https" and parts.hostname and link.isprintable() else ""


def one_paragraph(text: str) -> str:
    """Without line breaks and control characters, a few lines long."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return flat if len(flat) <= NEWS_LETTERS else flat[: NEWS_LETTERS - 1] + "…"


def is_newer(release: Release, running: str) -> bool:
    """A source tree without a version is never told to update."""
    theirs, ours = read_version(release.version), read_version(running)
    return theirs is not None and ours is not None and theirs > ours


async def ask(url: str) -> Release:
    """Ask this address and no other (redirects are not followed). Raises UpdateCheckError."""
    is_here = urlsplit(url).hostname == "127.0.0.1"  # a proxy of the environment must not apply
    try:
        async with (
            asyncio.timeout(ANSWER_SECONDS),
            httpx.AsyncClient(trust_env=not is_here, headers={"User-Agent": "agent-hub"}) as client,
            client.stream("GET", url, headers={"Accept": "application/json"}) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise UpdateCheckError(
                    tr("The address for new versions answered {code}.", code=response.status_code),
                    tr("Check hub.update_url in the settings."),
                )
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LARGEST_ANSWER:
                    raise UpdateCheckError(tr("The answer about new versions is too large."))
    except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError) as error:
        raise UpdateCheckError(
            tr("The address for new versions can't be reached."),
            tr("It is tried again tomorrow."),
            type(error).__name__,
        ) from error
    return parse_release(body)


class UpdateWatch:
    """Asks once a day while the hub runs. ``newer`` is what there is to show."""

    def __init__(self, folder: Path, settings: Callable[[], Settings], running: str) -> None:
        self._file = folder / RECORD
        self._settings = settings
        self._running = running
        self._known: Known | None = None

    @property
    def newer(self) -> Release | None:
        """A release newer than the running version; None while the check is off."""
        release = self._known.release if self._known and self._address else None
        return release if release is not None and is_newer(release, self._running) else None

    @property
    def _address(self) -> str:
        hub = self._settings().hub
        return hub.update_url if hub.update_check else ""

    async def run(self, clock: Clock) -> None:
        """Look until cancelled; what goes wrong is logged and tried again the next day."""
        await clock.sleep(FIRST_LOOK)
        while True:
            await self.look(clock.now())
            await clock.sleep(LOOK_EVERY)

    async def look(self, now: float) -> None:
        """Ask if a day has passed since the last time; also when the clock was set back."""
        if self._known is None:
            self._known = await asyncio.to_thread(read_record, self._file)
        address = self._address
        if not address or 0 <= now - self._known.asked < DAY:
            return
        release: Release | None
        try:
            release = await ask(address)
        except UpdateCheckError as error:
            log.info("no news about versions: %s (%s)", error.title, error.detail)
            release = self._known.release
        self._known = Known(now, release)
        await asyncio.to_thread(write_record, self._file, self._known)
        if (newer := self.newer) is not None:
            log.info("agent-hub %s is there, %s runs: %s", newer.version, self._running, newer.link or "no link")


def read_record(file: Path) -> Known:
    """What was kept; nothing when there is no record or it can't be read: then it is asked again."""
    try:
        kept: Any = json.loads(file.read_text(encoding="utf-8"))
        release = kept["release"]
        return Known(float(kept["asked"]), parse_release(json.dumps(release).encode()) if release else None)
    except (OSError, ValueError, KeyError, TypeError, HubError) as error:
        if not isinstance(error, FileNotFoundError):
            log.info("the record of the last look for a new version can't be read: %s", type(error).__name__)
        return Known()


def write_record(file: Path, known: Known) -> None:
    """Keep it; a disk that refuses costs one more question after the next start."""
    try:
        file.write_text(json.dumps(asdict(known)), encoding="utf-8")
    except OSError as error:
        log.info("the record of the look for a new version can't be written: %s", error.strerror)
