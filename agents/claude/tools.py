"""What Claude Code's tools do, in words for people: kind, title, the exact subject, and the change a call would make.

Pure but for ``change_of``, which reads the file that is about to be edited. Tool names measured on 2.1.332.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from agents.claude.messages import Json
from agents.claude.wire import objects_of, text_of
from agents.contract import ToolKind

QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "ExitPlanMode"
HUB_SERVER = "hub"
SEND_FILE_TOOL = f"mcp__{HUB_SERVER}__send_file"

CHANGING_TOOLS = frozenset({"Write", "Edit", "MultiEdit"})
"""Tools whose change of a text file can be told beforehand."""

_KINDS = {
    "Bash": ToolKind.EXECUTE,
    "PowerShell": ToolKind.EXECUTE,
    "Monitor": ToolKind.EXECUTE,
    "Read": ToolKind.READ,
    "Glob": ToolKind.READ,
    "Grep": ToolKind.READ,
    "LS": ToolKind.READ,
    "NotebookRead": ToolKind.READ,
    "Write": ToolKind.EDIT,
    "Edit": ToolKind.EDIT,
    "MultiEdit": ToolKind.EDIT,
    "NotebookEdit": ToolKind.EDIT,
    "WebFetch": ToolKind.NETWORK,
    "WebSearch": ToolKind.NETWORK,
}
_SUBJECTS = {
    "Bash": "command",
    "PowerShell": "command",
    "Monitor": "command",
    "Read": "file_path",
    "Grep": "path",
    "LS": "path",
    "NotebookRead": "notebook_path",
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "WebFetch": "url",
    "WebSearch": "query",
    "Skill": "skill",
}
"""The one input that says what a call is about. By tool, so that an input too many can't stand in front of it."""
_TOLD = {"description", "content", "old_string", "new_string", "edits", "new_source"}
"""Inputs that the title or the diff already shows."""
_OTHER_TITLES = {PLAN_TOOL: "Approve the plan", QUESTION_TOOL: "Ask a question", "TodoWrite": "Update the plan"}
_MAX_DIFFED = 2 * 1024 * 1024
_MAX_DIFF = 200_000
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call in words. ``arguments`` is indented JSON, empty when ``subject`` says it all."""

    kind: ToolKind
    title: str
    subject: str
    arguments: str = ""


def plain(text: str) -> str:
    """Text without terminal escapes and control characters: titles and reasons may carry some."""
    return _ESCAPES.sub("", text)


def describe(tool: str, arguments: Json, description: str = "") -> ToolCall:
    """What this call is, from its real input and never from what the model says about it, but for the title."""
    key = _SUBJECTS.get(tool, "")
    subject = _pattern(arguments) if tool == "Glob" else text_of(arguments, key)
    kind = _KINDS.get(tool, ToolKind.OTHER)
    told = set() if kind is ToolKind.OTHER else _TOLD | {key}
    rest = {name: value for name, value in arguments.items() if name not in told}
    shown = json.dumps(rest, indent=2, ensure_ascii=False) if rest else ""
    return ToolCall(kind, plain(_title(tool, kind, subject, arguments, description)), subject, shown)


def _pattern(arguments: Json) -> str:
    """A search by name reaches where its pattern leads, which may be outside of its folder."""
    folder, pattern = text_of(arguments, "path"), text_of(arguments, "pattern")
    return str(PurePath(folder) / pattern) if folder else pattern


def _title(tool: str, kind: ToolKind, subject: str, arguments: Json, description: str) -> str:
    name = re.split(r"[\\/]", subject.rstrip("\\/"))[-1]
    said = text_of(arguments, "description") or description
    if tool in {"Glob", "Grep"}:
        return f"Search for {text_of(arguments, 'pattern')}"
    if kind is ToolKind.OTHER:
        if tool.startswith("mcp__"):
            return ": ".join(tool.removeprefix("mcp__").split("__", 1))
        return _OTHER_TITLES.get(tool) or said or tool
    return {
        ToolKind.EXECUTE: said or "Run a command",
        ToolKind.EDIT: f"{'Write' if tool == 'Write' else 'Edit'} {name}",
        ToolKind.READ: f"Read {name}",
        ToolKind.NETWORK: "Search the web" if tool == "WebSearch" else "Open a web page",
    }[kind]


def change_of(tool: str, arguments: Json, cwd: Path) -> str:
    """The unified diff that this call would make, "" when it changes no text file. Reads the file; may block."""
    name = text_of(arguments, "file_path")
    if not name or tool not in CHANGING_TOOLS:
        return ""
    before = _text_now(cwd / name)
    if tool == "Write":
        return _diff(name, before or "", text_of(arguments, "content"))
    edits = objects_of(arguments, "edits") if tool == "MultiEdit" else (arguments,)
    after = _edited(before, edits)
    if before is not None and after is not None:
        return _diff(name, before, after)
    # The file does not hold the text (any more): show what the model wants to replace by what.
    wanted = [_diff(name, text_of(edit, "old_string"), text_of(edit, "new_string")) for edit in edits]
    return "".join(wanted)[:_MAX_DIFF]


def _text_now(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_DIFFED:
            return None
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def _edited(text: str | None, edits: Iterable[Json]) -> str | None:
    for edit in edits:
        old, new = text_of(edit, "old_string"), text_of(edit, "new_string")
        if text is None or not old or old not in text:
            return None
        text = text.replace(old, new) if edit.get("replace_all") is True else text.replace(old, new, 1)
    return text


def _diff(name: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return _joined(lines)


def _joined(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return text[:_MAX_DIFF] + ("\n" if text else "")


def patch_text(path: str, hunks: Iterable[Json]) -> str:
    """A finished edit's ``structuredPatch`` as a unified diff."""
    lines: list[str] = []
    for hunk in hunks:
        counts = [hunk.get(key, 0) for key in ("oldStart", "oldLines", "newStart", "newLines")]
        lines.append("@@ -{},{} +{},{} @@".format(*counts))
        changed = hunk.get("lines")
        lines += [str(line) for line in changed] if isinstance(changed, list) else []
    return _joined([f"--- {path}", f"+++ {path}", *lines]) if lines else ""
