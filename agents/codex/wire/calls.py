"""The parameters of our calls to the app-server and the answers we read.

No ``sandbox`` at ``thread/start``: with it Codex marks the folder as trusted in the person's own configuration; given
with the turn it does not (measured on 0.171.0). A resumed thread has forgotten policy and sandbox: every turn brings
them again.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.codex.modes import Mode
from agents.codex.wire.fields import mapping, number, objects, text
from agents.contract import Prompt

SEND_FILE = "send_file"
INSTRUCTIONS = (
    "You work for a person who follows on a phone through a chat. Write short answers in Markdown. "
    f"To hand a file over, call the tool {SEND_FILE} with its path; a path in the text is no use on a phone."
)
_SEND_FILE = {
    "type": "function",
    "name": SEND_FILE,
    "description": "Send a file of the working folder to the person in the chat.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Absolute, or relative to the working folder."},
            "caption": {"type": "string", "description": "One line shown with the file."},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
}
_SANDBOXES: Mapping[str, Mapping[str, Any]] = {
    "workspaceWrite": {
        "writableRoots": [],
        "networkAccess": False,
        "excludeTmpdirEnvVar": False,
        "excludeSlashTmp": False,
    },
    "readOnly": {"networkAccess": False},
    "dangerFullAccess": {},
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How the turns of a session run. ``model`` and ``effort`` None: what Codex chooses."""

    mode: Mode
    model: str | None = None
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as Codex tells of it."""

    id: str
    path: Path | None
    cwd: Path
    name: str
    preview: str
    model: str
    effort: str
    parent: str
    version: str
    updated: datetime
    is_active: bool


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the account, with the efforts it knows."""

    id: str
    label: str
    description: str
    is_default: bool
    efforts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Terminal:
    """A command that runs on in the background."""

    item: str
    process: str
    command: str


def initialize() -> dict[str, Any]:
    return {
        "clientInfo": {"name": "agent_hub", "title": "agent-hub", "version": "1"},
        "capabilities": {"experimentalApi": True},
    }


def version_of(answer: Any) -> str:
    """The CLI's version stands after the slash of the user agent."""
    agent = text(answer if isinstance(answer, dict) else {}, "userAgent")
    return agent.partition("/")[2].split(" ")[0]


def home_of(answer: Any) -> Path:
    """Where Codex keeps its sessions."""
    return Path(text(answer if isinstance(answer, dict) else {}, "codexHome"))


def start_thread(cwd: Path, settings: Settings) -> dict[str, Any]:
    """``historyMode`` legacy: only such a history stands in one file that can be copied and forked by its path."""
    return {
        "cwd": str(cwd),
        "model": settings.model,
        "approvalPolicy": settings.mode.policy,
        "approvalsReviewer": "user",
        "developerInstructions": INSTRUCTIONS,
        "historyMode": "legacy",
        "dynamicTools": [_SEND_FILE],
    }


def resume_thread(thread: str, cwd: Path, settings: Settings) -> dict[str, Any]:
    return {
        "threadId": thread,
        "cwd": str(cwd),
        "model": settings.model,
        "approvalPolicy": settings.mode.policy,
        "approvalsReviewer": "user",
        "excludeTurns": True,
    }


def fork_thread(path: Path, cwd: Path) -> dict[str, Any]:
    """A new thread with the past of a saved file; the file itself is only read."""
    return {"threadId": "", "path": str(path), "cwd": str(cwd), "excludeTurns": True}


def settings_of(settings: Settings, model: str) -> dict[str, Any]:
    """What every turn brings, and what ``thread/settings/update`` takes. ``model`` is the thread's present one."""
    wanted: dict[str, Any] = {
        "approvalPolicy": settings.mode.policy,
        "approvalsReviewer": "user",
        "sandboxPolicy": {"type": settings.mode.sandbox, **_SANDBOXES[settings.mode.sandbox]},
    }
    if settings.model:
        wanted["model"] = settings.model
    if settings.effort:
        wanted["effort"] = settings.effort
    chosen = settings.model or model
    if chosen:
        wanted["collaborationMode"] = {
            "mode": "plan" if settings.mode.is_planning else "default",
            "settings": {"model": chosen, "reasoning_effort": settings.effort, "developer_instructions": None},
        }
    return wanted


