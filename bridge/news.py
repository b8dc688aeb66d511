"""What the hub looks like from the window and the tray: frozen values, made on request, and a bell for changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.commands.status import state_line
from bridge.context import HubContext
from bridge.inbound import Place
from bridge.router import Gate, Refused
from bridge.topics.topic import Topic

Bell = Callable[[], None]
"""Rung in the event loop's thread whenever ``Hub.status`` may have changed; must be quick."""


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """One topic as a line of a list. ``busy_for`` in seconds, None while it rests; ``pid`` None: no process.

    ``touched`` is the wall clock of the last change of its binding.
    """

    place: Place
    title: str
    agent: str
    agent_title: str
    cwd: Path
    state: str
    busy_for: float | None
    pid: int | None
    waits_for_person: bool
    waiting: int
    held: int
    session_id: str = ""
    touched: float = 0.0


@dataclass(frozen=True, slots=True)
class HubStatus:
    """The whole hub at one moment."""

    is_paused: bool
    is_locked: bool
    topics: tuple[TopicSummary, ...]
    refused: int
    recent_refusals: tuple[Refused, ...]


def hub_status(context: HubContext, topics: Sequence[Topic], gate: Gate) -> HubStatus:
    """The hub as it is now."""
    return HubStatus(
        is_paused=context.is_paused,
        is_locked=context.desk.is_locked,
        topics=tuple(summary(topic) for topic in topics),
        refused=sum(gate.counts.values()),
        recent_refusals=tuple(gate.recent),
    )


def summary(topic: Topic) -> TopicSummary:
    """One topic as the window lists it."""
    binding = topic.binding
    return TopicSummary(
        place=topic.place,
        title=binding.title,
        agent=binding.agent,
        agent_title=topic.title,
        cwd=binding.cwd,
        state=state_line(topic),
        busy_for=topic.turn.display.elapsed if topic.turn else None,
        pid=topic.live.session.pid if topic.live.session else None,
        waits_for_person=topic.waits_for_person,
        waiting=len(topic.line.open) + len(topic.line.given),
        held=len(topic.line.held),
        session_id=binding.session_id or "",
        touched=binding.touched,
    )
