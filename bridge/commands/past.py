"""/sessions and /resume: what the agents remember, begun by this hub or in a terminal, taken up by a tap."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from agents.contract import AgentNotFoundError, HubError, SessionId, StoredSession
from bridge.bindings import Binding
from bridge.commands.saving import archive_of, guarded
from bridge.commands.table import Call
from bridge.folders import check_folder, is_inside, resolve
from bridge.markdown.part import Part
from bridge.sheet import bold, clip, code, lines, row
from bridge.texts import tr, trn
from bridge.topics.topic import Topic

log = logging.getLogger(__name__)

PAST = "past"
SHOWN = 12
LIST_TIMEOUT = 45.0
FRESH = 120.0
"""Seconds; a history written so shortly ago may still have a writer elsewhere."""


@dataclass(frozen=True, slots=True)
class Found:
    """A stored session and whose it is."""

    agent: str
    session: StoredSession


async def show_sessions(topic: Topic, call: Call) -> None:
    """``/sessions``: this topic's folder, every agent; ``/sessions all``: all allowed folders."""
    topic.crew.start(_list(topic, is_everywhere=call.arguments.strip().lower() == "all"), "sessions")


async def resume(topic: Topic, call: Call) -> None:
    """``/resume``: the list; ``/resume ID``: that session of this topic's agent."""
    wish = call.arguments.strip()
    if not wish:
        await show_sessions(topic, call)
        return
    found, _ = await look(topic, None, (topic.binding.agent,))
    fitting = [one for one in found if wish == one.session.id] or [
        one for one in found if len(wish) >= 4 and one.session.id.startswith(wish)
    ]
    if len(fitting) != 1:
        title = tr("Several sessions begin with that.") if fitting else tr("There is no such session here.")
        raise HubError(title, tr("See /sessions all."))
    await take_up(topic, fitting[0])


async def _list(topic: Topic, *, is_everywhere: bool) -> None:
    """Look at every agent at once, beside the topic's own work; errors are said, never raised."""
    try:
        found, failed = await look(topic, None if is_everywhere else topic.binding.cwd, tuple(topic.context.backends))
        show(topic, found, failed, is_everywhere=is_everywhere)
    except HubError as error:
        topic.context.say_error(topic.place, error)


async def look(topic: Topic, cwd: Path | None, agents: Sequence[str]) -> tuple[list[Found], list[str]]:
    """The sessions in ``cwd`` (None: in all allowed folders), newest first, and the agents that could not tell."""
    results = await asyncio.gather(*(_of_agent(topic, agent, cwd) for agent in agents))
    failed = [agent for agent, sessions in zip(agents, results, strict=True) if sessions is None]
    roots = [resolve(root) for root in topic.context.config.roots]
    found = [
        Found(agent, session)
        for agent, sessions in zip(agents, results, strict=True)
        for session in sessions or ()
        if is_allowed(session.cwd, roots)
    ]
    return sorted(found, key=lambda one: one.session.updated, reverse=True), failed


def is_allowed(folder: Path, roots: Sequence[Path]) -> bool:
    """Whether a session's folder is one that topics may work in, links followed."""
    try:
        return is_inside(resolve(folder), roots)
    except HubError:
        return False


async def _of_agent(topic: Topic, agent: str, cwd: Path | None) -> Sequence[StoredSession] | None:
    archive = topic.context.backends[agent].archive
    if archive is None:
        return ()
    try:
        async with asyncio.timeout(LIST_TIMEOUT):
            return await archive.list(cwd)
    except AgentNotFoundError:
        return ()
    except (HubError, TimeoutError, OSError) as error:
        log.info("%s could not list its sessions: %r", agent, error)
        return None
    except Exception:  # a stranger's file among an agent's own must not hide the sessions of the others
        log.exception("%s could not list its sessions", agent)
        return None


def show(topic: Topic, found: Sequence[Found], failed: Sequence[str], *, is_everywhere: bool) -> None:
    """The list with a button each."""
    titles = {kind: backend.traits.title for kind, backend in topic.context.backends.items()}
    trouble = tr("Could not be asked: {names}", names=", ".join(titles[kind] for kind in failed)) if failed else ""
    wider = "" if is_everywhere else tr("/sessions all looks in every allowed folder.")
    if not found:
        topic.context.say(topic.place, lines(tr("No session was found."), wider, trouble))
        return
    shown = found[:SHOWN]
    labels = [
        (
            f"{number}. {clip(one.session.title or one.session.id, 34)}",
            json.dumps([one.agent, one.session.id, str(one.session.cwd)]),
        )
        for number, one in enumerate(shown, 1)
    ]
    more = len(found) - len(shown)
    part = lines(
        bold(tr("Sessions, newest first")),
        *(entry(topic, number, one, is_everywhere=is_everywhere) for number, one in enumerate(shown, 1)),
        trn("… and {count} more", "… and {count} more", more) if more > 0 else "",
        tr("A press goes on with one in this topic. Close it elsewhere first, or turns get lost."),
        wider,
        trouble,
    )
    with topic.context.database.transaction():
        keyboard = topic.context.buttons.keyboard(topic.place, PAST, labels, columns=1)
        topic.context.say(topic.place, part, keyboard=keyboard)


