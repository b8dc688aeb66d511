"""Turns a voice note into text: by a program of the person's, or a service that speaks as OpenAI's does.

Nothing here reaches an agent; what was understood is shown first. The program gets an allow-listed environment and no
shell; the key of a service is read from the variable that the settings name and is never logged.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import httpx
import psutil

from agents.contract import HubError
from bridge.config import VoiceSettings
from bridge.texts import tr

log = logging.getLogger(__name__)

TIME_LIMIT = 180.0
"""Seconds for one voice note; a small model on a slow computer takes about as long as the note."""
TEXT_LIMIT = 12_000
"""Characters; an hour of speech has about 50,000, a prompt that long is a mistake."""
OUTPUT_LIMIT = 200_000
"""Bytes read from a program or a service."""
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA")


class VoiceError(HubError):
    """The voice note could not be turned into text."""


async def transcribe(file: Path, settings: VoiceSettings) -> str:
    """What is said in ``file``. Raises VoiceError."""
    try:
        async with asyncio.timeout(TIME_LIMIT):
            text = await (by_command(file, settings) if settings.command else by_service(file, settings))
    except TimeoutError as error:
        raise VoiceError(tr("Turning the voice note into text took too long.")) from error
    text = " ".join(text.split("\0")).strip()
    if not text:
        raise VoiceError(tr("Nothing was understood in the voice note."), tr("Say it again, or write it."))
    return text[:TEXT_LIMIT]


def command_line(command: str, file: Path) -> list[str]:
    """The program and its arguments; "{file}" is the sound file, which is added at the end when nothing names it.

    Raises VoiceError for a command that can't be read.
    """
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError as error:
        raise VoiceError(
            tr("The command for voice notes can't be read."), tr("Mend [voice] in the settings.")
        ) from error
    if not words:
        raise VoiceError(tr("The command for voice notes is empty."), tr("Mend [voice] in the settings."))
    if any("{file}" in word for word in words):
        return [word.replace("{file}", str(file)) for word in words]
    return [*words, str(file)]


def environment(everything: Mapping[str, str]) -> dict[str, str]:
    """What a program for voice notes may see."""
    return {name: everything[name] for name in PASSED_ON if name in everything}


async def by_command(file: Path, settings: VoiceSettings) -> str:
    """The program's standard output. Raises VoiceError."""
    words = command_line(settings.command, file)
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(os.environ),
            cwd=file.parent,
        )
    except (OSError, ValueError) as error:
        title = tr("The program for voice notes could not be started: {program}", program=words[0])
        raise VoiceError(title, tr("Mend [voice] in the settings."), str(error)) from error
    assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018 - asked for above
    try:
        output, errors = await asyncio.gather(read(process.stdout), read(process.stderr))
        code = await process.wait()
    finally:
        await end(process)
    if code:
        detail = errors.decode("utf-8", "replace")[-1000:]
        raise VoiceError(tr("The program for voice notes failed ({code}).", code=code), detail=detail)
    return output.decode("utf-8", "replace")


async def read(stream: asyncio.StreamReader) -> bytes:
    """All of it, the first part kept."""
    kept = b""
    while chunk := await stream.read(65_536):
        kept = (kept + chunk)[:OUTPUT_LIMIT]
    return kept


async def end(process: asyncio.subprocess.Process) -> None:
    """Nothing of the program stays behind."""
    if process.returncode is not None:
        return
    try:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
    except (psutil.Error, ProcessLookupError):
        log.debug("the program for voice notes was gone already")
    await process.wait()


async def by_service(file: Path, settings: VoiceSettings) -> str:
    """The service's answer, plain or as JSON with ``text``. Raises VoiceError."""
    key = os.environ.get(settings.key_variable, "") if settings.key_variable else ""
    if settings.key_variable and not key:
        title = tr("The key of the voice service is missing: {name}", name=settings.key_variable)
        raise VoiceError(title, tr("Set that environment variable for agent-hub."))
    form = {"model": settings.model or "whisper-1", "response_format": "json"}
    if settings.language:
        form["language"] = settings.language
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    content = await asyncio.to_thread(file.read_bytes)
    try:
        async with httpx.AsyncClient(timeout=TIME_LIMIT, follow_redirects=False) as client:
            answer = await client.post(
                settings.url, data=form, files={"file": (file.name, content, "audio/ogg")}, headers=headers
            )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise VoiceError(tr("The voice service can't be reached."), tr("Is it running?"), repr(error)[:300]) from error
    if answer.status_code != httpx.codes.OK:
        raise VoiceError(tr("The voice service refused ({code}).", code=answer.status_code), detail=answer.text[:500])
    return said_in(answer)


def said_in(answer: httpx.Response) -> str:
    """The text of an answer. Raises VoiceError."""
    try:
        found = answer.json()
    except ValueError:
        return answer.text
    text = found.get("text") if isinstance(found, dict) else None
    if not isinstance(text, str):
        raise VoiceError(tr("The voice service answered something else than text."))
    return text
