"""/agent, /cwd, /model, /mode, /effort: what the agent really offers as buttons, or a value in the text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from agents.contract import AgentBackend, AgentChoice, AgentNotFoundError, HubError, SessionStarted
from bridge.commands.folder_picker import new_folder, show_places, use_folder
from bridge.commands.parsing import nearest
from bridge.commands.table import Call
from bridge.folders import choose_folder
from bridge.markdown.part import Part
from bridge.sheet import bold, clip, lines, plain, row
from bridge.texts import told, tr
from bridge.topics.topic import Topic

PICK = "pick"
BUTTONS_LIMIT = 24
LABEL_LIMIT = 40
LOOK_LIMIT = 5.0
"""Seconds to look for the programs of the agents; a slow disk must not keep the list from coming."""


async def choose_agent(topic: Topic, call: Call) -> None:
    await choose(topic, "agent", call.arguments.lower())


async def choose_folder_of(topic: Topic, call: Call) -> None:
    await choose(topic, "cwd", call.arguments)


async def choose_model(topic: Topic, call: Call) -> None:
    await choose(topic, "model", call.arguments)


async def choose_mode(topic: Topic, call: Call) -> None:
    await choose(topic, "mode", call.arguments)


async def choose_effort(topic: Topic, call: Call) -> None:
    await choose(topic, "effort", call.arguments)


async def choose(topic: Topic, what: str, value: str) -> None:
    """Set ``value``, or show what there is to choose. Raises HubError."""
    if what in ("model", "mode", "effort") and topic.offers is None:
        topic.after_start.append((what, value))
        if topic.open_session():
            topic.context.say(topic.place, tr("Asking {agent} what it offers…", agent=topic.title))
    elif value:
        await apply(topic, what, value)
    elif what == "agent":
        await _show_agents(topic)
    elif what == "cwd":
        show_places(topic)
    else:
        _show_offers(topic, what)


async def _show_agents(topic: Topic) -> None:
    """A button for each agent of this computer; those that are not on it are named, so that nobody looks for them."""
    backends = dict(sorted(topic.context.backends.items()))
    is_here = await asyncio.gather(*(_is_installed(backend) for backend in backends.values()))
    missing = [kind for kind, is_there in zip(backends, is_here, strict=True) if not is_there]
    labels = [
        (("• " if kind == topic.binding.agent else "") + backend.traits.title, f"agent:{kind}")
        for kind, backend in backends.items()
        if kind not in missing
    ]
    absent = ""
    if missing:
        names = ", ".join(backends[kind].traits.title for kind in missing)
        absent = tr(
            "Not on this computer: {names}. How to get one: {command}", names=names, command=f"/agent {missing[0]}"
        )
    _offer(topic, lines(row(tr("Agent here: "), bold(topic.title)), absent), labels)


async def _is_installed(backend: AgentBackend) -> bool:
    """Whether the agent's program is there; one that can't be told in time is offered."""
    try:
        async with asyncio.timeout(LOOK_LIMIT):
            await backend.locate()
    except AgentNotFoundError:
        return False
    except TimeoutError:
        return True
    return True


def _show_offers(topic: Topic, what: str) -> None:
    started = topic.offers
    offered = offers(started, what) if started else ()
    if started is None or not offered:
        topic.context.say(topic.place, tr("{agent} offers no choice here.", agent=topic.title))
        return
    now = current(topic, started, what)
    labels = [
        (("• " if choice.id == now else "") + clip(told(choice.label) or choice.id, LABEL_LIMIT), f"{what}:{choice.id}")
        for choice in offered[:BUTTONS_LIMIT]
    ]
    described = [
        row(bold(told(choice.label) or choice.id), f" — {clip(told(choice.description), 120)}")
        for choice in offered[:BUTTONS_LIMIT]
        if choice.description
    ]
    note = unasked_note(topic, started) if what == "mode" else ""
    head = row(f"{headings()[what]}: ", bold(named(offered, now) or tr("the agent's default")))
    _offer(topic, lines(head, *described, note), labels)


def named(offered: Sequence[AgentChoice], chosen: str) -> str:
    """The label of a choice, or its id when the agent does not offer it."""
    return next((told(choice.label) for choice in offered if choice.id == chosen and choice.label), chosen)


def unasked_note(topic: Topic, started: SessionStarted | None) -> str:
    """What runs unasked in the agent's own default mode. It names that mode while another one holds."""
    unasked, usual = told(topic.traits.runs_unasked), topic.traits.default_mode
    if not unasked:
        return ""
    if not usual or current_mode(topic) == usual:
        return tr("Runs without asking: {what}", what=unasked)
    label = named(started.modes, usual) if started else usual
    return tr("Runs without asking in the mode “{mode}”: {what}", mode=label, what=unasked)


