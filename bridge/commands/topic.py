"""The commands of a topic: begin, stop, look, and how much is shown."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from agents.contract import HubError
from bridge.commands import choices, sessions
from bridge.commands.changes import show_changes
from bridge.commands.get_file import get_file
from bridge.commands.git_branch import branch_of
from bridge.commands.parked import show_parked
from bridge.commands.readers import readers_line
from bridge.commands.status import topic_status
from bridge.commands.table import Call, CommandSpec, CommandTable, Section, Where
from bridge.config import Verbosity
from bridge.delivery import MessageClass, Outgoing
from bridge.folders import choose_folder
from bridge.markdown.part import Part
from bridge.messenger import FileUpload
from bridge.presentation import log_path
from bridge.sheet import bold, clip, code, lines, plain, row, together
from bridge.texts import mark, tr, trn
from bridge.topics import notices
from bridge.topics.topic import Topic

Run = Callable[[Topic, Call], Awaitable[None]]

QUEUE_SHOWN = 10
"""Cards of /queue: each is a message, and a group takes about twenty a minute."""

SPECS = (
    CommandSpec("new", mark("Start afresh here; in General: make a topic"), Where.BOTH, mark("[agent] [folder]")),
    CommandSpec("stop", mark("Stop the running turn; again: end its background work too"), works_locked=True),
    CommandSpec("status", mark("What goes on"), Where.BOTH, works_locked=True),
    CommandSpec("queue", mark("What waits, with buttons"), works_locked=True),
    CommandSpec("log", mark("Everything of the last turn as a file"), works_locked=True),
    CommandSpec("diff", mark("What the agent changed in the last turn"), usage="[all]", works_locked=True),
    CommandSpec("get", mark("A file of the session's folder"), usage=mark("PATH")),
    CommandSpec("parked", mark("Bring a session of a deleted topic here"), section=Section.SESSIONS),
    *sessions.SPECS,
    CommandSpec("desk", mark("Go on with this session in a terminal"), section=Section.SESSIONS),
    CommandSpec("agent", mark("Choose the agent"), usage=mark("[name]"), section=Section.CHOICES),
    CommandSpec("cwd", mark("Choose the folder"), usage=mark("[folder]"), section=Section.CHOICES),
    CommandSpec("model", mark("Choose the model"), usage=mark("[name]"), section=Section.CHOICES),
    CommandSpec("mode", mark("Choose the permission mode"), usage=mark("[name]"), section=Section.CHOICES),
    CommandSpec("effort", mark("Choose how hard the model thinks"), usage=mark("[level]"), section=Section.CHOICES),
    CommandSpec("quiet", mark("Show only the end of each turn"), section=Section.SHOWN),
    CommandSpec("normal", mark("Show a status message while a turn runs"), section=Section.SHOWN),
    CommandSpec("full", mark("Show tool output and texts on the way too"), section=Section.SHOWN),
    CommandSpec("reset", mark("Forget this session and begin a fresh one"), section=Section.SESSIONS),
    CommandSpec("inbox", mark("Who waits for me"), Where.GENERAL, works_locked=True),
    CommandSpec("stopall", mark("Stop all running turns"), Where.GENERAL, works_locked=True),
    CommandSpec("help", mark("All commands"), Where.BOTH, works_locked=True, section=Section.HUB),
)


async def run_command(topic: Topic, call: Call, table: CommandTable) -> None:
    """Run a command that belongs to the topic. Raises HubError with what to tell the person."""
    if call.command.name == "help":
        topic.context.say(topic.place, help_part(table, Where.TOPIC))
        return
    run = RUNS.get(call.command.name)
    if run is None:
        topic.context.say(topic.place, tr("/{name} works in General.", name=call.command.name))
        return
    await run(topic, call)


def help_part(table: CommandTable, where: Where) -> Part:
    if where is Where.GENERAL:
        last = tr("Texts here reach no agent: write in a topic.")
    else:
        last = tr("Any other text goes to the agent. //text sends a text that begins with a slash.")
    return together((table.help_part(where), plain(last)), "\n\n")


def parse_target(arguments: str, agents: Collection[str], roots: Sequence[Path]) -> tuple[str | None, Path | None]:
    """``[agent] [folder]``: a first word that names an agent is one, the rest is the folder. Raises FolderError."""
    first, _, rest = arguments.partition(" ")
    agent = first.lower() if first.lower() in agents else None
    wish = (rest if agent else arguments).strip()
    return agent, choose_folder(wish, roots) if wish else None


def refuse_while_busy(topic: Topic) -> None:
    """Raises HubError while a turn runs: no command but /stop ends one."""
    if topic.is_busy:
        raise HubError(tr("A turn is running."), tr("Wait for its end, or /stop it first."))


def ready_part(topic: Topic) -> Part:
    """What the next text will start."""
    binding = topic.binding
    mode = choices.named(topic.offers.modes if topic.offers else (), choices.current_mode(topic))
    facts = [
        tr("mode {mode}", mode=mode) if mode else "",
        tr("model {model}", model=binding.model) if binding.model else tr("the agent's own model"),
    ]
    return lines(
        row("🆕 ", bold(topic.title), " · ", code(str(binding.cwd)), branch_of(binding.cwd)),
        " · ".join(fact for fact in facts if fact),
        tr("Write a task, or change what it runs with."),
    )


def greet(topic: Topic) -> None:
    """The card of a topic without a past: what it will run with, and buttons to change it."""
    labels = [
        (tr("Agent"), "menu:agent"),
        (tr("Folder"), "menu:cwd"),
        (tr("Model"), "menu:model"),
        (tr("Mode"), "menu:mode"),
    ]
    with topic.context.database.transaction():
        keyboard = topic.context.buttons.keyboard(topic.place, choices.PICK, labels)
        topic.context.say(topic.place, ready_part(topic), keyboard=keyboard)


async def _new(topic: Topic, call: Call) -> None:
    refuse_while_busy(topic)
    agent, folder = parse_target(call.arguments, topic.context.backends.keys(), topic.context.config.roots)
    if agent:
        await topic.context.backend(agent).locate()
    await topic.start_afresh(topic.binding.afresh(agent=agent, cwd=folder))
    greet(topic)


class NoTerminalError(HubError):
    """The agent is no program that a person could go on with; nothing was closed."""


async def release(topic: Topic) -> tuple[tuple[str, ...], str]:
    """Close the session and give the command and folder to go on with at the desk. Raises HubError."""
    refuse_while_busy(topic)
    binding = topic.binding
    archive = topic.context.backend(binding.agent).archive
    if binding.session_id is None or archive is None:
        raise HubError(tr("There is no session to go on with."), tr("Write a task here first."))
    command = tuple(archive.resume_command(binding.session_id, binding.cwd))
    if not command:
        raise NoTerminalError(
            tr("{agent} has no terminal of its own: the session goes on only here.", agent=topic.title)
        )
    await topic.close_session(tr("The session went to the desk."))
    return command, str(binding.cwd)


async def _desk(topic: Topic, call: Call) -> None:
    del call
    try:
        command, folder = await release(topic)
    except NoTerminalError as error:
        topic.context.say(topic.place, error.title)
        return
    topic.context.say(
        topic.place,
        lines(
            bold(tr("Go on at the desk:")),
            code(typed(folder, command, is_windows=os.name == "nt")),
            tr("Close it there before you write here again, or turns get lost."),
        ),
    )


def typed(folder: str, command: Sequence[str], *, is_windows: bool) -> str:
    """What a person types in the system's own shell; on Windows two lines, which cmd and PowerShell both take."""
    if is_windows:
        return f'cd "{folder}"\n{subprocess.list2cmdline(command)}'
    return f"cd {shlex.quote(folder)} && {shlex.join(command)}"


