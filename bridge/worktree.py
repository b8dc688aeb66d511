"""A new git worktree beside a repository, so that two topics can work on one project without meeting.

Hooks of the repository are switched off: an agent may have written them, and nothing may run unasked.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from agents.contract import HubError
from bridge.folders import FolderError, is_inside
from bridge.texts import tr

GIT_TIMEOUT = 60.0
_PASSED_ON = ("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TMP", "TEMP", "TMPDIR", "LANG", "LC_ALL", "XDG_CONFIG_HOME")


def repository_of(folder: Path) -> Path | None:
    """The working tree that ``folder`` belongs to, None outside a repository."""
    return next((path for path in (folder, *folder.parents) if (path / ".git").exists()), None)


async def add_worktree(folder: Path, name: str, roots: Sequence[Path]) -> Path:
    """Make ``<repository>-<name>`` beside the repository, on a new branch ``hub/<name>``. Raises HubError."""
    repository = repository_of(folder)
    if repository is None:
        raise HubError(tr("{folder} is no git repository.", folder=folder))
    target = repository.parent / f"{repository.name}-{name}"
    if not is_inside(target.parent.resolve(), roots):
        raise FolderError(
            tr("A worktree would lie outside the allowed folders."), tr("Allow the folder above in the window.")
        )
    arguments = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-C", str(repository))
    await _git(*arguments, "worktree", "add", "-b", f"hub/{name}", str(target))
    return target


async def _git(*arguments: str) -> None:
    env = {key: value for key in _PASSED_ON if (value := os.environ.get(key)) is not None}
    env["GIT_TERMINAL_PROMPT"] = "0"
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *arguments,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise HubError(tr("git could not be started."), tr("Install git."), str(error)) from error
    try:
        async with asyncio.timeout(GIT_TIMEOUT):
            _, said = await process.communicate()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise HubError(tr("git did not finish."), tr("Look at the repository at the desk.")) from error
    if process.returncode:
        raise HubError(
            tr("git could not make the worktree."), said.decode("utf-8", "replace").strip()[-300:], "git worktree add"
        )