def headings() -> dict[str, str]:
    return {"model": tr("Model"), "mode": tr("Mode"), "effort": tr("Effort")}


def offers(started: SessionStarted, what: str) -> Sequence[AgentChoice]:
    return {"model": started.models, "mode": started.modes, "effort": started.efforts}[what]


def current(topic: Topic, started: SessionStarted, what: str) -> str:
    binding = topic.binding
    if what == "model":
        return binding.model or (topic.started or started).model
    return current_mode(topic) if what == "mode" else binding.effort or ""


def current_mode(topic: Topic) -> str:
    """The id of the mode in which this topic works, or will: the person's choice, the agent's word, the settings'."""
    chosen = topic.binding.mode or (topic.started.mode if topic.started else "")
    backend = topic.context.backends.get(topic.binding.agent)  # None: no longer in the settings
    usual = backend.traits.default_mode if backend else ""
    return chosen or topic.context.config.agent_modes.get(topic.binding.agent, "") or usual


def _offer(topic: Topic, part: Part, labels: Sequence[tuple[str, str]]) -> None:
    with topic.context.database.transaction():
        keyboard = topic.context.buttons.keyboard(topic.place, PICK, labels)
        topic.context.say(topic.place, part, keyboard=keyboard)


# --- making it so


async def apply(topic: Topic, what: str, value: str, menu: str = "") -> None:
    """Set what was chosen by button (of the message ``menu``) or text. Raises HubError."""
    match what:
        case "menu":
            await choose(topic, value, "")
        case "agent":
            await _set_agent(topic, value, menu)
        case "cwd":
            await _set_folder(topic, value)
        case "model" | "mode" | "effort":
            await _set_offered(topic, what, value, menu)


def _refuse_in_turn(topic: Topic) -> None:
    if topic.is_busy:
        raise HubError(tr("A turn is running."), tr("Wait for its end, or /stop it first."))


async def _set_agent(topic: Topic, kind: str, menu: str) -> None:
    _refuse_in_turn(topic)
    if kind not in topic.context.backends:
        close = nearest(kind, topic.context.backends)
        known = ", ".join(close or sorted(topic.context.backends))
        raise HubError(tr("There is no agent named {agent}.", agent=kind), tr("Known: {agents}", agents=known))
    if kind == topic.binding.agent:
        topic.show_menu(plain(tr("{agent} works here already.", agent=topic.title)), (), menu)
        return
    await topic.context.backends[kind].locate()
    await topic.start_afresh(topic.binding.afresh(agent=kind))
    topic.show_menu(row("✅ ", tr("Agent: "), bold(topic.title), ". ", tr("It begins a new session.")), (), menu)


async def _set_folder(topic: Topic, wish: str) -> None:
    _refuse_in_turn(topic)
    roots = topic.context.config.roots
    await use_folder(topic, new_folder(topic, wish[1:]) if wish.startswith("+") else choose_folder(wish, roots))


def names_of(choice: AgentChoice) -> tuple[str, ...]:
    """What a person may type for a choice: its id, or its label in English or as it is shown."""
    return choice.id, choice.label, told(choice.label)


async def _set_offered(topic: Topic, what: str, value: str, menu: str) -> None:
    started = topic.offers
    offered = offers(started, what) if started else ()
    choice = next(
        (known for known in offered if value.casefold() in {name.casefold() for name in names_of(known)}), None
    )
    if choice is None and what != "model":  # models come faster than lists of them
        names = ", ".join(known.id for known in offered) or "-"
        raise HubError(tr("“{value}” is not offered.", value=value), tr("Offered: {names}", names=names))
    chosen = choice.id if choice else value
    session = topic.live.session
    if session is not None:
        setter = {"model": session.set_model, "mode": session.set_mode, "effort": session.set_effort}[what]
        await topic.call(setter(chosen))
    binding = topic.binding
    if what == "model":
        topic.rebind(replace(binding, model=chosen))
    elif what == "mode":
        topic.rebind(replace(binding, mode=chosen))
    else:
        topic.rebind(replace(binding, effort=chosen))
    topic.show_menu(row("✅ ", f"{headings()[what]}: ", bold(told(choice.label) if choice else chosen)), (), menu)
