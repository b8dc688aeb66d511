"""/status: what goes on in a topic, and in the whole hub. Texts only."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from bridge import cards
from bridge.bindings import TopicState
from bridge.cards import duration
from bridge.commands import choices
from bridge.commands.git_branch import branch_of
from bridge.context import HubContext
from bridge.markdown.part import Part
from bridge.sheet import bold, clip, code, lines, row
from bridge.texts import tr, trn
from bridge.topics.topic import Topic


def topic_status(topic: Topic) -> Part:
    """Everything worth knowing of one topic, one fact a line."""
    binding, started = topic.binding, topic.started
    model = binding.model or (started.model if started else "")
    mode = choices.named(topic.offers.modes if topic.offers else (), choices.current_mode(topic))
    version = f" {started.version}" if started and started.version else ""
    session = topic.live.session
    heard = ""
    if session is not None:
        silent = topic.context.clock.monotonic() - session.last_heard
        heard = tr("Last word from the agent: {time} ago", time=duration(silent))
    background = len(topic.background)
    return lines(
        row(state_line(topic)),
        row(tr("Agent: "), bold(topic.title + version)),
        row(tr("Folder: "), code(str(binding.cwd)), branch_of(binding.cwd)),
        row(tr("Model: "), model or tr("the agent's default")),
        row(tr("Mode: "), mode or tr("the agent's default")),
        choices.unasked_note(topic, topic.offers),
        row(tr("Session: "), code(binding.session_id or tr("not begun"))),
        tr("Turns: {count}", count=topic.context.turns.count(topic.place)),
        row(tr("Last turn: "), cards.footer(topic.usage)) if topic.usage else "",
        quota_line(topic),
        memory_line(topic),
        trn("{count} background task runs", "{count} background tasks run", background) if background else "",
        waiting_line(topic),
        heard,
        hub_line(topic.context),
    )


def state_line(topic: Topic) -> str:
    """One line: what the topic does now."""
    if topic.context.desk.has_open_permission(topic.place):
        return "🔔 " + tr("Waits for your answer")
    if topic.turn is not None:
        return "⏳ " + tr(
            "Working for {time}: {what}",
            time=duration(topic.turn.display.elapsed),
            what=topic.turn.display.view.doing(),
        )
    if topic.live.is_opening:
        return "⏳ " + tr("Starting")
    if topic.binding.state is TopicState.LOST:
        return "🅿️ " + tr("Parked: its topic is gone")
    if topic.live.is_open:
        return "🟢 " + tr("Ready")
    return "💤 " + tr("Sleeps until the next text")


def memory_line(topic: Topic) -> str:
    """What the session's process holds in memory, without its children."""
    pid = topic.live.session.pid if topic.live.session else None
    if pid is None:
        return ""
    try:
        size = psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return ""
    shared = " " + tr("(shared with other topics)") if topic.traits.is_process_shared else ""
    return tr("Process: {count} MB", count=round(size / 2**20)) + shared


def quota_line(topic: Topic) -> str:
    if topic.quota is None:
        return ""
    return " · ".join(f"{window.name} {round(100 * window.used)} %" for window in topic.quota.windows)


def waiting_line(topic: Topic) -> str:
    waiting, held = len(topic.line.open) + len(topic.line.given), len(topic.line.held)
    pieces = []
    if waiting:
        pieces.append(trn("{count} message waits", "{count} messages wait", waiting))
    if held:
        pieces.append(trn("{count} held: /queue", "{count} held: /queue", held))
    return " · ".join(pieces)


def hub_line(context: HubContext) -> str:
    if context.is_paused:
        return "⏸ " + tr("The hub is paused: no new turns start.")
    return "" if context.may_start_turns else "🔒 " + tr("The hub is locked.")


def overview(context: HubContext, topics: Sequence[Topic]) -> Part:
    """General's /status: one line for each topic, the busy ones first."""
    if not topics:
        return lines(bold(tr("No topic is in use yet.")), tr("Make a topic and write a task, or send /new here."))
    ordered = sorted(topics, key=lambda topic: (not topic.is_busy, -topic.binding.touched))
    shown = [
        row(bold(clip(topic.binding.title or str(topic.place.topic_id), 40)), f" · {topic.title} · {state_line(topic)}")
        for topic in ordered[:40]
    ]
    more = len(ordered) - len(shown)
    return lines(hub_line(context), *shown, trn("… and {count} more", "… and {count} more", more) if more > 0 else "")


def inbox(topics: Sequence[Topic]) -> Part:
    """Who waits for a person: open requests, held texts."""
    waiting = [topic for topic in topics if topic.waits_for_person or topic.line.held]
    if not waiting:
        return lines("✅ " + tr("Nobody waits for you."))
    return lines(
        bold(tr("These wait for you:")),
        *(
            row(
                bold(clip(topic.binding.title or str(topic.place.topic_id), 40)),
                " — ",
                tr("an open request") if topic.waits_for_person else waiting_line(topic),
            )
            for topic in waiting
        ),
    )
