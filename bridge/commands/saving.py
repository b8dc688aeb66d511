"""/save, /saves, /restore: a session's history frozen under a name, and brought into this or another topic."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from agents.contract import AgentBackend, HubError, SessionArchive, SessionId, Snapshot
from bridge.commands.table import Call
from bridge.folders import check_folder, is_inside, resolve
from bridge.markdown.part import Part
from bridge.sheet import bold, clip, code, lines, row
from bridge.snapshots import Saved, SnapshotError
from bridge.snapshots.fitness import is_older
from bridge.snapshots.manifest import clean_name
from bridge.texts import tr
from bridge.topics.topic import Topic

log = logging.getLogger(__name__)

T = TypeVar("T")
SAVED = "saved"
PAGE = 8
ARCHIVE_TIMEOUT = 90.0
"""Seconds for the agent's archive; Codex may have to start its server first."""


async def save(topic: Topic, call: Call) -> None:
    """``/save [name]``: freeze what the agent remembers now."""
    refuse_in_turn(topic)
    binding = topic.binding
    archive = archive_of(topic)
    session_id = binding.session_id
    if session_id is None:
        raise HubError(tr("There is no session to save yet."), tr("Write a task here first."))
    name = clean_name(call.arguments) or clean_name(f"{binding.title or binding.cwd.name} {today(topic)}")

    async def export(to: Path) -> Snapshot:
        async with asyncio.timeout(ARCHIVE_TIMEOUT):
            return await archive.export(session_id, binding.cwd, to)

    version = topic.started.version if topic.started else await installed_version(topic)
    saved = await guarded(topic.context.shelf.add(export, name, version), tr("The session could not be saved."))
    topic.context.say(
        topic.place,
        lines(
            row("💾 ", tr("Saved as "), bold(saved.name), f" · {size_text(saved)}"),
            tr("It holds what the agent remembers: no project files, no login."),
            row(tr("Bring it into any topic with "), code(f"/restore {saved.name}")),
        ),
    )


async def show_saved(topic: Topic, call: Call) -> None:
    """``/saves``: the list, with buttons to restore and delete."""
    del call
    await list_saved(topic)


async def restore(topic: Topic, call: Call) -> None:
    """``/restore [name]``: at once by name, else the list."""
    if not call.arguments.strip():
        await list_saved(topic)
        return
    saved = await asyncio.to_thread(topic.context.shelf.find, call.arguments)
    await bring_back(topic, saved)


async def list_saved(topic: Topic, page: int = 0, menu: str = "") -> None:
    """One page of what is saved. Buttons only for what this topic's agent can go on with."""
    shelf = topic.context.shelf
    found = await asyncio.to_thread(shelf.all)
    damaged = await asyncio.to_thread(shelf.damaged_ids)
    broken = tr("Damaged and left out: {names}", names=", ".join(damaged)) if damaged else ""
    if not found:
        topic.show_menu(lines(tr("Nothing is saved yet. /save keeps this topic's session."), broken), (), menu)
        return
    shown = found[page * PAGE : (page + 1) * PAGE]
    rows = [
        [(f"↩️ {clip(one.name, 34)}", f"use:{one.id}"), ("🗑", f"ask:{page}:{one.id}")]
        for one in shown
        if one.agent == topic.binding.agent
    ]
    turns = [("◀️", f"page:{page - 1}")] if page else []
    if (page + 1) * PAGE < len(found):
        turns.append(("▶️", f"page:{page + 1}"))
    part = lines(
        bold(tr("Saved sessions")),
        *(entry(topic, one) for one in shown),
        tr("A press brings one here. This topic's own session stays in /sessions."),
        broken,
    )
    topic.show_menu(part, topic.context.buttons.grid(topic.place, SAVED, [*rows, turns] if turns else rows), menu)


def entry(topic: Topic, saved: Saved) -> Part:
    """Name, agent, age, size, and its first words."""
    backend = topic.context.backends.get(saved.agent)
    facts = [backend.traits.title if backend else saved.agent, date_text(saved.saved), size_text(saved)]
    words = clip(saved.title, 60)
    return row("• ", bold(saved.name), f" · {' · '.join(facts)}", f" — {words}" if words else "")