async def _reset(topic: Topic, call: Call) -> None:
    del call
    refuse_while_busy(topic)
    await topic.start_afresh(topic.binding)
    greet(topic)


async def _stop(topic: Topic, call: Call) -> None:
    """First: interrupt. Again, or with nothing but background work: end what belongs to this session."""
    del call
    if topic.live.is_opening or (topic.turn is not None and not topic.turn.is_stopping):
        await topic.interrupt()
        return
    if topic.turn is None and topic.line.open:
        topic.hold_all()
        topic.context.say(topic.place, "⏹ " + tr("Nothing runs yet. What waits is held back."))
        notices.offer_held(topic)
        return
    count = len(topic.background)
    if await topic.stop_hard():
        ended = trn("{count} background task was ended.", "{count} background tasks were ended.", count)
        topic.context.say(topic.place, "⏹ " + (ended if count else tr("The session was ended.")))
    else:
        topic.context.say(topic.place, tr("Nothing is running here."))


async def _status(topic: Topic, call: Call) -> None:
    del call
    topic.context.say(topic.place, lines(topic_status(topic), readers_line(topic.context, topic.place.chat_id)))


async def _queue(topic: Topic, call: Call) -> None:
    del call
    waiting = [*topic.line.given, *topic.line.open]
    if not waiting and not topic.line.held:
        topic.context.say(topic.place, tr("Nothing waits here."))
        return
    for entry in topic.line.open[:QUEUE_SHOWN]:
        with topic.context.database.transaction():
            if entry.card:
                topic.context.delivery.revise(entry.card, plain(tr("See the newer message below.")))
            part = lines(bold(notices.waiting_text(topic)), clip(entry.prompt.text, 300))
            entry.card = topic.context.say(topic.place, part, keyboard=notices.waiting_keyboard(topic, entry))
    for entry in topic.line.given[:QUEUE_SHOWN]:
        topic.context.say(topic.place, lines(bold("↪ " + tr("Given to the agent")), clip(entry.prompt.text, 300)))
    more = sum(max(0, len(line) - QUEUE_SHOWN) for line in (topic.line.open, topic.line.given))
    if more:
        topic.context.say(topic.place, trn("… and {count} more", "… and {count} more", more))
    notices.offer_held(topic, is_asked=True)