def entry(topic: Topic, number: int, one: Found, *, is_everywhere: bool) -> Part:
    """First words, agent, age, where it runs."""
    backend = topic.context.backends[one.agent]
    owner = topic.context.bindings.holder(one.agent, one.session.id)
    marks = [
        backend.traits.title,
        tr("{time} ago", time=age_text(topic.context.clock.now() - one.session.updated.timestamp())),
        str(one.session.cwd) if is_everywhere else "",
        tr("this topic") if owner is not None and owner.place == topic.place else "",
        tr("topic “{title}”", title=name_of(owner)) if owner is not None and owner.place != topic.place else "",
        tr("open elsewhere") if one.session.is_live and owner is None else "",
    ]
    words = clip(one.session.title or one.session.id, 90)
    return row(f"{number}. ", bold(words), " · " + " · ".join(mark for mark in marks if mark))


async def pressed(topic: Topic, value: str, menu: str) -> None:
    """A session was chosen; it is looked up again, because much may have happened since."""
    del menu
    is_sure = value.startswith("!")
    agent, session_id, cwd = json.loads(value.removeprefix("!"))
    if agent not in topic.context.backends:
        raise HubError(tr("There is no agent named {agent}.", agent=agent))
    found = await _of_agent(topic, agent, Path(cwd))
    session = next((session for session in found or () if session.id == session_id), None)
    if session is None:
        raise HubError(tr("That session is not there any more."), tr("See /sessions."))
    await take_up(topic, Found(agent, session), is_sure=is_sure)


async def take_up(topic: Topic, one: Found, *, is_sure: bool = False) -> None:
    """The session goes on in this topic, in its own folder. Raises HubError; asks where two might write."""
    if topic.is_busy:
        raise HubError(tr("A turn is running."), tr("Wait for its end, or /stop it first."))
    session = one.session
    if topic.binding.session_id == session.id and topic.binding.agent == one.agent:
        topic.context.say(topic.place, tr("This topic works with that session already."))
        return
    _refuse_held(topic, one)
    folder = resolve(session.cwd)
    check_folder(folder)
    if not is_inside(folder, topic.context.config.roots):
        raise HubError(tr("{folder} is outside the allowed folders.", folder=folder))
    since = (datetime.fromtimestamp(topic.context.clock.now(), UTC) - session.updated).total_seconds()
    if since < FRESH and not is_sure and not session.is_only_copied:
        _ask(topic, one, since)
        return
    session_id = await copied(topic, one) if session.is_only_copied else session.id
    await topic.start_afresh(topic.binding.afresh(agent=one.agent, cwd=session.cwd))
    _refuse_held(topic, one)  # another topic may have taken it while ours was closed
    topic.rebind(replace(topic.binding, session_id=session_id))
    topic.context.say(
        topic.place,
        lines(
            row("✅ ", tr("Goes on here: "), bold(clip(session.title or session.id, 90))),
            row(f"{topic.title} · ", code(str(session.cwd))),
            tr("It is a copy; the one in the terminal stays as it is.")
            if session.is_only_copied
            else tr("Close it in the terminal, if it is open there, or turns get lost."),
        ),
    )


async def copied(topic: Topic, one: Found) -> SessionId:
    """A session with the past of one that the agent can't open for the hub. Raises HubError."""
    archive = archive_of(topic, one.agent)
    folder = topic.context.data / "outgoing" / topic.context.new_id()

    async def work() -> SessionId:
        async with asyncio.timeout(LIST_TIMEOUT):
            snapshot = await archive.export(one.session.id, one.session.cwd, folder)
            return await archive.restore(snapshot, one.session.cwd)

    try:
        return await guarded(work(), tr("The session could not be copied."))
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _refuse_held(topic: Topic, one: Found) -> None:
    """Raises HubError while the session has another writer that can be seen."""
    owner = topic.context.bindings.holder(one.agent, one.session.id)
    if owner is not None:
        raise HubError(
            tr("That session belongs to the topic “{title}”.", title=name_of(owner)),
            tr("Go on there; /save it there and /restore it here for a copy."),
        )
    if one.session.is_live:
        raise HubError(
            tr("That session is open elsewhere on this computer."), tr("Close it there first, or turns get lost.")
        )


def _ask(topic: Topic, one: Found, since: float) -> None:
    value = "!" + json.dumps([one.agent, one.session.id, str(one.session.cwd)])
    with topic.context.database.transaction():
        keyboard = topic.context.buttons.keyboard(topic.place, PAST, [(tr("It is closed, go on"), value)])
        part = lines(
            bold(tr("Its history was written {time} ago.", time=age_text(since))),
            tr("If it is still open in a terminal, close it there first, or turns get lost."),
        )
        topic.context.say(topic.place, part, keyboard=keyboard)


def name_of(binding: Binding) -> str:
    return binding.title or f"#{binding.place.topic_id}"


def age_text(seconds: float) -> str:
    """How long ago, roughly."""
    minutes = max(0, int(seconds // 60))
    if minutes < 1:
        return tr("{seconds} s", seconds=max(0, int(seconds)))
    if minutes < 90:
        return tr("{count} min", count=minutes)
    hours = round(minutes / 60)
    if hours < 36:
        return tr("{count} h", count=hours)
    return trn("{count} day", "{count} days", round(hours / 24))
