"""/diff: what the agent's edits changed in the last turn, or since the session began."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from agents.contract import HubError
from bridge import cards
from bridge.commands.table import Call
from bridge.delivery import MessageClass, Outgoing
from bridge.messenger import FileUpload
from bridge.sheet import lines, plain
from bridge.texts import tr
from bridge.topics.topic import Topic


async def show_changes(topic: Topic, call: Call) -> None:
    """``/diff`` shows the last turn, ``/diff all`` the session as long as it has been open."""
    whole = call.arguments.lower() == "all"
    diffs = topic.changes.session if whole else topic.changes.turn
    if not diffs:
        topic.context.say(
            topic.place,
            lines(
                tr("No edit since the session was opened.")
                if whole
                else tr("No edit in the last turn. See /diff all."),
                tr("What commands changed by themselves is not counted here."),
            ),
        )
        return
    text = "\n".join(diff.rstrip() for _, diff in diffs)
    path, diff = diffs[0] if len(diffs) == 1 else ("", text)
    topic.context.say(topic.place, cards.diff_card(path, without_folder(diff, topic.binding.cwd)))
    try:
        file = await asyncio.to_thread(write_diff, topic.context.data, topic.context.new_id(), text)
    except OSError as error:
        raise HubError(tr("The file with all changes could not be written."), detail=str(error)) from error
    topic.context.delivery.post(
        Outgoing(topic.place, plain(tr("All changes")), MessageClass.REPLY, files=(FileUpload(file, "changes.diff"),))
    )


def without_folder(diff: str, folder: Path) -> str:
    """The diff with the names of files below the session's folder as a person calls them."""
    head = re.compile(rf"^((?:---|\+\+\+) (?:[ab]/)?){re.escape(str(folder))}[/\\]", re.MULTILINE)
    return head.sub(r"\1", diff)


def write_diff(data: Path, name: str, text: str) -> Path:
    folder = data / "outgoing" / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "changes.diff"
    file.write_text(text + "\n", encoding="utf-8", errors="replace")
    return file