async def _log(topic: Topic, call: Call) -> None:
    del call
    record = topic.context.turns.last(topic.place)
    path = log_path(topic.context.data, record.id) if record else None
    if path is None or not path.exists():
        topic.context.say(topic.place, tr("There is no turn to show yet."))
        return
    topic.context.delivery.post(
        Outgoing(topic.place, plain(tr("The whole turn")), MessageClass.REPLY, files=(FileUpload(path, "turn.md"),))
    )


def _verbosity(level: Verbosity, text: str) -> Run:
    async def run(topic: Topic, call: Call) -> None:
        del call
        topic.rebind(replace(topic.binding, verbosity=level))
        topic.context.say(topic.place, tr(text))

    return run


RUNS: dict[str, Run] = {
    "new": _new,
    "reset": _reset,
    "stop": _stop,
    "status": _status,
    "queue": _queue,
    "log": _log,
    "desk": _desk,
    **sessions.RUNS,
    "diff": show_changes,
    "get": get_file,
    "parked": show_parked,
    "agent": choices.choose_agent,
    "cwd": choices.choose_folder_of,
    "model": choices.choose_model,
    "mode": choices.choose_mode,
    "effort": choices.choose_effort,
    "quiet": _verbosity(Verbosity.QUIET, mark("From the next turn on only its end is shown.")),
    "normal": _verbosity(Verbosity.NORMAL, mark("From the next turn on a status message is shown.")),
    "full": _verbosity(
        Verbosity.FULL,
        mark("From the next turn on tool output and texts on the way are shown. What is too much is in /log."),
    ),
}