async def pressed(topic: Topic, value: str, menu: str) -> None:
    """A button of the list."""
    action, _, rest = value.partition(":")
    shelf = topic.context.shelf
    match action:
        case "page":
            await list_saved(topic, int(rest), menu)
        case "use":
            await bring_back(topic, await asyncio.to_thread(shelf.find, rest))
        case "ask":
            page, _, snapshot_id = rest.partition(":")
            saved = await asyncio.to_thread(shelf.find, snapshot_id)
            choices = [(tr("Delete it"), f"delete:{page}:{saved.id}"), (tr("Keep it"), f"page:{page}")]
            keyboard = topic.context.buttons.keyboard(topic.place, SAVED, choices)
            topic.show_menu(lines(row(tr("Delete for good? "), bold(saved.name))), keyboard, menu)
        case "delete":
            page, _, snapshot_id = rest.partition(":")
            saved = await asyncio.to_thread(shelf.find, snapshot_id)
            await asyncio.to_thread(shelf.remove, saved)
            await list_saved(topic, int(page), menu)


async def bring_back(topic: Topic, saved: Saved) -> None:
    """A new session with the saved past, in this topic and its folder. Raises HubError; nothing changes then."""
    refuse_in_turn(topic)
    refuse_other_agent(topic, saved)
    archive = archive_of(topic)
    folder = usable_folder(topic)
    here = await installed_version(topic) or (topic.started.version if topic.started else "")
    if is_older(here, saved.version):
        raise SnapshotError(
            tr(
                "Saved by {agent} {saved}; here is the older {here}.", agent=topic.title, saved=saved.version, here=here
            ),
            tr("Update {agent} on this computer, then restore.", agent=topic.title),
        )
    snapshot = await asyncio.to_thread(topic.context.shelf.open, saved)

    async def work() -> SessionId:
        async with asyncio.timeout(ARCHIVE_TIMEOUT):
            return await archive.restore(snapshot, folder)

    session_id = await guarded(work(), tr("The session could not be restored."))
    await topic.start_afresh(topic.binding)
    topic.rebind(replace(topic.binding, session_id=session_id))
    topic.context.say(
        topic.place,
        lines(
            row("✅ ", tr("Restored "), bold(saved.name), f" · {date_text(saved.saved)}"),
            row(tr("The next text goes on from there, in "), code(str(folder))),
        ),
    )


def refuse_in_turn(topic: Topic) -> None:
    if topic.is_busy:
        raise HubError(tr("A turn is running."), tr("Wait for its end, or /stop it first."))


def refuse_other_agent(topic: Topic, saved: Saved) -> None:
    """One agent can't read another's history."""
    if saved.agent == topic.binding.agent:
        return
    backend = topic.context.backends.get(saved.agent)
    title = backend.traits.title if backend else saved.agent
    hint = (
        tr("Choose it with /agent {kind}, then restore.", kind=saved.agent)
        if backend
        else tr("{agent} is not on this computer.", agent=title)
    )
    raise SnapshotError(tr("Saved with {agent}; here works {other}.", agent=title, other=topic.title), hint)


def usable_folder(topic: Topic) -> Path:
    """The topic's folder, checked. Raises HubError."""
    folder = topic.binding.cwd
    check_folder(folder)
    if not is_inside(resolve(folder), topic.context.config.roots):
        raise HubError(tr("{folder} is outside the allowed folders.", folder=folder), tr("Choose another with /cwd."))
    return folder


def archive_of(topic: Topic, agent: str = "") -> SessionArchive:
    """The archive of the topic's agent, or of another one. Raises HubError for an agent that keeps no past."""
    archive = topic.context.backend(agent or topic.binding.agent).archive
    if archive is None:
        raise HubError(tr("{agent} keeps no sessions that could be saved.", agent=topic.title))
    return archive


async def installed_version(topic: Topic) -> str:
    """What the agent's program says of itself, "" when it can't be told."""
    backend: AgentBackend = topic.context.backend(topic.binding.agent)
    try:
        async with asyncio.timeout(ARCHIVE_TIMEOUT):
            return (await backend.probe()).version
    except TimeoutError:
        return ""


async def guarded(work: Awaitable[T], title: str) -> T:
    """What an archive stumbles over is a damaged history or a program of another version, never a fault of the hub."""
    try:
        return await work
    except HubError:
        raise
    except TimeoutError as error:
        raise HubError(title, tr("The agent took too long. Try again.")) from error
    except Exception as error:
        log.exception("an agent's archive failed")
        raise HubError(title, tr("Its files are damaged or of another version."), repr(error)) from error


def today(topic: Topic) -> str:
    return time.strftime("%d.%m. %H:%M", time.localtime(topic.context.clock.now()))


def date_text(moment: float) -> str:
    return time.strftime("%d.%m.%Y %H:%M", time.localtime(moment))


def size_text(saved: Saved) -> str:
    kilobytes = max(1, round(saved.size / 1000))
    return tr("{count} kB", count=kilobytes) if kilobytes < 1000 else tr("{count} MB", count=round(kilobytes / 1000))