def start_turn(thread: str, prompt: Prompt, input_id: str, settings: Settings, model: str) -> dict[str, Any]:
    return {
        "threadId": thread,
        "clientUserMessageId": input_id,
        "input": user_input(prompt),
        **settings_of(settings, model),
    }


def steer_turn(thread: str, turn: str, prompt: Prompt, input_id: str) -> dict[str, Any]:
    return {
        "threadId": thread,
        "expectedTurnId": turn,
        "clientUserMessageId": input_id,
        "input": user_input(prompt),
    }


def user_input(prompt: Prompt) -> list[dict[str, Any]]:
    """Text, then pictures. A file is named in the text: Codex' own mention of a file tells the model nothing."""
    lines = [prompt.text] if prompt.text else []
    lines += [f"Attached file: {part.path}" for part in prompt.files]
    parts: list[dict[str, Any]] = [{"type": "text", "text": "\n".join(lines)}] if lines else []
    for image in prompt.images:
        encoded = base64.b64encode(image.data).decode("ascii")
        parts.append({"type": "image", "url": f"data:{image.media_type};base64,{encoded}"})
    return parts


def read_thread(answer: Any) -> Thread:
    """The thread of an answer to start, resume, fork or read."""
    fields = answer if isinstance(answer, dict) else {}
    thread = mapping(fields, "thread") or fields
    path = text(thread, "path")
    return Thread(
        id=text(thread, "id"),
        path=Path(path) if path else None,
        cwd=Path(text(thread, "cwd") or "."),
        name=text(thread, "name"),
        preview=text(thread, "preview"),
        model=text(fields, "model") or text(thread, "model"),
        effort=text(fields, "reasoningEffort") or text(thread, "reasoningEffort"),
        parent=text(thread, "parentThreadId"),
        version=text(thread, "cliVersion"),
        updated=datetime.fromtimestamp(number(thread, "updatedAt") or 0, UTC),
        is_active=text(mapping(thread, "status"), "type") == "active",
    )


def read_threads(answer: Any) -> tuple[tuple[Thread, ...], str]:
    """One page of a list and the cursor of the next, "" at the end."""
    fields = answer if isinstance(answer, dict) else {}
    return tuple(read_thread(entry) for entry in objects(fields, "data")), text(fields, "nextCursor")


def read_turn_id(answer: Any) -> str:
    return text(mapping(answer if isinstance(answer, dict) else {}, "turn"), "id")


def needs_login(answer: Any) -> bool:
    """Of ``account/read``: no account, and the chosen provider wants one."""
    fields = answer if isinstance(answer, dict) else {}
    return fields.get("account") is None and fields.get("requiresOpenaiAuth") is True


def read_models(answer: Any) -> tuple[Model, ...]:
    """The visible models, the default one first."""
    fields = answer if isinstance(answer, dict) else {}
    models = [
        Model(
            id=text(entry, "model") or text(entry, "id"),
            label=text(entry, "displayName") or text(entry, "id"),
            description=text(entry, "description"),
            is_default=entry.get("isDefault") is True,
            efforts=tuple(
                (text(level, "reasoningEffort"), text(level, "description"))
                for level in objects(entry, "supportedReasoningEfforts")
            ),
        )
        for entry in objects(fields, "data")
        if entry.get("hidden") is not True
    ]
    return tuple(sorted(models, key=lambda model: not model.is_default))


def read_terminals(answer: Any) -> tuple[Terminal, ...]:
    fields = answer if isinstance(answer, dict) else {}
    return tuple(
        Terminal(text(entry, "itemId"), text(entry, "processId"), text(entry, "command"))
        for entry in objects(fields, "data")
    )
