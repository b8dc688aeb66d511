"""The whole record of a turn as a Markdown file, written while it runs: /log hands it out, also after a crash.

Lives in the hub's data folder, never in the project. Small appends; nothing is synced to the disk.
"""

from __future__ import annotations

import logging
from pathlib import Path

from agents.contract import (
    AgentEvent,
    AssistantText,
    Plan,
    Retrying,
    Thought,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
)
from bridge.cards import duration
from bridge.presenter import retry_text

log = logging.getLogger(__name__)

OUTPUT_LIMIT = 20_000_000
"""Characters of one tool's output that are kept."""


class TurnLog:
    """Appends what happens; a disk that refuses is reported once and never stops the turn."""

    def __init__(self, path: Path, started: float) -> None:
        self.path = path
        self._started = started
        self._is_broken = False

    def begin(self, prompt: str) -> None:
        self._write(f"# Turn\n\n## Asked\n\n{prompt}\n")

    def observe(self, event: AgentEvent, now: float) -> None:
        text = entry(event)
        if text:
            self._write(f"\n*{duration(now - self._started)}* {text}\n")

    def _write(self, text: str) -> None:
        if self._is_broken:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(text)
        except OSError as error:
            self._is_broken = True
            log.warning("the log of a turn can't be written: %s", error)


def entry(event: AgentEvent) -> str:
    """One event as Markdown, "" for what the log leaves out."""
    match event:
        case AssistantText():
            text = f"**Text**\n\n{event.text}"
        case Thought():
            text = f"**Thought**\n\n{event.text}"
        case ToolStarted():
            text = f"**{event.tool}** {event.title}\n\n{fenced(event.subject)}"
        case ToolFinished():
            text = tool_entry(event)
        case Plan():
            steps = (f"- [{'x' if step.is_done else ' '}] {step.text}" for step in event.steps)
            text = "**Plan**\n\n" + "\n".join(steps)
        case Retrying():
            text = retry_text(event)
        case TurnFinished():
            text = f"**{event.outcome.value}**\n\n{event.text}"
        case TurnFailed():
            text = f"**Failed** {event.title}\n\n{event.hint}\n\n{fenced(event.detail)}"
        case _:
            text = ""
    return text


def tool_entry(event: ToolFinished) -> str:
    code = f" (exit code {event.exit_code})" if event.exit_code is not None else ""
    return f"{event.status.value}{code}\n\n{fenced(event.output[:OUTPUT_LIMIT])}{fenced(event.diff, 'diff')}"


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any inside; nothing for an empty text."""
    if not text.strip():
        return ""
    longest = max((len(run) for run in text.replace("\n", " ").split() if set(run) == {"`"}), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"
